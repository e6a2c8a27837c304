#!/usr/bin/env python3
"""Check what rustfmt leaves alone: lines of Rust, and documentation that says nothing.

    scripts/rust_style.py [--fix] [FILE ...]

A line has at most 120 columns, comments and texts included; rows of a table in a comment may be longer. A documentation
comment says more than "It." or "Why.". With `--fix` long comments are filled anew and long texts broken. Without files
it looks at all that git knows. Prints one line for each place and ends with 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
COMMENT = re.compile(r"^(\s*)(//[/!]?) (.*)$")
EMPTY = re.compile(r"^\s*///\s+(it|why|that|this|what|so)\.?\s*$", re.IGNORECASE)
# What begins a line that is not to be joined with the one before: lists, tables, headings, blocks of code.
BEGINS = re.compile(r"^(\||[-*] |\d+\. |#|```|\s{2,})")


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


def filled(text: str) -> str:
    """The text with every paragraph of comments that is too wide filled anew."""
    lines = text.splitlines()
    made: list[str] = []
    at = 0
    fenced = False
    while at < len(lines):
        comment = COMMENT.match(lines[at])
        if comment is None or BEGINS.match(comment[3]) or fenced:
            fenced ^= bool(comment and comment[3].startswith("```"))
            made.append(lines[at])
            at += 1
            continue
        indent, mark = comment[1], comment[2]
        end = at
        words = []
        while end < len(lines) and (found := COMMENT.match(lines[end])) and (found[1], found[2]) == (indent, mark):
            if end > at and BEGINS.match(found[3]):
                break
            words.append(found[3])
            end += 1
        paragraph = lines[at:end]
        if any(len(line) > WIDTH for line in paragraph):
            lead = f"{indent}{mark} "
            paragraph = textwrap.wrap(
                " ".join(words),
                WIDTH,
                initial_indent=lead,
                subsequent_indent=lead,
                break_long_words=False,
                break_on_hyphens=False,
            )
        made += paragraph
        at = end
    return "\n".join(made) + ("\n" if text.endswith("\n") else "")


# A text in quotes with no quote before it: not a raw one, of which a backslash at the end of a line would be a part.
TEXT = re.compile(r'^([^"]*?(?<![r#]))"((?:[^"\\]|\\.)*)')


def broken(line: str) -> list[str]:
    """A line whose text is too wide as lines that are not, if it can be broken at a space."""
    found = TEXT.match(line)
    if len(line) <= WIDTH or found is None or "//" in found[1]:
        return [line]
    begin = len(found[1]) + 1
    at = line.rfind(" ", begin + 20, min(WIDTH - 1, begin + len(found[2])))
    if at < 0 or line[at - 1] == "\\":
        return [line]
    # The blanks after such a break are no part of the text.
    return [line[: at + 1] + "\\", *broken_on(" " * begin + line[at + 1 :].lstrip(" "), begin)]


def broken_on(line: str, begin: int) -> list[str]:
    """The rest of a text, likewise."""
    if len(line) <= WIDTH:
        return [line]
    at = line.rfind(" ", begin + 20, WIDTH - 1)
    end = re.search(r'(?<!\\)"', line)
    if at < 0 or (end is not None and end.start() < at):
        return [line]
    return [line[: at + 1] + "\\", *broken_on(" " * begin + line[at + 1 :].lstrip(" "), begin)]


def wrapped(text: str) -> str:
    """The text with long comments filled anew and long texts in quotes broken."""
    lines = [part for line in filled(text).split("\n") for part in broken(line)]
    return "\n".join(lines)


def main() -> int:
    """Check, or fill and then check."""
    root = Path(__file__).resolve().parent.parent
    named = [name for name in sys.argv[1:] if name != "--fix"]
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=root, capture_output=True, text=True, check=True)
    found = 0
    for path in map(Path, named) if named else (root / name for name in listed.stdout.split()):
        text = path.read_text(encoding="utf-8")
        if "--fix" in sys.argv[1:] and (wanted := wrapped(text)) != text:
            path.write_text(wanted, encoding="utf-8")
            text = wanted
        for number, complaint in places(text):
            print(f"{path}:{number}: {complaint}")
            found += 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
