"""Put plugins on an engine's PYTHONPATH as folders with their dist-info, which is one of the two ways in which users install ours.

In: packages and entry points. Out: one folder that holds links to the packages and a generated dist-info beside each. The
engine's own environment stays as it was built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent.parent
GROUP: Final = "vllm.general_plugins"
PRODUCT: Final = TESTS.parent / "operator" / "weightrollout"


@dataclass(frozen=True)
class Plugin:
    """A distribution with one entry point that vLLM calls in each of its processes."""

    name: str
    package: Path
    entry: str  # module:function
    version: str = "0.1.0"


OURS: Final = Plugin("weightrollout", PRODUCT, "weightrollout.plugin:register")
#: vLLM's own reload behind backends of its own; see `stockreload`.
STOCK: Final = Plugin("stockreload", TESTS / "realvllm" / "stockreload", "stockreload:register")
#: Weights as a GPU has them, where it is asked for; see `plainengine`.
PLAIN: Final = Plugin("plainengine", TESTS / "realvllm" / "plainengine", "plainengine:register")
#: Steps that take a while, where it is asked for; see `paced`.
PACED: Final = Plugin("paced", TESTS / "realvllm" / "paced", "paced:register")
#: Stops where a test wants to kill somebody; see `halting`.
HALTING: Final = Plugin("halting", TESTS / "realvllm" / "halting", "halting:register")
#: Ours with a choice of path and a clock; see `measured`.
MEASURED: Final = Plugin("measured", TESTS / "realvllm" / "measured", "measured:register")


def ours_exists() -> bool:
    """Whether this checkout has the product's plugin."""
    return (PRODUCT / "plugin").is_dir()


def installed() -> tuple[Plugin, ...]:
    """What an engine of these tests loads: vLLM's own reload, plain weights, slow steps and halts on demand, and ours."""
    return (
        (STOCK, PLAIN, PACED, HALTING, OURS, MEASURED) if ours_exists() else (STOCK, PLAIN, PACED)
    )


def write_folder(target: Path, plugins: Sequence[Plugin]) -> Path:
    """Make `target` a folder for PYTHONPATH and return it. A second call finds the same content."""
    target.mkdir(parents=True, exist_ok=True)
    for plugin in plugins:
        link = target / plugin.package.name
        if not link.is_symlink():
            link.symlink_to(plugin.package, target_is_directory=True)
        info = target / f"{plugin.name}-{plugin.version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {plugin.name}\nVersion: {plugin.version}\n"
        )
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{plugin.name} = {plugin.entry}\n")
    return target
