"""`Inference` over the engine's OpenAI routes and its Prometheus page."""

import asyncio
import json
import math
import re
from pathlib import Path
from typing import Any, Final

from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.engine.http_calls import HttpCalls, Reply, nonsense
from weightrollout.engine.protocol import AnswerToken, EngineLoad
from weightrollout.engine.tls import TlsFiles

RUNNING: Final = "vllm:num_requests_running"
COMPLETIONS: Final = "/v1/completions"
#: How an engine that was asked for them spells a token's id where its text would stand.
TOKEN_ID: Final = "token_id:"
MAX_TOKEN_ID: Final = (1 << 31) - 1
WAITING: Final = "vllm:num_requests_waiting"
_SAMPLE: Final = re.compile(r"^(?P<name>[\w:]+)(?:\{.*\})?\s+(?P<value>\S+)", re.MULTILINE)


class VllmHttp:
    """One engine at `base_url`, such as http://127.0.0.1:8000. Used inside one event loop.

    `tls` is for https. `api_key` is the file with the key of `vllm serve --api-key`, which guards
    the OpenAI routes and no other; it is read for every request, so that it can rotate.
    """

    def __init__(
        self, base_url: str, tls: TlsFiles | None = None, api_key: Path | None = None
    ) -> None:
        self._calls = HttpCalls(base_url, tls, api_key)
        self._model: str | None = None  # the name it serves; asked once

    async def load(self, *, deadline_s: float) -> EngineLoad:
        text = (await self._ask("GET", "/metrics", None, deadline_s)).text
        return EngineLoad(running=total(text, RUNNING), waiting=total(text, WAITING))

    async def complete(self, prompt: str, *, max_tokens: int, deadline_s: float) -> str:
        body = {"prompt": prompt, "max_tokens": max_tokens}
        text = (await self._choice(body, deadline_s)).get("text")
        if not isinstance(text, str):
            raise nonsense(self._calls.base_url + COMPLETIONS)
        return text.encode(errors="replace").decode()  # JSON can spell half a character

    async def complete_tokens(
        self, prompt: str, *, max_tokens: int, top: int, deadline_s: float
    ) -> tuple[AnswerToken, ...]:
        # Ids, because byte-level tokens are not unique as text.
        body = {
            **{"prompt": prompt, "max_tokens": max_tokens, "logprobs": max(1, top)},
            "return_tokens_as_token_ids": True,
        }
        choice = await self._choice(body, deadline_s)
        try:
            return answer_tokens(choice["logprobs"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise nonsense(self._calls.base_url + COMPLETIONS) from error

    async def _choice(self, asked: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        """The greedy answer. Raises EngineError also where it was cut short."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + deadline_s
        model = await self._model_name(deadline_s)
        body = {"model": model, "temperature": 0, **asked}
        left_s = max(0.001, ends - loop.time())  # aiohttp takes 0 for no deadline
        reply = (await self._ask("POST", COMPLETIONS, body, left_s)).json()
        try:
            choice: dict[str, Any] = reply["choices"][0]
            finish = choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError) as error:
            raise nonsense(self._calls.base_url + COMPLETIONS) from error
        if finish == "abort":
            raise EngineStateUnknown(
                "CompletionAborted", f"{self._calls.base_url} paused or stopped during the prompt"
            )
        return choice

    async def close(self) -> None:
        await self._calls.close()

    async def _model_name(self, deadline_s: float) -> str:
        if self._model is None:
            reply = (await self._ask("GET", "/v1/models", None, deadline_s)).json()
            try:
                self._model = str(reply["data"][0]["id"])
            except (LookupError, TypeError) as error:
                raise nonsense(f"{self._calls.base_url}/v1/models") from error
        return self._model

    async def _ask(self, method: str, path: str, body: Any, deadline_s: float) -> Reply:
        sent = None if body is None else json.dumps(body).encode()
        reply = await self._calls.ask(method, path, deadline_s=deadline_s, body=sent)
        _check(reply)
        return reply


def _check(reply: Reply) -> None:
    status, message = reply.status, reply.words
    if status == 200:
        return
    if status == 503:  # paused (0.33), or ending: rejected before it was begun
        raise EngineRefused("ServiceUnavailable", message)
    if status == 401:
        raise EngineRefused("ApiKeyRefused", f"{message} (--engine-api-key-file)")
    if 400 <= status < 500:
        raise EngineRefused("BadRequest", message)
    raise EngineStateUnknown("ServerError", message)


def answer_tokens(logprobs: Any) -> tuple[AnswerToken, ...]:
    """Of a choice's `logprobs` asked for with ids. Raises LookupError, TypeError, ValueError,
    AttributeError: not of that form."""
    tokens, tops = logprobs["tokens"], logprobs["top_logprobs"]
    return tuple(
        AnswerToken(_token_id(token), {_token_id(each): float(top[each]) for each in top or {}})
        for token, top in zip(tokens, tops, strict=True)
    )


def _token_id(said: str) -> int:
    number = int(said.removeprefix(TOKEN_ID))
    if not said.startswith(TOKEN_ID) or not 0 <= number <= MAX_TOKEN_ID:
        raise ValueError(f"no token id: {said[:40]!r}")
    return number


def total(metrics: str, name: str) -> int:
    """Sum of a gauge over its label sets (one per engine core). EngineRefused where it is absent."""
    values = [sample["value"] for sample in _SAMPLE.finditer(metrics) if sample["name"] == name]
    if not values:
        raise EngineRefused("MetricMissing", f"/metrics has no {name}: is this a vLLM?")
    return sum(_count(value, name) for value in values)


def _count(said: str, name: str) -> int:
    """Of requests. Raises EngineRefused: half a request, or less than none, must not pass for none."""
    try:
        value = float(said)
    except ValueError:
        value = math.nan
    if not value.is_integer() or value < 0:
        raise EngineRefused("MetricUnreadable", f"/metrics has no number for {name}: {said[:40]!r}")
    return int(value)
