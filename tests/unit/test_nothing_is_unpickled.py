"""Nothing of ours reads a format that can execute code."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "operator" / "weightrollout"
EXECUTES = frozenset({"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"})


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_no_module_imports_what_executes_its_input(path: Path) -> None:
    tree = ast.parse(path.read_text())
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
        )
    }
    calls = {f"{ast.unparse(node.func)}" for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert names.isdisjoint(EXECUTES)
    assert calls.isdisjoint({"eval", "exec", "torch.load", "yaml.load", "numpy.load", "np.load"})
