"""Measurements of full reproductions are stored, quoted in the documents, and predict how long the next one takes."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from fourhop.errors import FourhopError
from fourhop.study import OUR_OWN, execute, find, measured, worlds
from tests.conftest import ROOT, loaded
from tests.study.conftest import TINY

KEPT: dict[str, Any] = {
    "p/f1": {
        "profiles": {
            "ns2": {
                "checks": {
                    "gain": {
                        "verdict": "partly", "statement": "It | gains", "paper": "27 %", "unit": "",
                        "measured": "+12.3 [+10, +14.6] %", "value": 1.123, "low": 1.1, "high": 1.146,
                        "because": ["queue"],
                    },
                    "fair": {
                        "verdict": "not reproduced", "statement": "Fair", "paper": "all", "measured": "0.6",
                    },
                    "asked": {
                        "verdict": "not reproduced", "statement": "Shorter", "paper": OUR_OWN, "measured": "7 s",
                    },
                },
                "causes": {
                    "queue": {
                        "verdict": "reproduced", "statement": "the queue is short",
                        "measured": "9.04 [8, 10] packets", "value": 9.04, "unit": "packets",
                    }
                },
                "cost_s": {"chain": 30.0},
            }
        }
    }
}  # fmt: skip


def script() -> ModuleType:
    return loaded("scripts/measured.py")


@pytest.mark.parametrize(
    ("mark", "filled"),
    [
        ("p/f1 ns2 gain", "+12.3 [+10, +14.6] %"),
        ("p/f1 ns2 gain value", "+12 %"),
        ("p/f1 ns2 gain low", "+10 %"),
        ("p/f1 ns2 gain verdict", "partly"),
        ("p/f1 ns2 queue", "9.04 [8, 10] packets"),
        ("p/f1 ns2 queue value", "9.04 packets"),
    ],
)
def test_a_mark_gets_what_was_measured(mark: str, filled: str) -> None:
    text = f"gains <!-- {mark} -->something<!-- / -->."
    assert script().filled(text, KEPT, {}) == f"gains <!-- {mark} -->{filled}<!-- / -->."
    assert script().filled("no marks, <!-- a remark -->", KEPT, {}) == "no marks, <!-- a remark -->"


def test_a_table_has_every_statement() -> None:
    (_, head, _, *rows, _) = script().filled("<!-- verdicts p -->\n<!-- / -->", KEPT, {}).splitlines()
    assert head == "| figure | statement | the paper | `ns2` |"
    assert rows == [
        "| f1 | It / gains | 27 % | **partly**: +12.3 [+10, +14.6] %; because the queue is short |",
        "| f1 | Fair | all | **not reproduced**: 0.6; the cause is unknown |",
        f"| f1 | Shorter | {OUR_OWN} | **not reproduced**: 7 s; the cause is unknown |",
    ]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"undecided": True}, "; more runs might decide the full statement"),
        ({"undecided": True, "because": ["short"]}, "; because the queue is short"),
        ({}, "; the cause is unknown"),
    ],
)
def test_a_part_that_is_reproduced_says_what_is_missing(found: dict[str, Any], said: str) -> None:
    of = {
        "checks": {"gain": {"verdict": "partly", "measured": "2 [1, 3]", **found}},
        "causes": {"short": {"statement": "the queue is short"}},
    }
    assert script().outcome(of, "gain") == f"**partly**: 2 [1, 3]{said}"


def test_statements_of_the_paper_are_counted_and_our_own_are_not() -> None:
    text = script().filled("<!-- counts p ns2 --><!-- / -->", KEPT, {})
    assert "0 of 2 reproduced, 1 partly, 1 not (1 without a known cause)" in text


def in_world(label: str, same_as: str, **verdicts: str) -> dict[str, Any]:
    paper = {"own": OUR_OWN}
    return {
        "label": label,
        "same_as": same_as,
        "keys": {},
        "lacks": {},
        "checks": {
            name: {"statement": name.title(), "paper": paper.get(name, "27 %"), "verdict": verdict, "measured": "1 | 2"}
            for name, verdict in verdicts.items()
        },
    }


def test_documents_say_in_which_world_most_statements_hold(tmp_path: Path) -> None:
    """HELLO messages are impossible in the second figure."""
    found = {
        "f1": {
            "ns2": in_world("", "ns2", gain="partly", fair="reproduced", own="partly"),
            "hello": in_world("HELLO", "hello", gain="reproduced", fair="not reproduced", own="reproduced"),
            "old": in_world("old timers", "old", gain="reproduced", fair="reproduced", own="partly"),
            "both": in_world("both", "old", gain="reproduced", fair="reproduced", own="partly"),
        },
        "f2": {
            "ns2": in_world("", "ns2", loss="not reproduced"),
            "hello": in_world("HELLO", "ns2", loss="not reproduced"),
            "old": in_world("old timers", "old", loss="partly"),
            "both": in_world("both", "old", loss="partly"),
        },
    }
    for figure, of in found.items():
        path = tmp_path / worlds.FOLDER / "p" / f"{figure}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"paper": "p", "figure": figure, "quick": False, "commit": "abc", "title": "T", "worlds": of}
        path.write_text(json.dumps(record), encoding="utf-8")
    judged = worlds.extract(tmp_path)
    assert (judged["p/f1"]["commit"], "title" in judged["p/f1"]) == ("abc", False)
    kept = KEPT | {"p/f3": KEPT["p/f1"]}
    text = script().filled("<!-- worlds p -->\n<!-- / -->\n<!-- elsewhere p -->\n<!-- / -->", kept, judged)
    rows = [line for line in text.splitlines() if line and not line.startswith(("<!--", "| ---"))]
    assert rows == [
        "3 statements in 2 figures; not judged yet: `f3`.",
        "| world | figures | reproduced | partly | not reproduced |",
        "| ns-2.35 as it is | 2 | 1 | 1 | 1 |",
        "| HELLO | 1 | 1 | 0 | 2 |",
        "| **old timers** | 2 | 2 | 1 | 0 |",
        "| figure | statement | ns-2.35 as it is | reproduced with |",
        "| f1 | Gain | partly: 1 / 2 | HELLO: 1 / 2; old timers: 1 / 2 |",
    ]
    with pytest.raises(KeyError, match="q"):
        script().filled("<!-- worlds q --><!-- / -->", kept, judged)
    ns2 = {name: {**of, "worlds": {"ns2": of["worlds"]["ns2"]}} for name, of in judged.items()}
    assert script().filled("<!-- elsewhere p --><!-- / -->", kept, ns2) == "<!-- elsewhere p -->\nNone.\n<!-- / -->"


def test_worlds_are_outdated_once_the_quick_runs_of_their_figure_change() -> None:
    judged: dict[str, Any] = {"p/f1": {"quick": "1"}, "p/f2": {"quick": "1"}, "p/f3": {}}
    kept = {"p/f1": {"quick": "1"}, "p/f2": {"quick": "2"}, "p/f3": {"quick": "3"}, "p/f4": {"quick": "4"}}
    assert worlds.outdated(judged, kept) == ["p/f2", "p/f3"]
    # Records judged since the last pin get a new one.
    worlds.pin(judged, kept)
    assert judged == {"p/f1": {"quick": "1"}, "p/f2": {"quick": "1"}, "p/f3": {"quick": "3"}}
    assert worlds.outdated(judged, kept) == ["p/f2"]
    # Storing what is already stored changes nothing; records judged again have no pin yet.
    found = {"p/f1": {}, "p/f2": {"commit": "abc"}}
    judged = worlds.keep(found, judged)
    assert judged == {"p/f1": {"quick": "1"}, "p/f2": {"commit": "abc"}, "p/f3": {"quick": "3"}}
    # The project has none.
    assert worlds.outdated(measured.load(ROOT / "papers", worlds.KEPT), measured.load(ROOT / "papers")) == []


def test_what_was_never_measured_is_an_error() -> None:
    with pytest.raises(KeyError, match="p/f2"):
        script().filled("<!-- p/f2 ns2 gain -->1<!-- / -->", KEPT, {})


def test_the_documents_say_what_was_measured() -> None:
    kept = measured.load(ROOT / "papers")
    judged = measured.load(ROOT / "papers", worlds.KEPT)
    for path in script().documents():
        text = path.read_text(encoding="utf-8")
        assert script().filled(text, kept, judged) == text, (
            f"{path.name}: `scripts/measured.py fill` writes what was measured"
        )


def runs(folder: Path, **columns: object) -> str:
    """The fingerprint of one run with one flow and tables with these columns."""
    folder.mkdir(parents=True, exist_ok=True)
    row = {"point": 0, "seed": 1, "flow": "flow-1", "goodput_bps": 1.5, "events": 900, **columns}
    of_flow = dict.fromkeys(("delivered_bytes", "sent_packets", "retransmitted_packets", "timeouts"), 3)
    of_run = dict.fromkeys(("frames", "receptions", "dropped_packets"), 4)
    pl.DataFrame([of_flow | row]).write_parquet(folder / "ns2-chain-flows.parquet")
    pl.DataFrame([of_run | row]).write_parquet(folder / "ns2-chain-runs.parquet")
    return measured.fingerprint(folder)


def test_a_fingerprint_is_that_of_what_was_sent_and_heard(tmp_path: Path) -> None:
    plain = runs(tmp_path / "a")
    assert runs(tmp_path / "b", goodput_bps=1.6, events=901) == plain, "neither rounding nor the simulator's events"
    others = [
        runs(tmp_path / name, **{name: 5})
        for name in ("seed", "delivered_bytes", "retransmitted_packets", "receptions", "dropped_packets")
    ]
    assert len({plain, *others}) == 1 + len(others)
    (tmp_path / "a" / "ns2-chain-runs.parquet").rename(tmp_path / "a" / "ns2-ring-runs.parquet")
    assert measured.fingerprint(tmp_path / "a") != plain, "of another sweep"


def test_a_figure_is_stale_once_its_quick_runs_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = script()
    monkeypatch.setattr(tool, "PAPERS", tmp_path)
    tool.write({"p/f1": {"commit": "abc", "profiles": {}}}, measured.FILE)
    report, tables = tmp_path / "report", tmp_path / "report" / "data" / "p" / "f1"
    (report / "figures" / "p").mkdir(parents=True)
    (report / "figures" / "p" / "f1.json").write_text('{"paper": "p", "figure": "f1", "quick": true}')
    runs(tables)
    assert tool.main(["stale", str(report)]) == 1
    assert tool.main(["pin", str(report)]) == 0
    assert tool.main(["stale", str(report)]) == 0
    runs(tables, receptions=5)
    capsys.readouterr()
    assert tool.main(["stale", str(report)]) == 1
    assert capsys.readouterr().err.startswith("p/f1: its quick runs differ from those of commit abc")
    assert tool.main(["pin", str(report), "p/f1"]) == tool.main(["stale", str(report)]) == 0
    assert tool.main(["pin", str(report), "p/f2"]) == 1
    assert "p/f2: no quick runs in" in capsys.readouterr().err
    for path in tables.glob("*-flows.parquet"):
        path.unlink()
    with pytest.raises(FourhopError, match="found no tables of flows"):
        tool.main(["stale", str(report)])


def test_what_to_do_about_each_stale_figure_is_printed() -> None:
    kept = {"p/f1": {"commit": "abc", "quick": "1"}, "p/f2": {"commit": "def"}, "p/f3": {"commit": "abc", "quick": "3"}}
    found = {"p/f1": "2", "p/f2": "2", "p/f3": "3", "p/f4": "4"}
    changed, unpinned, new = script().outdated(found, kept, {"p/f2": {}})
    assert changed.startswith("p/f1: its quick runs differ from those of commit abc, which measured it; run `fourhop")
    assert "--world" not in changed
    assert unpinned.startswith("p/f2: no results of its quick runs are kept; run")
    assert "`fourhop reproduce p/f2 --world all`" in unpinned
    assert new.startswith("p/f4: it was never measured; run")
    assert "`scripts/measured.py pin report-quick p/f4`" in new


def test_every_figure_has_a_fingerprint_of_its_quick_runs() -> None:
    assert [name for name, each in measured.load(ROOT / "papers").items() if "quick" not in each] == []


def test_without_quick_runs_there_is_no_fingerprint(tmp_path: Path) -> None:
    with pytest.raises(FourhopError, match=r"found no quick runs; run `fourhop reproduce --quick --out"):
        measured.fingerprints(tmp_path)


def test_what_is_kept_names_checks_that_there_are() -> None:
    there = {each.name: each.study for each in find.load_all(ROOT / "papers", find.names(ROOT / "papers"))}
    for name, figure in measured.load(ROOT / "papers").items():
        for of in figure["profiles"].values():
            assert set(of["checks"]) == set(there[name].checks), name
            assert set(of["causes"]) == set(there[name].causes), name


def test_the_time_left_counts_what_a_sweep_costs(tmp_path: Path) -> None:
    folder = tmp_path / "papers" / "p"
    folder.mkdir(parents=True)
    (folder / "f1.py").write_text(TINY, encoding="utf-8")
    (tmp_path / "papers" / measured.FILE).write_text(json.dumps(KEPT), encoding="utf-8")
    found = find.load(tmp_path / "papers", "p/f1")
    jobs = {job.profile: job for job in execute.jobs(found, quick=False)}
    cost = measured.Cost(measured.costs([found], full=True), list(jobs.values()))
    assert cost.of(jobs["ns2"]) == 30.0
    # Nothing is known of the other: assume that its six runs take as long as the six of the first.
    assert (cost.of(jobs["standard"]), cost.total_s) == (30.0, 60.0)
    # Without --full, it took less.
    kept = copy.deepcopy(KEPT)
    kept["p/f1"]["profiles"]["ns2"]["needed_s"] = {"chain": 12.5}
    (tmp_path / "papers" / measured.FILE).write_text(json.dumps(kept), encoding="utf-8")
    assert [measured.costs([found], full=full)["p/f1", "ns2", "chain"] for full in (True, False)] == [30.0, 12.5]
    # If nothing is known, each run counts one.
    assert measured.Cost({}, list(jobs.values())).total_s == 12.0


def test_costs_can_be_taken_without_the_results(tmp_path: Path) -> None:
    """Two sweeps took 12 s of processor time together; beside other programs their runs took 7 and 5 s of 24."""
    kept = copy.deepcopy(KEPT)
    sweeps = [
        {"name": name, "runs": 3, "most": 4, "wall_s": wall_s} for name, wall_s in (("chain", 14.0), ("new", 10.0))
    ]
    record = {
        "paper": "p", "figure": "f1", "quick": False, "commit": "abc",
        "profiles": {"ns2": {"outcomes": [], "causes": [], "sweeps": sweeps}},
    }  # fmt: skip
    path = tmp_path / execute.FIGURES / "p" / "f1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    measured.take_costs(tmp_path, kept, 12.0)
    expected = copy.deepcopy(KEPT)
    expected["p/f1"]["profiles"]["ns2"] |= {"cost_s": {"chain": 9.3}, "needed_s": {"chain": 7.0}}
    assert kept == expected
    # Of four runs one was needed: all would take four times as long.
    sweeps[0]["runs"] = 1
    path.write_text(json.dumps(record), encoding="utf-8")
    measured.take_costs(tmp_path, kept, 12.0)
    assert kept["p/f1"]["profiles"]["ns2"]["cost_s"] == {"chain": 28.0}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / measured.FILE).write_text("{", encoding="utf-8")
    with pytest.raises(FourhopError, match=r"measured\.json: cannot be read"):
        measured.load(tmp_path)


def test_only_full_records_are_kept(tmp_path: Path) -> None:
    outcome: dict[str, Any] = {"name": "gain", **KEPT["p/f1"]["profiles"]["ns2"]["checks"]["gain"]}
    profile = {
        "outcomes": [outcome],
        "causes": [],
        "sweeps": [{"name": "chain", "runs": 4, "most": 8, "wall_s": 1.26}],
    }
    for figure, quick in (("f1", False), ("f2", True)):
        record = {"paper": "p", "figure": figure, "quick": quick, "commit": "abc", "profiles": {"ns2": profile}}
        path = tmp_path / execute.FIGURES / "p" / f"{figure}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")
    (kept,) = measured.extract(tmp_path).values()
    assert kept["profiles"]["ns2"]["cost_s"] == {"chain": 2.5}, "what all eight runs would take"
    assert (kept["profiles"]["ns2"]["runs"], kept["profiles"]["ns2"]["most"]) == (4, 8)
    assert kept["profiles"]["ns2"]["checks"]["gain"]["value"] == 1.123
    outcome["look"] = 3
    record = {"paper": "p", "figure": "f3", "quick": False, "commit": "abc", "profiles": {"ns2": profile}}
    (tmp_path / execute.FIGURES / "p" / "f3.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(FourhopError, match="p/f3 that stopped early; run `fourhop reproduce p/f3 --full"):
        measured.extract(tmp_path)


def test_what_we_think_contains_no_measured_number() -> None:
    names = re.compile(r"802\.11\w*|ns-?2|Linux 2\.4|C3TCP|`[^`]*`|RFC \d+|(?:figure|equation|section|table)s? [\d.]+")
    for each in find.load_all(ROOT / "papers", find.names(ROOT / "papers")):
        for check in each.study.checks.values():
            for why in [check.why] if isinstance(check.why, str) else check.why.values():
                assert not re.search(r"\d", names.sub("", why)), (
                    f"{each.name}: {check.name}: what was measured belongs into a cause"
                )
