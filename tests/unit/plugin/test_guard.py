"""Who may ask vLLM's Python frontend for what; and which weights the answers say they came from."""

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weightrollout.plugin import guard as guarding
from weightrollout.plugin.guard import HEADER, TOKEN_FILE, Guard, is_public

TOKEN = "a token of thirty-two characters"
OPERATOR = Path(guarding.__file__).parents[2]


def paths(text: str) -> list[str]:
    return text.split()


#: What vLLM 0.32 opens beside its serving API, in development mode and by flags.
CLOSED = paths(
    """/abort_requests /collective_rpc /fault_tolerance/apply /fault_tolerance/status /finish_weight_update
/get_world_size /init_weight_transfer_engine /is_paused /is_scaling_elastic_ep /is_sleeping /kv_event_sources /pause
/release_kv_cache_memory /reset_encoder_cache /reset_mm_cache /reset_prefix_cache /resume /scale_elastic_ep
/server_info /shutdown_weight_transfer_engine /sleep /start_draft_weight_update /start_profile /start_weight_update
/stop_profile /tokenizer_info /update_weight_version /update_weights /v1/load_lora_adapter /v1/unload_lora_adapter
/wake_up /weight_checker /weight_info /docs /openapi.json /static/x"""
)
OPEN = paths(
    """/classify /cohere/v2/chat /cohere/v2/chat/render /detokenize /generative_scoring /health
/inference/v1/generate /invocations /load /metrics /ping /pooling /rerank /score /tokenize /v1/audio/transcriptions
/v1/chat/completions /v1/completions /v1/embeddings /v1/messages /v1/models /v1/realtime /v1/responses
/v1/responses/7/cancel /v2/embed /v2/rerank /version"""
)


@dataclass
class Frontend:
    """What stands behind the guard: it answers everything, in parts, and lets a test in between."""

    status: int = 200
    heard: list[tuple[str, str, bytes]] = field(default_factory=list)
    before_first_byte: Callable[[], Any] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive()).get("body", b"")
        self.heard.append((scope.get("method", scope["type"]), scope["path"], body))
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        if scope["path"].startswith("/v1/") and self.before_first_byte is not None:
            done = self.before_first_byte()
            if done is not None:
                await done
        await send({"type": "http.response.body", "body": b"{}", "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@dataclass
class Reply:
    status: int
    version: str | None
    said: bytes


@dataclass
class Asked:
    guard: Guard
    frontend: Frontend
    processes: int = 1

    async def call(
        self,
        path: str,
        *,
        method: str = "POST",
        token: str | None = TOKEN,
        body: Any = None,
        query: str = "",
        root: str = "",
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> Reply:
        sent: list[Any] = []
        shown = () if token is None else ((b"Authorization", f"Bearer {token}".encode()),)
        config = SimpleNamespace(parallel_config=SimpleNamespace(_api_process_count=self.processes))
        scope = {
            **{"type": "http", "method": method, "path": root + path, "root_path": root},
            **{"query_string": query.encode(), "headers": [*shown, *headers]},
            "app": SimpleNamespace(state=SimpleNamespace(vllm_config=config)),
        }

        async def receive() -> dict[str, Any]:
            raw = b"" if body is None else json.dumps(body).encode()
            return {"type": "http.request", "body": raw}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.guard(scope, receive, send)
        start, *rest = sent
        found = [value for name, value in start["headers"] if name == HEADER]
        version = found[0].decode() if found else None
        return Reply(start["status"], version, b"".join(each["body"] for each in rest))

    async def named(self) -> str | None:
        """By a whole answer."""
        return (await self.call("/v1/completions", token=None)).version


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    monkeypatch.setenv(TOKEN_FILE, str(file))
    return file


@pytest.fixture
def asked(token_file: Path) -> Asked:
    frontend = Frontend()
    return Asked(Guard(frontend), frontend)


@pytest.mark.parametrize("path", CLOSED)
async def test_neighbour_without_the_token_is_refused_before_anything_happens(
    asked: Asked, path: str
) -> None:
    for method in ("GET", "POST", "OPTIONS", "PUT"):
        for token in (None, "", "another token of some length"):
            assert (await asked.call(path, method=method, token=token)).status == 401
    assert asked.frontend.heard == []
    assert (await asked.call(path)).status == 200


@pytest.mark.parametrize("path", OPEN)
async def test_serving_api_is_for_everybody(asked: Asked, path: str) -> None:
    assert (await asked.call(path, token=None)).status == 200


@pytest.mark.parametrize(
    "path", ["/v1", "/v10/x", "/v1x", "/inferences/x", "", "/", "//v1/x", "/anything/of/0.40"]
)
def test_what_nobody_knows_is_closed(path: str) -> None:
    assert not is_public(path)


async def test_prefix_of_a_proxy_opens_nothing(asked: Asked) -> None:
    """With --root-path /v1 a call of /v1/pause is routed to /pause."""
    assert (await asked.call("/pause", root="/v1", token=None)).status == 401
    assert (await asked.call("/v1/models", root="/chat", token=None)).status == 200


async def test_token_rotates_and_without_one_nobody_gets_there(
    asked: Asked, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token_file.write_text("another token of some length")
    assert (await asked.call("/pause")).status == 401
    assert (await asked.call("/pause", token="another token of some length")).status == 200
    token_file.write_text("short")
    assert (await asked.call("/pause", token="short")).status == 403
    token_file.unlink()
    assert (await asked.call("/pause", token="")).status == 403
    monkeypatch.delenv(TOKEN_FILE)
    refused = await asked.call("/pause")
    assert refused.status == 403
    assert TOKEN_FILE.encode() in refused.said
    assert (await asked.call("/v1/models", token=None)).status == 200


async def test_two_authorizations_are_none(asked: Asked) -> None:
    second = ((b"authorization", b"Bearer another"),)
    assert (await asked.call("/pause", headers=second)).status == 401


async def test_websocket_beside_the_serving_api_is_closed(asked: Asked) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/collective_rpc", "headers": []}
    await asked.guard(scope, asyncio.Event().wait, send)  # type: ignore[arg-type]
    assert [each["type"] for each in sent] == ["websocket.close"]
    assert asked.frontend.heard == []


# Which weights answer.


async def swap(asked: Asked, version: str | None) -> None:
    await asked.call("/pause", query="mode=keep")
    await asked.call("/start_weight_update")
    await asked.call("/update_weights", body={"update_info": {}})
    await asked.call("/finish_weight_update", body={"weight_version": version})
    await asked.call("/resume")


async def test_answer_names_what_was_committed_last(asked: Asked) -> None:
    assert await asked.named() == "default"
    await swap(asked, "7")
    assert await asked.named() == "7"
    await asked.call("/update_weight_version", body={"new_version": "8"})
    assert await asked.named() == "8"


async def test_answer_that_a_swap_fell_into_names_both(asked: Asked) -> None:
    """Under Keep: its beginning is of the old weights, its rest of the new."""
    asked.frontend.before_first_byte = lambda: swap(asked, "7")
    assert await asked.named() == "default, 7"


async def test_nothing_is_named_from_the_first_change_until_a_version_is_given(
    asked: Asked,
) -> None:
    await asked.call("/pause")
    assert await asked.named() == "default"
    await asked.call("/start_weight_update")
    assert await asked.named() is None
    await asked.call("/update_weights", body={"update_info": {}})
    await asked.call("/finish_weight_update")
    assert await asked.named() is None, "its weights are other ones, and nobody gave them a name"
    await asked.call("/update_weight_version", body={"new_version": "7"})
    assert await asked.named() == "7"


@pytest.mark.parametrize(
    ("path", "query"),
    [("/collective_rpc", ""), ("/weight_checker", ""), ("/sleep", "level=2"), ("/of/0.40", "")],
)
async def test_call_that_may_do_anything_to_the_weights_ends_what_is_known(
    asked: Asked, path: str, query: str
) -> None:
    await asked.call(path, query=query)
    assert await asked.named() is None
    await swap(asked, "7")
    assert await asked.named() == "7"


@pytest.mark.parametrize("path", ["/finish_weight_update", "/update_weight_version"])
async def test_call_that_failed_may_have_changed_something(asked: Asked, path: str) -> None:
    asked.frontend.status = 500
    await asked.call(path, body={"weight_version": "7", "new_version": "7"})
    asked.frontend.status = 200
    assert await asked.named() is None


async def test_draft_and_questions_leave_the_name_as_it_is(asked: Asked) -> None:
    await swap(asked, "7")
    await asked.call("/start_draft_weight_update")
    await asked.call("/update_weights", body={"update_info": {}})
    assert await asked.named() == "7"
    await asked.call("/finish_weight_update")
    await asked.call("/is_paused", method="GET")
    await asked.call("/reset_prefix_cache")
    await asked.call("/sleep")
    assert await asked.named() == "7"


async def test_refused_call_changes_no_name(asked: Asked) -> None:
    await asked.call("/update_weight_version", token=None, body={"new_version": "evil"})
    assert await asked.named() == "default"


async def test_several_frontend_processes_name_nothing(asked: Asked) -> None:
    asked.processes = 2
    assert await asked.named() is None


@pytest.mark.parametrize("version", ["a\nb: c", "ä", "a, b", ""])
async def test_version_that_can_not_stand_in_a_header_is_not_named(
    asked: Asked, version: str
) -> None:
    await swap(asked, version)
    assert await asked.named() is None


async def test_failed_answers_and_reads_are_not_named(asked: Asked) -> None:
    assert (await asked.call("/v1/models", method="GET")).version is None
    asked.frontend.status = 503
    assert await asked.named() is None


def test_guard_is_loaded_without_torch_or_vllm_or_anything_of_ours_but_the_token() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(OPERATOR)!r}); import weightrollout.plugin.guard;"
        " print(sorted(sys.modules))"
    )
    bare = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(bare, capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in ast.literal_eval(done.stdout)}
    assert loaded - {"weightrollout", "__main__"} <= set(sys.stdlib_module_names)
