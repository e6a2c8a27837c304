"""The bill of materials matches the locks and is the same each time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import Any
from urllib.parse import unquote

from tests.conftest import ROOT

NAME = "packaging/fourhop.cdx.json"


def bill() -> dict[str, Any]:
    made: dict[str, Any] = json.loads((ROOT / NAME).read_text(encoding="utf-8"))
    return made


def test_the_bill_is_that_of_the_sources() -> None:
    command = [sys.executable, str(ROOT / "packaging" / "sbom.py")]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / NAME).read_text(encoding="utf-8"), f"{NAME} is not up to date: run `make docs`"
    assert not {"serialNumber", "timestamp"} & {*bill(), *bill()["metadata"]}
    assert str(ROOT) not in made


def test_every_part_has_the_version_and_the_checksum_of_its_lock() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    crates = {f"{each['name']}@{each['version']}": each.get("checksum") for each in lock}
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.lock").read_text("utf-8"), re.M)
    kinds = set()
    for part in bill()["components"]:
        kind, name = unquote(part["bom-ref"]).removeprefix("pkg:").split("/")
        kinds.add(kind)
        if kind == "cargo":
            assert crates[name] == (part["hashes"][0]["content"] if "hashes" in part else None)
        else:
            assert tuple(name.split("@")) in pinned
    assert kinds == {"cargo", "pypi"}


def test_it_has_the_crates_of_the_licences_and_the_packages_that_the_wheel_asks_for() -> None:
    parts = {part["name"] for part in bill()["components"]}
    text = (ROOT / "LICENSE-DEPENDENCIES").read_text(encoding="utf-8")
    listed = set(re.findall(r"^-- ([\w-]+) \d", text, re.M))
    assert len(listed) > 5
    assert listed <= parts
    for needed in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]:
        assert re.split(r"[>=<]", needed)[0] in parts


def test_every_dependency_is_a_part() -> None:
    made = bill()
    known = {part["bom-ref"] for part in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in made["dependencies"]} == known
    assert all(set(each["dependsOn"]) <= known for each in made["dependencies"])
    assert len(known) == len(made["components"]) + 1


def test_wheel_and_packages_carry_it() -> None:
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert maturin["sbom"]["include"] == [NAME]
    assert {"path": NAME, "format": "sdist"} in maturin["include"]
