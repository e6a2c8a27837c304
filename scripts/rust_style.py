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
ITEM = re.compile(r"^([-*]|\d+\.) ")
# A line that begins like this is not joined with the one before: lists, tables, headings, blocks of code.
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
        item = comment and ITEM.match(comment[3])
        if comment is None or (BEGINS.match(comment[3]) and not item) or fenced:
            fenced ^= bool(comment and comment[3].startswith("```"))
            made.append(lines[at])
            at += 1
            continue
        indent, mark = comment[1], comment[2]
        hang = " " * len(item[0]) if item else ""
        end = at
        words = []
        while end < len(lines) and (found := COMMENT.match(lines[end])) and (found[1], found[2]) == (indent, mark):
            goes_on = found[3].startswith(hang) and not BEGINS.match(found[3].removeprefix(hang))
            if end > at and not goes_on:
                break
            words.append(found[3].strip())
            end += 1
        paragraph = lines[at:end]
        if any(len(line) > WIDTH for line in paragraph):
            lead = f"{indent}{mark} "
            paragraph = textwrap.wrap(
                " ".join(words),
                WIDTH,
                initial_indent=lead,
                subsequent_indent=lead + hang,
                break_long_words=False,
                break_on_hyphens=False,
            )
        made += paragraph
        at = end
    return "\n".join(made) + ("\n" if text.endswith("\n") else "")


# A text in quotes, which may go on in the next line; not a raw one, to which a backslash at the end would belong.
TEXT = re.compile(r'\br#*"[^"]*"#*|(?<!\')"((?:[^"\\]|\\.)*)(?:"|\\?$)')
# Where a text may be broken: behind a blank or a line's end in it. Blanks behind the break are no part of the text.
BREAK = re.compile(r"(?<!\\) (?=\S)|\\n(?=\S)")


def broken(line: str, inside: bool) -> list[str]:
    """A line whose text is too wide as lines that are not, if it can be broken; `inside`: it begins within a text."""
    indent = len(line) - len(line.lstrip())
    if len(line) <= WIDTH or line.lstrip().startswith("//"):
        return [line]
    begins = [(indent, line.find('"') if '"' in line else len(line))] if inside else []
    begins += [
        (found.start(1), found.end(1)) for found in TEXT.finditer(line, begins[0][1] + 1 if begins else 0) if found[1]
    ]
    for begin, end in begins:
        if end < WIDTH - 1 or begin + 20 > WIDTH:
            continue
        places = [found.end() for found in BREAK.finditer(line, begin + 20, min(end, WIDTH - 1))]
        if places and places[-1] < len(line) - 1:
            rest = " " * (indent if inside and begin == indent else indent + 4) + line[places[-1] :]
            return [line[: places[-1]] + "\\", *broken(rest, True)]
    return [line]


def wrapped(text: str) -> str:
    """The text with long comments filled anew and long texts in quotes broken."""
    lines: list[str] = []
    for line in filled(text).split("\n"):
        inside = bool(lines) and lines[-1].endswith("\\") and not lines[-1].endswith("\\\\")
        lines += broken(line, inside)
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
