"""Flags that say how the engine is reached, and the log that says why it is not."""

from pathlib import Path

import pytest

from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.settings import BadFlag, Settings, check, parse
from weightrollout.clock import SystemClock
from weightrollout.engine.tls import TlsFiles
from weightrollout.engine.vllm_grpc import VllmGrpc


def settings(tmp_path: Path, *flags: str) -> Settings:
    return parse([f"--staging={tmp_path}", f"--handover={tmp_path}", *flags])


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--engine-certificate=a",), "--engine-certificate and --engine-key: give both"),
        (("--engine-key=a", "--engine-ca=c"), "--engine-certificate and --engine-key: give both"),
        (("--engine-certificate=a", "--engine-key=b"), "--engine-ca: needed for TLS"),
        (("--engine-http=https://127.0.0.1:8000",), "--engine-ca: needed for TLS"),
        (("--engine-ca=c",), "--engine-http http://127.0.0.1:8000: must be https://"),
    ],
)
def test_flags_that_can_not_be_meant_are_refused(
    tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    with pytest.raises(BadFlag, match=words):
        check(settings(tmp_path, *flags))


def test_flags_reach_the_adapters(tmp_path: Path) -> None:
    given = settings(
        tmp_path,
        "--engine-http=https://127.0.0.1:8000",
        *("--engine-ca=ca", "--engine-certificate=crt", "--engine-key=key"),
        *("--engine-server-name=chat", "--engine-api-key-file=api-key"),
    )
    check(given)
    assert given.engine.tls == TlsFiles(Path("ca"), Path("crt"), Path("key"), "chat")
    assert given.engine.api_key == Path("api-key")


def test_without_flags_there_is_no_tls(tmp_path: Path) -> None:
    given = settings(tmp_path)
    check(given)
    assert given.engine == EngineAccess()
    assert given.engine.tls is None


async def test_why_the_engine_is_not_reached_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = VllmGrpc("127.0.0.1:1")
    watch = EngineWatch(
        engine, tmp_path, SystemClock(), in_transaction=lambda: False, changed=lambda: None
    )
    for _ in range(2):
        await watch.ask()
    [told] = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert "127.0.0.1:1: does not accept connections" in told
    await engine.close()
