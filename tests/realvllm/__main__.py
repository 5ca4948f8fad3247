"""Command: build the virtual environment with vLLM into the cache and print its Python."""

from __future__ import annotations

from realvllm import venv

if __name__ == "__main__":
    print(venv.python())
