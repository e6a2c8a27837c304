"""The prose linter finds breaches of its rules in documents, comments and names."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import loaded


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    return loaded("scripts/prose.py")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Who only wants to know how long a run takes reads the first section.\n", "clause as subject"),
        ("Nodes send.\nWhat is lost comes again.\n", "clause as subject"),
        ("A node of which nothing is known is not paced.\n", "of which"),
        ("The sender is told its rate.\n", "told"),
        ("One row a flow.\n", "one X a Y"),
        ("Files that are none are skipped.\n", "that are none"),
        ("A distance is wrong by 2 %.\n", "wrong"),
        ("It gives goodput away for that.\n", "gives away"),
        ("word " * 45 + "end.\n", "long sentence"),
    ],
)
def test_what_reads_as_translated_is_found(prose: ModuleType, text: str, rule: str) -> None:
    assert rule in [found for _, found, _ in prose.findings(prose.bare(text))]


@pytest.mark.parametrize(
    "text",
    [
        "What does a second channel bring?\n",
        "For run times, read the first section.\n",
        "A queue that is a standing queue.\n",
        "```sh\nwrong\n```\n",
        "`held` and ![a](wrong.png)\n",
        "| " + "7 | " * 60 + "\n",
    ],
)
def test_plain_text_and_code_are_left_alone(prose: ModuleType, text: str) -> None:
    assert list(prose.findings(prose.bare(text))) == []


def test_words_count_neither_marks_nor_verdicts(prose: ModuleType) -> None:
    assert prose.words("two words <!-- a/b ns2 c -->3 %<!-- / -->") == 3
    assert prose.words("<!-- verdicts x -->\n| a | b |\n<!-- / -->") == 0


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("told.rs", "", "told"),
        ("a.rs", "pub(super) enum FlowStanding {\n", "standing"),
        ("a.rs", "    pub fn held_bytes(&self) -> u64 {\n", "held"),
        ("a.py", "def test_it_is_told():\n    pass\n", "told"),
        ("a.ts", "  const spots: [number, number][] = [];\n", "spots"),
    ],
)
def test_names_of_our_own_are_found(prose: ModuleType, tmp_path: Path, name: str, text: str, word: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [(rule, f"found {word!r}" in found) for _, rule, found in prose.names(path)] == [("private name", True)]


def test_names_of_the_field_are_left_alone(prose: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "withheld.rs"
    path.write_text("fn level_crossing_rate() {}\n// fn held() {}\nstruct Understanding;\n", encoding="utf-8")
    assert list(prose.names(path)) == []


def test_docstrings_and_comments_are_read_and_other_texts_are_not(prose: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('"""It is told."""\nTOLD = """\nIt is told.\n"""  # and told\n', encoding="utf-8")
    assert [(line, rule) for line, rule, _ in prose.findings(prose.comments(path))] == [(1, "told"), (4, "told")]
