"""Command: `python -m bench.swap.stream PORT MODEL TOKENS OUT` streams one answer and appends the time of each token to OUT.

A process of its own, so that what the bench does is not seen in it. Seconds of the monotonic clock, one line each.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from pathlib import Path

#: Some 30 tokens of a byte-level tokenizer, so that there is something to recompute.
PROMPT = "The quick brown fox jumps over"


def main(port: int, model: str, tokens: int, out: Path) -> None:
    """Until the answer or the engine ends."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = {"model": model, "prompt": PROMPT, "max_tokens": tokens, "temperature": 0}
    body |= {"ignore_eos": True, "stream": True}
    connection.request(
        "POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"}
    )
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"{answer.status} {answer.read(600)!r}")
    with out.open("a", buffering=1) as file:
        while line := answer.readline():
            if line.startswith(b"data: {"):
                file.write(f"{time.monotonic():.6f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
