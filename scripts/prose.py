#!/usr/bin/env python3
"""A linter for prose: plain English in documents, in what commands say, and in comments.

    scripts/prose.py             fail where a document breaks a rule, or where comments do so more than CEILING times
    scripts/prose.py --comments  the same, and list what is in comments
    scripts/prose.py --count     words of the documents, and how often each rule is broken where

Code, quoted names, generated verdicts and marks of measured numbers do not count.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILING = 61
"""Findings that comments and docstrings may have: lower it when there are fewer."""

LONGEST = 40
"""Most words of a sentence."""

RULES = {
    "clause as subject": r"(?:^|(?<=[.:;!] ))(?:Who|What|Which|Whoever|That which) (?:[^.?!:]|\.(?=\S))*[.!:](?:\s|$)",
    "of which": r"\b(?:of|by|from|in|beside|behind) (?:whom|whose)\b|\bof which\b",
    "told": r"\b(?:is|are|was|were|be|unless|as) told\b|\btold apart\b|\btold\b",
    "one X a Y": r"\b(?:[Oo]ne|[Aa]) (?:row|line|file|curve|point|key|capture|packet|page|flow|node) an? (?:\(|\w+)",
    "that are none": r"\b(?:that|which) (?:is|are) none\b|\bwhere there is none\b",
    "for who": r"\b(?:for|to|by|of|from) (?:who|what)\b(?! (?:it|is|they|you|we|each|the|a|an|one|else)\b)",
    "held": r"\b(?<!with)held\b(?! (?:by|in) (?:hand|memory))",
    "wrong": r"\bwrong(?:ly)?\b",
    "crossing": r"\bcrossings?\b(?! (?:rate|chains?))",
    "settled": r"\bsettled\b",
    "standing": r"\bstanding\b(?! (?:queue|waves?))",
    "spot": r"\bspots?\b",
    "aside": r"\baside\b",
    "gives away": r"\bgives? (?:\w+ )?away\b",
    "all the same": r"\ball the same\b",
}
PATTERNS = {name: re.compile(pattern, re.MULTILINE) for name, pattern in RULES.items()}
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1", re.DOTALL | re.MULTILINE)
VERDICTS = re.compile(r"<!-- verdicts .*?<!-- / -->", re.DOTALL)


def documents() -> list[Path]:
    """Everything that people read as pages. The changelog keeps the words of its time."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def bare(text: str) -> str:
    """A document without code, generated verdicts and marks; its lines keep their numbers."""

    def lines(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    for pattern in (
        FENCED,
        VERDICTS,
        re.compile(r"<!--.*?-->", re.DOTALL),
        re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    ):
        text = pattern.sub(lines, text)
    return re.sub(r"`[^`\n]*`", "`x`", re.sub(r"\]\([^)\n]*\)", "]", text))


def comments(path: Path) -> str:
    """The comments of a source, line by line where they stand."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        inside = False
        kept = []
        for line in text.splitlines():
            marks = line.count('"""')
            kept.append(line.strip().strip('"') if inside or marks else line.partition("# ")[2])
            inside ^= marks == 1
        return bare("\n".join(kept))
    return bare("\n".join(re.sub(r"^.*?//[/!]? ?", "", line) if "//" in line else "" for line in text.splitlines()))


def findings(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, rule and words of everything that breaks a rule."""
    paragraphs = re.compile(r"(?:^(?!\s*$|\s*[|#]).+\n?)+", re.MULTILINE)
    for name, pattern in PATTERNS.items():
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, name, found[0].strip().split("\n")[0][:70]
    for paragraph in paragraphs.finditer(text):
        for item in re.split(r"^\s*(?:[-*]|\d+\.) ", paragraph[0], flags=re.MULTILINE):
            for sentence in re.split(r"(?<=[.!?:;])\s", item):
                if len(sentence.split()) > LONGEST:
                    line = text.count("\n", 0, paragraph.start()) + 1
                    yield line, "long sentence", " ".join(sentence.split()[:10])


def words(text: str) -> int:
    """Words of a document, with its tables and code, without generated verdicts."""
    return len(re.findall(r"\S*\w\S*", re.sub(r"<!--.*?-->", "", VERDICTS.sub("", text), flags=re.DOTALL)))


def sources() -> list[Path]:
    """Code whose comments are read."""
    return sorted([*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/**/*.py"), *ROOT.glob("view/src/**/*.ts")])


def main() -> int:
    """Check, or count."""
    found = [(path, *each) for path in documents() for each in findings(bare(path.read_text(encoding="utf-8")))]
    inside = [(path, *each) for path in sources() for each in findings(comments(path))]
    if sys.argv[1:2] == ["--count"]:
        total = sum(
            words(path.read_text(encoding="utf-8"))
            for path in ROOT.rglob("*.md")
            if path in {*documents(), ROOT / "CHANGELOG.md"}
        )
        print(f"prose: {total} words in documents; {len(found)} findings there, {len(inside)} in comments")
        for rule, number in Counter(rule for _, _, rule, _ in [*found, *inside]).most_common():
            print(f"{number:6} {rule}")
        return 0
    for path, line, rule, text in found:
        print(f"{path.relative_to(ROOT)}:{line}: {rule}: {text}")
    if len(inside) > CEILING:
        print(f"comments: found {len(inside)} findings, allowed: {CEILING}; --comments lists them")
    if sys.argv[1:2] == ["--comments"]:
        for path, line, rule, text in inside:
            print(f"{path.relative_to(ROOT)}:{line}: {rule}: {text}")
    return int(bool(found) or len(inside) > CEILING)


if __name__ == "__main__":
    sys.exit(main())
