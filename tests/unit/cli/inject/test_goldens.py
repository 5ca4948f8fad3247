"""Whole outputs, to be read: what is in a pod after inject, and what a person is told.

A golden that is not there is written, and its test fails once: read it, then commit it.
"""

from pathlib import Path
from typing import Final

import pytest

from injecting import IMAGE
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Staging
from weightrollout.cli.inject.workloads import inject_all, take_back_all

GOLDENS: Final = Path(__file__).parent / "goldens"
CASES: Final = {
    "deployment": Options(IMAGE, checkpoint_bytes=16 << 30, folder="/models/chat/step-1200"),
    "stateful-set-in-memory": Options(
        IMAGE, staging=Staging.MEMORY, checkpoint_bytes=1_503_264_768, gate=True
    ),
    "list-of-many-kinds": Options(IMAGE, name="chat"),
    "engine-on-loopback": Options(
        IMAGE,
        agent_args=("--engine-api-key-file=/keys/engine",),
        agent_mounts=(("keys", "/keys"),),
    ),
    "behind-the-guard": Options(
        IMAGE,
        checkpoint_bytes=16 << 30,
        folder="/models/chat/step-1200",
        protocol=EngineProtocol.HTTP,
        engine_token=("engines", "token"),
        trusted_root=("sigstore", "trusted_root.json"),
    ),
    "behind-dynamos-sidecar": Options(
        IMAGE,
        checkpoint_bytes=16 << 30,
        folder="/models/chat/step-1200",
        protocol=EngineProtocol.DYNAMO,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_output_and_report_are_the_golden_ones(case: str) -> None:
    before = documents.read((GOLDENS / f"{case}.in.yaml").read_text())
    result = inject_all(before, CASES[case])
    said = [line for report in result.reports for line in report.lines()]

    assert documents.write(result.objects) == _golden(
        f"{case}.out.yaml", documents.write(result.objects)
    )
    assert "\n".join(said) + "\n" == _golden(f"{case}.said.txt", "\n".join(said) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_the_golden_output_leads_back_to_its_input(case: str) -> None:
    after = documents.read((GOLDENS / f"{case}.out.yaml").read_text())
    before = documents.read((GOLDENS / f"{case}.in.yaml").read_text())
    assert take_back_all(after).objects == before


def _golden(name: str, found: str) -> str:
    path = GOLDENS / name
    if not path.exists():
        path.write_text(found)
        pytest.fail(f"{path} was not there and is written now: read it, then commit it")
    return path.read_text()
