"""The wheel lists exactly the crates that are linked."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from tests.conftest import ROOT

NAME = "LICENSE-DEPENDENCIES"


def test_the_licences_of_linked_parts_are_listed() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "licences.py")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == (ROOT / NAME).read_text(encoding="utf-8"), f"{NAME} is not up to date: run `make docs`"
    assert "\n-- libm " in result.stdout, "a crate that is linked and under MIT alone"


def test_the_wheel_carries_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert NAME in project["license-files"]
