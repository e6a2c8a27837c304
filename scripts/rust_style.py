#!/usr/bin/env python3
"""Check what rustfmt leaves alone: lines of Rust, and documentation that says nothing.

    scripts/rust_style.py

A line has at most 120 columns, including comments and strings; table rows in a comment may be longer. A documentation
comment says more than "It." or "Why.". Checks all files known to git, prints one line per finding and exits with 1 if
there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
COMMENT = re.compile(r"^(\s*)(//[/!]?) (.*)$")
EMPTY = re.compile(r"^\s*///\s+(it|why|that|this|what|so)\.?\s*$", re.IGNORECASE)


def places(text: str) -> Iterator[tuple[int, str]]:
    """Line and complaint."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.match(line)
        if len(line) > WIDTH and not (comment and comment[3].startswith("|")):
            yield number, f"{len(line)} columns, allowed: {WIDTH}"
        if EMPTY.match(line) and not before.lstrip().startswith("///"):
            yield number, f"found {line.strip()!r}, allowed: documentation that says what or why"
        before = line


def main() -> int:
    """Check every Rust file."""
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=root, capture_output=True, text=True, check=True)
    found = 0
    for path in (root / name for name in listed.stdout.split()):
        for number, complaint in places(path.read_text(encoding="utf-8")):
            print(f"{path}:{number}: {complaint}")
            found += 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
