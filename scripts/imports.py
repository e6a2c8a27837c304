"""List imports between files of a crate, for scripts/walls.py.

An import is a path in a `use` that begins with `crate`, `super`, `self` or a sibling module; a re-exported name counts
as an import from the file that defines it. Imports of tests and documentation do not count.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
Graph = dict[Module, set[Module]]

ASIDE = re.compile(
    r"//[^\n]*|/\*.*?\*/|#\[cfg\(doc\)\]\s*use [^;]*;|#\[cfg\(test\)\]\s*use [^;]*;|"
    r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{.*",
    re.DOTALL,
)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]*);", re.MULTILINE)


def graph(sources: Path) -> tuple[dict[Module, Path], Graph]:
    """The files of a crate by module, and the imports of each; programs in `bin/` and tests are left out."""
    files = {}
    for file in sorted(sources.rglob("*.rs")):
        parts = file.relative_to(sources).with_suffix("").parts
        if parts[0] != "bin" and not any("test" in part for part in parts):
            files[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = file
    uses = {module: list(_uses(module, file, files)) for module, file in files.items()}
    re_exports = {
        (*module, path[-1]): path for module, found in uses.items() for public, path in found if public and path
    }

    def home(path: Module, seen: frozenset[Module] = frozenset()) -> Module:
        for end in range(1, len(path) + 1):
            begin = path[:end]
            if begin in re_exports and begin not in files and begin not in seen:
                return home(re_exports[begin] + path[end:], seen | {begin})
        while path and path not in files:
            path = path[:-1]
        return path

    imports: Graph = {}
    for module, found in uses.items():
        # A re-export from a submodule is not an import.
        taken = (path for public, path in found if not (public and path[: len(module)] == module))
        imports[module] = {home(path) for path in taken} & files.keys() - {module}
    return files, imports


def circles(imports: Graph) -> Iterator[list[Module]]:
    """Each cycle of imports over three or more files, if it is the shortest for one of its imports."""
    found = set()
    for first, others in imports.items():
        for second in others:
            before: dict[Module, Module | None] = {second: None}
            ahead = deque([second])
            while ahead and first not in before:
                at = ahead.popleft()
                for module in imports[at]:
                    # Two files may import each other.
                    if (at, module) != (second, first) and module not in before:
                        before[module] = at
                        ahead.append(module)
            if first in before:
                circle = [first]
                while (module := before[circle[-1]]) is not None:
                    circle.append(module)
                if frozenset(circle) not in found:
                    found.add(frozenset(circle))
                    yield circle[::-1]


def _uses(module: Module, file: Path, files: dict[Module, Path]) -> Iterator[tuple[bool, Module]]:
    text = ASIDE.sub("", file.read_text(encoding="utf-8"))
    for use in USE.finditer(text):
        for leaf in _leaves(re.sub(r"\s+", " ", use[2])):
            path = _absolute(module, tuple(leaf.split("::")), files)
            if path:
                yield bool(use[1]), path


def _leaves(tree: str) -> Iterator[str]:
    """The paths of a tree such as `a::{b, c::{d, e as f}}`."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        yield head.partition(" as ")[0].strip()
        return
    depth = begin = 0
    rest = rest[: rest.rindex("}")] + ","
    for at, letter in enumerate(rest):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part := rest[begin:at].strip():
                yield from (head + leaf for leaf in _leaves(part))
            begin = at + 1


def _absolute(module: Module, path: Module, files: dict[Module, Path]) -> Module:
    """A path from the crate's root; empty if it leads to another crate."""
    if path[0] == "crate":
        return path[1:]
    if path[0] in ("self", "super"):
        while path and path[0] in ("self", "super"):
            module = module[:-1] if path[0] == "super" else module
            path = path[1:]
        return module + path
    return module + path if (*module, path[0]) in files else ()
