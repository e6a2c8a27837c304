#!/usr/bin/env python3
"""Print the required licence texts of the crates in the wheel and the programs for Linux: LICENSE-DEPENDENCIES.

    scripts/licences.py > LICENSE-DEPENDENCIES

If a crate offers several licences we take Apache-2.0, because its text is in the wheel anyway (section 4a requires
that, 4d the crate's NOTICE, if it has one), or else the Unlicense, which requires nothing. MIT and BSD require their
text with the copyright lines; if a crate lacks it, we use our own text, or theirs without a name, with the authors that
the crate names. libbpf, in C, is inside one of the crates and linked with it. Any other licence is an error until its
conditions are handled here. Needs cargo and the sources that it builds from.

The list has the crates linked on Linux, without those that only run during compilation.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
fourhop is licensed under MIT or Apache 2.0, at your option. The extension module in its wheels and the programs for
Linux also contain the following; items marked with an asterisk are only in the programs.

Under the Apache License, Version 2.0 (text in LICENSE-APACHE):

  Rust's standard library, copyright The Rust Project Contributors
{apache}
{notices}
Under the same license with the LLVM exceptions: compiler-rt and libunwind of LLVM.

In the public domain (https://unlicense.org):

{unlicense}

Under the MIT license, with these texts:

{mit}
Under the BSD 2-Clause license, with these texts:

{bsd}"""


# Distributed artifacts: the extension module, the programs.
GIVEN = ("fourhop-py", "fourhop-emu", "fourhop-bpf", "fourhop-gateway", "fourhop-aodvd")


def linked() -> list[dict[str, Any]]:
    """Third-party packages in what we distribute, by name and version; `mark` shows which are not in the module."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    names = {package["name"]: id for id, package in packages.items()}
    reached: dict[str, str] = {}
    for given in GIVEN:
        waiting = [names[given]]
        while waiting:
            id = waiting.pop()
            is_macro = any("proc-macro" in target["kind"] for target in packages[id]["targets"])
            if id not in reached and not is_macro:
                reached[id] = "" if given == GIVEN[0] else "*"
                waiting += needs[id]
    foreign = [packages[id] | {"mark": mark} for id, mark in reached.items() if packages[id]["source"] is not None]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def text_of(package: dict[str, Any]) -> str:
    """The MIT licence of a package."""
    folder = Path(package["manifest_path"]).parent
    for name in ("LICENSE-MIT", "LICENSE", "LICENSE.txt", "LICENSE.md"):
        if (folder / name).exists():
            text = (folder / name).read_text(encoding="utf-8")
            if "Permission is hereby granted" in text and re.search(r"copyright", text, re.IGNORECASE):
                return text.strip() + "\n"
    if not package["authors"]:
        sys.exit(f"licences: {package['name']} {package['version']} has neither the text of its licence nor authors")
    ours = (ROOT / "LICENSE-MIT").read_text(encoding="utf-8")
    return f"Copyright (c) {', '.join(package['authors'])}\n\n{ours[ours.index('Permission is hereby granted') :]}"


def bsd_of(package: dict[str, Any]) -> str:
    """The 2-clause BSD licence of a package, and of the C library bundled with it."""
    folder = Path(package["manifest_path"]).parent
    conditions = "Redistribution and use in source and binary forms"
    text = (folder / "LICENSE").read_text(encoding="utf-8")
    if conditions not in text:
        text = (folder / "LICENSE.BSD-2-Clause").read_text(encoding="utf-8")
        text = f"Copyright (c) {', '.join(package['authors'])}\n\n{text[text.index(conditions) :]}"
    if (library := folder / "libbpf" / "src").is_dir():
        lines = {
            re.sub(r"\s+", " ", line[0]).removesuffix(" */").removesuffix(".")
            for source in library.glob("*.[ch]")
            for line in re.finditer(r"Copyright .*", source.read_text(encoding="utf-8"))
        }
        text = "\n".join(["libbpf, which is in it, with the same conditions:", *sorted(lines), "", text])
    return text.strip() + "\n"


def main() -> None:
    """Prints the file."""
    apache, unlicense, notices = [], [], []
    texts: dict[str, list[str]] = {}
    bsd: dict[str, list[str]] = {}
    for package in linked():
        name = f"{package['name']} {package['version']}{package['mark']}"
        offered = set(re.split(r" OR |/", package["license"] or ""))
        found = sorted(Path(package["manifest_path"]).parent.glob("NOTICE*"))
        if "Apache-2.0" in offered:
            apache.append(f"  {name}")
            notices += [f"\nThe notice of {name}:\n\n{path.read_text(encoding='utf-8').strip()}\n" for path in found]
        elif found:
            sys.exit(f"licences: {name} has {found[0].name} and not Apache-2.0: handle its conditions in this script")
        elif "Unlicense" in offered:
            unlicense.append(f"  {name}")
        elif "MIT" in offered:
            texts.setdefault(text_of(package), []).append(name)
        elif "BSD-2-Clause" in offered:
            bsd.setdefault(bsd_of(package), []).append(name)
        else:
            sys.exit(f"licences: {name} has the licence {package['license']!r}: handle its conditions in this script")

    def listed(texts: dict[str, list[str]]) -> str:
        return "\n".join(f"-- {', '.join(names)}\n\n{text}" for text, names in texts.items())

    lists = {
        "apache": "\n".join(apache),
        "notices": "".join(notices),
        "unlicense": "\n".join(unlicense),
        "mit": listed(texts),
        "bsd": listed(bsd),
    }
    print(HEAD.format(**lists), end="")


if __name__ == "__main__":
    main()
