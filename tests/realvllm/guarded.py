"""The set-up Guarded: vLLM's Python frontend in development mode, behind the product's middleware."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from realvllm.launch import Frontend, Launch
from weightrollout.plugin.guard import TOKEN_FILE

MIDDLEWARE: Final = "weightrollout.plugin.guard.Guard"
_TOKEN: Final = "a token of thirty-two characters"


def guarded(launch: Launch, token: Path) -> Launch:
    """`token` is written."""
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text(f"{_TOKEN}\n")
    return replace(
        launch,
        frontend=Frontend.PYTHON,
        flags=(*launch.flags, "--middleware", MIDDLEWARE),
        environment={**launch.environment, TOKEN_FILE: str(token)},
    )
