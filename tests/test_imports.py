"""Modules that a command loads: short commands must not wait for libraries that they do not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHAIN

LARGE = {"IPython", "jinja2", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "pydantic", "rich", "scipy"}

# Runs a command as `fourhop` does, and lists the loaded modules at the end of stderr.
LOADED = """
import json, sys
from fourhop.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(folder: Path, *words: str) -> set[str]:
    command = [sys.executable, "-c", LOADED, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("command", "used"),
    [
        ("--help", set()),
        ("--version", set()),
        ("run --help", set()),
        ("check chain.toml", set()),
        ("list", set()),
        ("schema", set()),
        ("run chain.toml", {"rich"}),
        ("run chain.toml --runs 3", {"rich"}),
        ("run chain.toml --json", set()),
    ],
)
def test_a_command_loads_only_the_libraries_it_uses(tmp_path: Path, command: str, used: set[str]) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    roots = {name.partition(".")[0] for name in loaded(tmp_path, *command.split())}
    assert roots & LARGE == used


# Each takes milliseconds, alone or through its imports; click and pathlib load the others that there are.
SLOW = {"concurrent", "decimal", "difflib", "random", "shutil", "tempfile", "tomllib"}


@pytest.mark.parametrize("command", ["check chain.toml", "run chain.toml --json"])
def test_a_command_loads_few_standard_modules(tmp_path: Path, command: str) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    assert loaded(tmp_path, *command.split()) & SLOW == set()


def test_a_command_loads_no_other_command(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    modules = loaded(tmp_path, "run", "chain.toml", "--json")
    commands = {name for name in modules if name.startswith("fourhop.cli.")}
    assert commands == {
        f"fourhop.cli.{name}" for name in ("commands", "common", "display", "options", "run", "tracing")
    }
    assert "fourhop.trace" not in modules, "nothing is traced"


def test_the_list_of_large_libraries_is_that_of_the_requirements(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    # Checks that the tests above look for names that some command loads.
    roots = {name.partition(".")[0] for name in loaded(tmp_path, "draw", "chain.toml")}
    assert {"matplotlib", "numpy"} <= roots & LARGE
    roots = {name.partition(".")[0] for name in loaded(tmp_path, "run", "chain.toml", "--csv")}
    assert "polars" in roots & LARGE
    roots |= {name.partition(".")[0] for name in loaded(tmp_path, "compare", "chain.toml", "--vary", "tcp.window=1,2")}
    assert roots >= SLOW
