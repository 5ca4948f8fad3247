"""The agent's memory limit is set for its engine's sake: no object is so large that reading it takes more."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from objectstore.server import S3Server

MIB: Final = 1 << 20
OBJECT_BYTES: Final = 320 * MIB
#: What docs/sources.md says, for one file that is read.
MOST_BYTES: Final = 128 * MIB

READER: Final = """
import hashlib, json, sys
from weightrollout.weights import digest, sources

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(each for each in lines if each.startswith("VmHWM")).split()[1]) << 10

source = sources.opened(sys.argv[1], sources.never)
source.stamps()
before = resident()
with source.open("model.safetensors") as file:
    found = digest.sha256_from(file)
source.close()
print(json.dumps([found, resident() - before]))
"""


@pytest.mark.slow
def test_object_of_many_ranges_is_read_with_few_of_them_in_memory(
    s3: S3Server, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    block = os.urandom(MIB)
    hasher = hashlib.sha256()
    with (folder / "model.safetensors").open("wb") as file:
        for _ in range(OBJECT_BYTES // MIB):
            file.write(block)
            hasher.update(block)
    bucket = s3.bucket()
    s3.upload(folder, bucket, "large")
    done = subprocess.run(
        [sys.executable, "-c", READER, f"s3://{bucket}/large/"],
        env={**os.environ, **s3.environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found, grown = json.loads(done.stdout)
    assert found == hasher.hexdigest()
    assert grown < MOST_BYTES
