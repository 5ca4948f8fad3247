"""A toy server to run in pods: `python -m localcluster.toy --bind IP --port N [--name X] [--ready FILE] [--trace FILE]`.

GET /ready answers 200 while FILE exists (always, without --ready), GET /exit ends the process with code 7, anything else is 200.
Start, requests other than probes' and SIGTERM are appended to the trace as lines `<name> start`, `<name> GET /x`, `<name> term`.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--name", default="toy")
    parser.add_argument("--ready", type=Path)
    parser.add_argument("--trace", type=Path)
    told = parser.parse_args()

    def trace(what: str) -> None:
        if told.trace is not None:
            with told.trace.open("a") as out:
                out.write(f"{told.name} {what}\n")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.headers.get("User-Agent", "").startswith("kube-probe"):
                trace(f"GET {self.path}")
            if self.path == "/exit":
                os._exit(7)
            ready = self.path != "/ready" or told.ready is None or told.ready.exists()
            self.send_response(200 if ready else 503)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the trace tells."""

    def end(*_: object) -> None:
        trace("term")
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    server = ThreadingHTTPServer((told.bind, told.port), Handler)
    trace("start")
    server.serve_forever()


if __name__ == "__main__":
    main()
