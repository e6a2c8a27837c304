"""The lock of the Python environment satisfies the package's requirements."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from tests.conftest import ROOT


def test_the_lock_has_every_requirement_in_an_allowed_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = project["dependencies"] + [line for extra in extras for line in extra]
    locked = re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    for requirement in map(Requirement, wanted):
        versions = [version for name, version in locked if name == requirement.name]
        assert versions, f"requirements.lock does not name {requirement.name}: run `make lock`"
        for version in versions:
            assert requirement.specifier.contains(version), f"{requirement}, locked is {version}: run `make lock`"
