"""Generate the stubs in operator/weightrollout/wire from proto/.

    python proto/generate.py           write them
    python proto/generate.py --check   fail when they differ from what is committed

The files are compiled under their package path (weightrollout/wire/...), so that the stubs import
each other where they lie and never collide with a `vllm` package in the same process.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIRE = ROOT / "operator" / "weightrollout" / "wire"
SOURCES = {
    "vllm/control.proto": "weightrollout/wire/vllm/control.proto",
    "weightrollout/agent/v1/agent.proto": "weightrollout/wire/agent/agent.proto",
}
PROMISE = '"""GENERATED from proto/ by proto/generate.py; never edited by hand."""\n'


def generate(into: Path) -> None:
    """Write the whole package `weightrollout/wire` below `into`."""
    with tempfile.TemporaryDirectory() as folder:
        include = Path(folder)
        for source, place in SOURCES.items():
            (include / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "proto" / source, include / place)
        agent = [place for place in SOURCES.values() if "/agent/" in place]
        run = [sys.executable, "-m", "grpc_tools.protoc", f"-I{include}"]
        out = str(into)
        subprocess.run(
            [*run, f"--python_out={out}", f"--mypy_out=quiet:{out}", *SOURCES.values()], check=True
        )
        # The engine's service name is a setting, so only the agent gets a service stub.
        subprocess.run(
            [*run, f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}", *agent], check=True
        )
    package = into / "weightrollout" / "wire"
    for folder_ in (package, package / "vllm", package / "agent"):
        (folder_ / "__init__.py").write_text(PROMISE)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.py*"))
        if "__pycache__" not in path.parts
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = Path(folder) / "weightrollout" / "wire"
        if "--check" in sys.argv[1:]:
            if snapshot(fresh) == snapshot(WIRE):
                return 0
            print("operator/weightrollout/wire differs from proto/: run 'make generate'")
            return 1
        shutil.rmtree(WIRE, ignore_errors=True)
        shutil.copytree(fresh, WIRE)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
