"""The agent's memory limit is set for its engine's sake: no object is so large that reading it takes more."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import checkpoints
from objectstore.server import S3Server
from weightrollout.weights import digest
from weightrollout.weights.image import BUFFERS_BYTES

MIB: Final = 1 << 20
OBJECT_BYTES: Final = 2 * 256 * MIB

#: Stages in a process of its own, and says how far the memory that belongs to no file grew.
STAGER: Final = """
import json, sys, threading
from pathlib import Path
from reports import report_of
from weightrollout.weights.staging import Store

def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(each for each in lines if each.startswith("RssAnon")).split()[1]) << 10

folder, uri, root = sys.argv[1:]
report, store, most, ended = report_of(Path(folder)), Store(Path(root)), 0, threading.Event()
before = anonymous()

def look():
    global most
    while not ended.wait(0.005):
        most = max(most, anonymous())

watcher = threading.Thread(target=look)
watcher.start()
index = store.stage(uri, digest=None, reports=[report], progress=lambda _: None, cancelled=lambda: False)
ended.set()
watcher.join()
print(json.dumps([index.digest, most - before]))
"""


@pytest.mark.slow
def test_objects_of_many_ranges_are_staged_with_few_of_them_in_memory(
    s3: S3Server, tmp_path: Path
) -> None:
    folder = checkpoints.write_checkpoint(
        tmp_path / "model",
        seed=1,
        tensors={f"weight.{number}": ("BF16", (OBJECT_BYTES // 32,)) for number in range(16)},
        files=2,
    )
    bucket = s3.bucket()
    s3.upload(folder, bucket, "large")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            STAGER,
            str(folder),
            f"s3://{bucket}/large/",
            str(tmp_path / "root"),
        ],
        env={**os.environ, **s3.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found, grown = json.loads(done.stdout)
    assert found == digest.digest_of(folder, threads=2)
    assert grown < BUFFERS_BYTES
