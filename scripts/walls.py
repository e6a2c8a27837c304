#!/usr/bin/env python3
"""Check the walls between the crates.

    scripts/walls.py [ROOT]

Dependencies go one way, `units -> cc -> proto -> settings -> sim -> {py, emu}`, `live -> emu` and `{settings, live} ->
{bpf, aodvd, gateway}`; unsafe code is only in `live`, and the protocol crates (units, cc, proto) read no clock, open no
file or socket, start no thread and contain nothing unsafe. Prints one line per breach and exits with 1 if there is one.
Clippy's lists of forbidden names (clippy.toml) catch single calls; this catches whole modules and dependencies. Neither
these crates nor the simulator call floating-point functions of the C library: their last digits differ between
libraries and processors, but results must not.

Inside a crate, no import cycle spans more than two files. Inside `proto`, a layer imports only from lower ones, and a
file of `wire`, `node` or `mac` nothing defined in the head of its own folder. Needs only Python's standard library.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from imports import Module, circles, graph

# Allowed dependencies of each crate. A new line here is a decision about the architecture: see ARCHITECTURE.md.
ALLOWED = {
    "units": {"libm", "rand_core", "rand_xoshiro"},
    "cc": {"fourhop-units"},
    "proto": {"arrayvec", "etherparse", "fourhop-cc", "fourhop-units", "libm", "thiserror"},
}
# Tests of the protocol crates may use these in addition.
ALLOWED_IN_TESTS = {"proptest"}
# Crates of this workspace that those outside the wall may depend on.
WITHIN = {
    "settings": {"fourhop-cc", "fourhop-proto", "fourhop-units"},
    "sim": {"fourhop-cc", "fourhop-proto", "fourhop-settings", "fourhop-units"},
    "py": {"fourhop-sim", "fourhop-units"},
    "live": {"fourhop-units"},
    "emu": {"fourhop-live", "fourhop-proto", "fourhop-settings", "fourhop-sim", "fourhop-units"},
    "bpf": {"fourhop-cc", "fourhop-live", "fourhop-settings", "fourhop-units"},
    "aodvd": {"fourhop-live", "fourhop-proto", "fourhop-settings", "fourhop-units"},
    "gateway": {"fourhop-cc", "fourhop-live", "fourhop-proto", "fourhop-settings", "fourhop-units"},
}
# The one crate whose purpose is unsafe code: system calls that no crate wraps, and code between fork and exec.
UNSAFE_IS_IN = "live"
# The layers of `proto`, the lowest first; those on one line do not import each other.
LAYERS = (
    {"counters", "drop"},
    {"wire"},
    {"app", "aqm", "ccm", "phy", "route", "tcp"},
    {"atp", "gateway", "mac"},
    {"net"},
    {"node"},
)
# Modules with constants that two layers use in common.
ACROSS = {"preset"}
# In these folders, files import nothing from the head of their folder: common code has a separate file.
HEADLESS = ("wire", "node", "mac")
FORBIDDEN_MODULES = ("env", "fs", "io", "net", "os", "process", "thread", "time")

PATH = re.compile(r"\bstd\s*::\s*(\w+)")
GROUP = re.compile(r"\bstd\s*::\s*\{([^;]*?)\}\s*;", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
UNSAFE = re.compile(r"\bunsafe\b(?!_)")
# Methods of f64 that call the C library, or whose precision Rust does not specify. Square roots, roundings and the four
# basic operations are exact by IEEE 754.
ROUGH = re.compile(
    r"(?:\.\s*|\bf(?:32|64)\s*::\s*)"
    r"(powf|powi|exp2?|exp_m1|ln|ln_1p|log|log2|log10|hypot|cbrt|(?:a?(?:sin|cos|tan)h?)|atan2|sin_cos|mul_add|gamma|ln_gamma)"
    r"\s*\("
)
# Tests may compare with anything.
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
# The simulator's numbers and names of nodes. To a protocol, an address says nothing about location, which is known from
# the address plan and from ARP.
NUMBERING = re.compile(r"\b(FIRST_WIRED|wired_number|from_ipv4|NodeId::wired|MacAddr::node)\b")


def breaches(root: Path) -> Iterator[str]:
    """Every breach in the workspace at `root`, as `file[:line]: what`."""
    for crate, allowed in ALLOWED.items():
        folder = root / "crates" / crate
        yield from _dependencies(folder, allowed)
        if (folder / "build.rs").exists():
            yield f"{folder / 'build.rs'}: a protocol crate has no build script"
        for source in sorted((folder / "src").rglob("*.rs")):
            yield from _source(source, knows_numbering=crate == "units")
    for crate in (*ALLOWED, *WITHIN):
        yield from _imports(root / "crates" / crate / "src")
    for crate in (*ALLOWED, "settings", "sim"):
        for source in sorted((root / "crates" / crate / "src").rglob("*.rs")):
            yield from _floats(source)
    for crate in sorted(WITHIN.keys() - {UNSAFE_IS_IN}):
        for source in sorted((root / "crates" / crate / "src").rglob("*.rs")):
            text = _blank(source)
            for word in UNSAFE.finditer(text):
                yield f"{source}:{_line(text, word.start())}: unsafe; only {UNSAFE_IS_IN} may have unsafe code"
    for crate, allowed in WITHIN.items():
        manifest = root / "crates" / crate / "Cargo.toml"
        for name in _tables(manifest)["dependencies"]:
            if name.startswith("fourhop-") and name not in allowed:
                yield f"{manifest}: depends on {name}; allowed in this workspace: {', '.join(sorted(allowed))}"


def _imports(sources: Path) -> Iterator[str]:
    files, imports = graph(sources)
    for circle in circles(imports):
        yield f"{files[circle[0]]}: an import cycle: {' -> '.join(map(_name, [*circle, circle[0]]))}"
    if sources.parent.name != "proto":
        return
    level = {folder: height for height, folders in enumerate(LAYERS) for folder in folders}
    for module, others in imports.items():
        for other in sorted(others):
            if not module or not other or {module[0], other[0]} & ACROSS:
                continue
            if module[0] != other[0] and level.get(other[0], -1) >= level.get(module[0], -1):
                yield f"{files[module]}: imports {_name(other)}, which is not a lower layer"
            if module[0] in HEADLESS and len(other) < len(module) and module[: len(other)] == other:
                yield f"{files[module]}: imports from {_name(other)}, the head of its folder; use a separate file"


def _name(module: Module) -> str:
    return "::".join(module) or "lib"


def _tables(manifest: Path) -> dict[str, set[str]]:
    """Dependencies of a manifest by kind, including those of single targets."""
    parsed = tomllib.loads(manifest.read_text(encoding="utf-8"))
    tables = {}
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        tables[kind] = set(parsed.get(kind, {}))
        for target in parsed.get("target", {}).values():
            tables[kind] |= set(target.get(kind, {}))
    return tables


def _dependencies(folder: Path, allowed: set[str]) -> Iterator[str]:
    manifest = folder / "Cargo.toml"
    tables = _tables(manifest)
    for kind, permitted in (
        ("dependencies", allowed),
        ("dev-dependencies", allowed | ALLOWED_IN_TESTS),
        ("build-dependencies", set()),
    ):
        for name in sorted(tables[kind] - permitted):
            yield f"{manifest}: {kind}: {name}; allowed: {', '.join(sorted(permitted)) or 'none'}"


def _source(source: Path, *, knows_numbering: bool) -> Iterator[str]:
    text = _blank(source)
    found = [(use.start(), use[1]) for use in PATH.finditer(text)]
    for group in GROUP.finditer(text):
        found += [(group.start(), name) for name in re.findall(r"(?:^|[,{])\s*(\w+)", group[1])]
    for offset, module in sorted(found):
        if module in FORBIDDEN_MODULES:
            yield f"{source}:{_line(text, offset)}: std::{module}; a protocol crate reads no clock and opens nothing"
    for word in UNSAFE.finditer(text):
        yield f"{source}:{_line(text, word.start())}: unsafe; a protocol crate has no unsafe code"
    for name in () if knows_numbering else NUMBERING.finditer(text):
        yield f"{source}:{_line(text, name.start())}: {name[1]}; a protocol takes addresses as given"


def _floats(source: Path) -> Iterator[str]:
    if "tests" in source.parts or source.stem.endswith("tests"):
        return
    text = TESTS.sub("", _blank(source))
    for call in ROUGH.finditer(text):
        yield f"{source}:{_line(text, call.start())}: {call[1]}; take it from libm, which is the same on every machine"


def _blank(source: Path) -> str:
    """The text of a source with comments blanked out, which may name anything; line numbers do not change."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), source.read_text(encoding="utf-8"))


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def main() -> int:
    """Check the workspace named on the command line, or the one this script is in."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(breaches(root))
    for breach in found:
        print(breach)
    print(f"walls: {len(found)} breaches" if found else "walls: sound")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
