"""Starting is cheap: modules that are slow to import load only when needed."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import fourhop

SLOW = ("jinja2", "matplotlib", "numpy", "pandas", "polars", "rich", "scipy")


@pytest.mark.parametrize(
    "statement", ["import fourhop", "import fourhop; fourhop.Scenario; fourhop.run", "import fourhop.cli"]
)
def test_nothing_slow_is_imported(statement: str) -> None:
    show = f"{statement}; import sys; print(*(name for name in {SLOW!r} if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_every_public_name_is_there() -> None:
    for name in fourhop.__all__:
        assert getattr(fourhop, name).__doc__
    assert fourhop.__version__.count(".") == 2
    assert set(fourhop.__all__) <= set(dir(fourhop))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fourhop.nothing


def test_no_modules_import_each_other_in_a_circle() -> None:
    package = Path(fourhop.__file__).parent
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
    }
    edges: dict[str, set[str]] = {}
    for module, path in modules.items():
        # Imports for type checking and inside functions count, too.
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        named = {(str(node.module), f"{node.module}.{name.name}") for node in nodes for name in node.names}
        found = {inner if inner in modules else outer for outer, inner in named}
        # Callers that import the package by name have it already; its own imports are lazy.
        edges[module] = (found & modules.keys()) - {"fourhop"} if module != "fourhop" else set()
    assert len(modules) > 50
    assert edges["fourhop.runner"] >= {"fourhop.result", "fourhop.sweeps.loop"}
    graphlib.TopologicalSorter(edges).prepare()
