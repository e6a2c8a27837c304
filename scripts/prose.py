#!/usr/bin/env python3
"""A linter for prose: plain English in documents, in what commands say, and in comments.

    scripts/prose.py             fail if a document, comment or name breaks a rule
    scripts/prose.py --count     words of the documents, and how often each rule is broken

Code, quoted names, generated verdicts and marks of measured numbers do not count. Names of files, types, modules,
functions, constants and macros must use the field's words, too.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 40
"""Maximum number of words in a sentence."""

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
PRIVATE = {
    "aside": "background, interferer",
    "crossing": "queueing discipline",
    "crossings": "intersections, counters",
    "held": "queued, buffered, limited",
    "settled": "decided, converged",
    "spot": "position, endpoint",
    "spots": "positions, endpoints",
    "standing": "fixed, status",
    "told": "reported, notified, announced",
    "wrong": "bad, errors",
    "wrongly": "bad, errors",
}
"""Private words that names must not contain, and the field's words for them."""
OF_THE_FIELD = {"level_crossing", "level_crossings", "held_out"}
"""Terms of the field that contain such a word."""
DEFINED = re.compile(
    r"^[^/#*\n\"']*?\b"
    r"(?:struct|enum|trait|type|union|fn|mod|const|static|macro_rules!|class|def|function|interface)\s+([A-Za-z_]\w*)",
    re.MULTILINE,
)
PATTERNS = {name: re.compile(pattern, re.MULTILINE) for name, pattern in RULES.items()}
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1", re.DOTALL | re.MULTILINE)
VERDICTS = re.compile(r"<!-- verdicts .*?<!-- / -->", re.DOTALL)


def documents() -> list[Path]:
    """All documents that people read as pages. The changelog is exempt: it keeps the words of its time."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def bare(text: str) -> str:
    """A document without code, generated verdicts and marks; line numbers do not change."""

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
    """The comments of a source, each on its line, without tables and usage, whose columns are three blanks apart."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kept = [""] * (text.count("\n") + 1)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                kept[token.start[0] - 1] = token.string.lstrip("#! ")
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                for at, line in enumerate(text.splitlines()[node.lineno - 1 : node.end_lineno]):
                    kept[node.lineno - 1 + at] = "" if "   " in line.strip() else line.strip().strip('"')
        return bare("\n".join(kept))
    lines = (re.sub(r"^.*?//[/!]? ?", "", line).strip() if "//" in line else "" for line in text.splitlines())
    return bare("\n".join("" if "   " in line else line for line in lines))


def findings(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, rule and words of each violation."""
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
    """Code whose comments and names are checked, without the linter's test, which breaks each rule."""
    folders = ("crates/**/*.rs", "crates/**/*.[ch]", "fuzz/fuzz_targets/*.rs", "view/src/**/*.ts")
    python = ("python", "papers", "scripts", "benches", "tests", "packaging")
    found = {path for each in (*folders, *(f"{folder}/**/*.py" for folder in python)) for path in ROOT.glob(each)}
    return sorted(path for path in found if path.is_file() and path.name != "test_prose.py")


def private(name: str) -> str | None:
    """The private word in a name in camel or snake case, if any."""
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    pairs = {f"{a}_{b}" for a, b in itertools.pairwise(parts)}
    return None if pairs & OF_THE_FIELD else next((part for part in parts if part in PRIVATE), None)


def names(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, rule and name of each private name that a source defines, including the file name."""
    text = path.read_text(encoding="utf-8")
    for line, name in [
        (1, path.stem),
        *((text.count("\n", 0, at.start(1)) + 1, at[1]) for at in DEFINED.finditer(text)),
    ]:
        if word := private(name):
            yield line, "private name", f"{name}: found {word!r}, allowed: a word of the field ({PRIVATE[word]})"


def named() -> list[Path]:
    """Code whose names are checked. Studies are exempt: kept results contain the names of their sweeps and charts."""
    return [path for path in sources() if path.relative_to(ROOT).parts[0] != "papers"]


def main() -> int:
    """Check, or count."""
    found = [(path, *each) for path in documents() for each in findings(bare(path.read_text(encoding="utf-8")))]
    inside = [(path, *each) for path in sources() for each in findings(comments(path))]
    called = [(path, *each) for path in named() for each in names(path)]
    if sys.argv[1:2] == ["--count"]:
        total = sum(
            words(path.read_text(encoding="utf-8"))
            for path in ROOT.rglob("*.md")
            if path in {*documents(), ROOT / "CHANGELOG.md"}
        )
        counts = f"{len(found)} findings there, {len(inside)} in comments, {len(called)} in names"
        print(f"prose: {total} words in documents; {counts}")
        for rule, number in Counter(rule for _, _, rule, _ in [*found, *inside, *called]).most_common():
            print(f"{number:6} {rule}")
        return 0
    for path, line, rule, text in [*found, *inside, *called]:
        print(f"{path.relative_to(ROOT)}:{line}: {rule}: {text}")
    return int(bool(found or inside or called))


if __name__ == "__main__":
    sys.exit(main())
