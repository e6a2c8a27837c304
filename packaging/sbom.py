"""Print the bill of materials of wheel and packages: packaging/fourhop.cdx.json, CycloneDX 1.6 as JSON.

    python packaging/sbom.py > packaging/fourhop.cdx.json

It lists the crates linked into the extension module and the programs for Linux, with the checksums of Cargo.lock, and
the Python packages that fourhop needs, in the versions of requirements.lock. `fourhop:linked-into` names those of our
crates that a crate is linked into. The wheel contains no Python packages and accepts the versions of `fourhop:range`;
the Debian package contains them. The same sources give the same bytes: no time, no random number.

Needs cargo, the sources of the crates, and the environment of requirements.lock. `make docs` writes the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent

GIVEN = ("fourhop-py", "fourhop-emu", "fourhop-bpf", "fourhop-gateway", "fourhop-aodvd")
"""Our crates that become the extension module and the programs."""

TARGET = {
    "extra": "",
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.11.2",
    "python_version": "3.11",
    "sys_platform": "linux",
}
"""The environment of the versions: the Debian package's."""

Component = dict[str, Any]


def crates() -> tuple[list[Component], dict[str, list[str]]]:
    """The linked crates of others and, by reference, those that each crate needs."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {(each["name"], each["version"]): each.get("checksum") for each in lock}

    def linked(id: str) -> bool:
        return not any("proc-macro" in target["kind"] for target in packages[id]["targets"])

    needs = {
        node["id"]: [
            each["pkg"]
            for each in node["deps"]
            if linked(each["pkg"]) and any(kind["kind"] is None for kind in each["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    names = {package["name"]: id for id, package in packages.items() if package["source"] is None}
    into: dict[str, list[str]] = {}
    for given in GIVEN:
        waiting, seen = [names[given]], set()
        while waiting:
            id = waiting.pop()
            if id not in seen:
                seen.add(id)
                into.setdefault(id, []).append(given)
                waiting += needs[id]
    references = {id: reference("cargo", packages[id]["name"], packages[id]["version"]) for id in into}
    made = [
        {
            "type": "library",
            "bom-ref": references[id],
            "name": packages[id]["name"],
            "version": packages[id]["version"],
            "hashes": [{"alg": "SHA-256", "content": sums[packages[id]["name"], packages[id]["version"]]}],
            # Older crates separate alternative licences by a slash.
            "licenses": [{"expression": packages[id]["license"].replace("/", " OR ")}],
            "purl": references[id],
            "properties": [{"name": "fourhop:linked-into", "value": given} for given in where],
        }
        for id, where in into.items()
        if packages[id]["source"] is not None
    ]
    return made, {references[id]: [references[each] for each in needs[id]] for id in into}


def python() -> tuple[list[Component], dict[str, list[str]], list[str]]:
    """The Python packages that fourhop needs, those that each needs, and those that fourhop itself needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [Requirement(text) for text in project["dependencies"]]
    ranges = {canonicalize_name(each.name): str(each.specifier) for each in own}
    pinned = {canonicalize_name(each.name): str(each.specifier)[2:] for each in locked() if applies(each)}
    made: dict[str, Component] = {}
    needs: dict[str, list[str]] = {}

    def take(requirement: Requirement) -> str:
        name = canonicalize_name(requirement.name)
        mark = reference("pypi", name, pinned[name])
        if mark not in made:
            made[mark] = {
                "type": "library",
                "bom-ref": mark,
                "name": name,
                "version": pinned[name],
                "purl": mark,
                "properties": [{"name": "fourhop:range", "value": ranges[name]}] if name in ranges else [],
            }
            inner = [Requirement(text) for text in distribution(name).requires or ()]
            needs[mark] = [take(each) for each in inner if applies(each)]
        return mark

    needed = [take(each) for each in own]
    return list(made.values()), needs, needed


def locked() -> list[Requirement]:
    """The requirements in requirements.lock, some for other systems or versions of Python."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return [Requirement(line.rstrip("\\ ")) for line in text.splitlines() if re.match(r"[\w.-]+==", line)]


def applies(requirement: Requirement) -> bool:
    """Whether it applies to Linux with the packages' Python, whatever this script runs on."""
    return requirement.marker is None or requirement.marker.evaluate(TARGET)


def reference(kind: str, name: str, version: str) -> str:
    """The package URL, such as `pkg:cargo/libc@0.2.170`."""
    return f"pkg:{kind}/{name}@{quote(version)}"


def document() -> dict[str, Any]:
    """The whole bill."""
    version = str(tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"])
    linked, needs = crates()
    packages, more, needed = python()
    main = reference("pypi", "fourhop", version)
    foreign = {each["bom-ref"] for each in linked}
    ours = [mark for mark in needs if mark not in foreign]
    depends = {**needs, **more, main: [*needed, *ours]}
    parts = [
        {
            "type": "library",
            "bom-ref": mark,
            "name": mark.removeprefix("pkg:cargo/").partition("@")[0],
            "version": version,
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
        }
        for mark in ours
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": main,
                "name": "fourhop",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": main,
            }
        },
        "components": sorted([*parts, *linked, *packages], key=lambda each: str(each["bom-ref"])),
        "dependencies": [{"ref": mark, "dependsOn": sorted(set(depends[mark]))} for mark in sorted(depends)],
    }


def main() -> int:
    """The command."""
    json.dump(document(), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
