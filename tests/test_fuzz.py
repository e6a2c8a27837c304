"""`make fuzz` reads how far the fuzzer got and writes a table."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.conftest import ROOT, loaded

LOG = """\
INFO: Loaded 1 modules   (40112 inline 8-bit counters): 40112 [0x1, 0x2),
#13	INITED cov: 901 ft: 2400 corp: 13/4kb exec/s: 0 rss: 40Mb
#4096	NEW    cov: 955 ft: 2500 corp: 14/4kb lim: 40 exec/s: 2048 rss: 41Mb
#9000	DONE   cov: 960 ft: 2511 corp: 15/4kb lim: 40 exec/s: 1800 rss: 41Mb
stat::number_of_executed_units: 9000
stat::average_exec_per_sec:     1800
stat::new_units_added:          7
"""


@pytest.fixture
def tool() -> ModuleType:
    return loaded("scripts/fuzz.py")


def test_a_row_has_the_last_that_the_fuzzer_said(tool: ModuleType) -> None:
    outcome = tool.Outcome.read("aodv", 300, LOG, "2026-11-27", "abc", failed=False)
    assert outcome.row == "| `aodv` | 300 | 9,000 | 960 | 7 | none | 2026-11-27, abc |"
    # A target that fails at once has no statistics.
    failed = tool.Outcome.read("babel", 300, LOG.partition("#9000")[0], "2026-11-27", "abc", failed=True)
    assert failed.row == "| `babel` | 300 | 0 | 955 | 0 | **fails** | 2026-11-27, abc |"


def test_a_target_replaces_its_row_of_last_time(tool: ModuleType) -> None:
    aodv = tool.Outcome("aodv", 300, 9000, 960, 7, False, "2026-11-27", "abc")
    babel = tool.Outcome("babel", 3600, 8000, 900, 5, False, "2026-11-28", "def")
    gone = tool.Outcome("gone", 300, 1, 1, 1, False, "2026-11-27", "abc")
    text = f"a\n{tool.BEGIN}\n{tool.END}\nb\n"
    for outcome in (gone, babel, aodv):
        text = tool.recorded(text, outcome, ["aodv", "babel"] if outcome is aodv else ["aodv", "babel", "gone"])
    assert text == f"a\n{tool.BEGIN}\n{tool.table([aodv.row, babel.row])}\n{tool.END}\nb\n"
    later = tool.Outcome("aodv", 3600, 99000, 970, 9, False, "2026-11-29", "fed")
    again = tool.recorded(text, later, ["aodv", "babel"])
    assert again == text.replace(aodv.row, later.row)


def test_the_document_has_a_place_for_it_and_every_target(tool: ModuleType) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert text.index(tool.BEGIN) < text.index(tool.END)
    inside = text.partition(tool.BEGIN)[2].partition(tool.END)[0]
    for path in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs"):
        assert f"| `{path.stem}` |" in inside, f"{path.stem}: `make fuzz FUZZ=--record` fuzzes it"
