"""The rule for comparing results with those of ns-2, the reading of a reference, and a short comparison."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourhop import agreement, validate
from fourhop.errors import FourhopError
from fourhop.validate import Side, below_capacity, judge, read_reference, select, side, tolerance
from tests.conftest import HANGS, Command, environment

CHAIN = "rate 2\nwindow 64\nnode 0 0\nnode 200 0\nflow 0 1 1\n"


def one(*kbps: float) -> Side:
    """Runs with one flow."""
    return side([[rate] for rate in kbps])


def reference(folder: Path, entries: object, **scenarios: str) -> Path:
    """Write a reference folder."""
    (folder / "scenarios").mkdir(parents=True, exist_ok=True)
    text = entries if isinstance(entries, str) else json.dumps(entries)
    (folder / "results.json").write_text(text, encoding="utf-8")
    for name, lines in scenarios.items():
        (folder / "scenarios" / f"{name}.txt").write_text(lines, encoding="utf-8")
    return folder


def entry(**keys: Any) -> dict[str, Any]:
    """NewReno over one hop for 20 s."""
    return {
        "scenario": "hop",
        "transport": "newreno",
        "duration_s": 20,
        "warmup_s": 2.0,
        "goodput_kbps_per_run": [[1257.0], [1258.0]],
    } | keys


# ---- one flow ----


def test_means_within_five_per_cent_agree_without_intervals() -> None:
    assert judge(one(100.0), one(105.0), hops=4).agree
    assert judge(one(100.0), one(95.0), hops=4).agree
    assert not judge(one(100.0), one(105.1), hops=4).agree
    assert not judge(one(100.0), one(94.9), hops=4).agree


def test_identical_runs_have_no_width_and_no_mercy() -> None:
    assert one(100.0, 100.0, 100.0).goodput.half_width == 0.0
    assert judge(one(100.0, 100.0), one(101.0, 101.0), uncontended=True).agree
    assert not judge(one(100.0, 100.0), one(101.1, 101.1), uncontended=True).agree


def test_overlapping_intervals_agree_however_far_the_means_are() -> None:
    # t(2) = 4.303: half-widths 24.84 and 12.42 (standard deviations 10 and 5).
    ns2, ours = one(90.0, 100.0, 110.0), one(130.0, 135.0, 140.0)
    assert judge(ns2, ours, hops=4).agree
    assert judge(ns2, ours, hops=4).reason == "intervals overlap"
    assert not judge(ns2, one(133.0, 138.0, 143.0), hops=4).agree


def test_one_sided_interval_may_reach_the_other_mean() -> None:
    assert judge(one(90.0, 100.0, 110.0), one(124.0), hops=4).agree
    assert not judge(one(90.0, 100.0, 110.0), one(126.0), hops=4).agree


def test_tolerance_depends_on_hops_and_contention() -> None:
    assert [tolerance(hops, uncontended=False) for hops in (1, 8, 9, 16, None)] == [0.05, 0.05, 0.10, 0.10, 0.05]
    assert tolerance(16, uncontended=True) == 0.01
    assert judge(one(100.0), one(109.0), hops=9).agree
    assert not judge(one(100.0), one(109.0), hops=8).agree


def test_a_dead_flow_agrees_with_a_dead_flow_only() -> None:
    assert judge(one(0.0, 0.0), one(0.0, 0.0), hops=2).agree
    assert not judge(one(0.0, 0.0), one(1.0, 1.0), hops=2).agree
    assert not judge(one(1.0, 1.0), one(0.0, 0.0), hops=2).agree


def test_udp_is_below_capacity_from_99_5_per_cent_on() -> None:
    assert below_capacity(99.5, 100.0)
    assert not below_capacity(99.4, 100.0)


# ---- several flows ----


def test_several_flows_need_aggregate_and_fairness() -> None:
    ns2 = side([[100.0, 100.0]])
    assert judge(ns2, side([[110.0, 110.0]])).agree
    assert not judge(ns2, side([[111.0, 111.0]])).agree
    # The same aggregate, shared 1 to 3, so Jain's index is 0.8.
    unfair = judge(ns2, side([[50.0, 150.0]]))
    assert not unfair.agree
    assert "Jain's index -0.200" in unfair.reason


def test_hops_and_capacity_mean_nothing_to_several_flows() -> None:
    assert judge(side([[100.0, 100.0]]), side([[108.0, 108.0]]), hops=2, uncontended=True).agree


def test_fairness_may_agree_by_interval_or_by_difference() -> None:
    ns2 = side([[50.0, 150.0], [100.0, 100.0]])
    assert judge(ns2, side([[190.0, 10.0], [90.0, 110.0]])).agree
    # Indices 1 and 0.9615: 0.0385 apart, both intervals without width.
    assert judge(side([[100.0, 100.0]]), side([[80.0, 120.0]])).agree


def test_jain_is_left_out_of_runs_that_delivered_nothing() -> None:
    assert side([[0.0, 0.0]]).jain is None
    assert judge(side([[0.0, 0.0]]), side([[0.0, 0.0]])).agree
    assert not judge(side([[0.0, 0.0]]), side([[1.0, 1.0]])).agree


# ---- reading ----


def test_optional_keys_may_be_missing_and_others_are_ignored(tmp_path: Path) -> None:
    plain = {"scenario": "a", "transport": "udp", "duration_s": 300.5, "received_kbps": [1, 2.5], "note": "x"}
    (read,) = read_reference(reference(tmp_path, [plain]))
    assert read.runs == ((1.0,), (2.5,))
    assert read.warmup_s is None
    assert read.name == "a/udp"
    assert read.path == tmp_path / "scenarios" / "a.txt"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("[1,\n", "results.json:2:1: not JSON"),
        ("{}", "results.json: found an object, allowed: a list of entries"),
        ("[]", "results.json: found an empty list, allowed"),
        ([3], "results.json: [0]: found a number, allowed: an object"),
        ([entry(), entry(transport=None)], "results.json: [1].transport: found null, allowed: the name"),
        ([entry(scenario="../x")], '[0].scenario: found "../x", allowed: the name of a file in scenarios/'),
        ([entry(duration_s="500")], '[0].duration_s: found "500", allowed: simulated seconds above 0'),
        ([entry(duration_s=True)], "[0].duration_s: found true, allowed"),
        ([entry(warmup_s=20)], "[0].warmup_s: found 20, allowed: seconds, from 0 to below duration_s"),
        ([entry(goodput_kbps_per_run=[])], "[0].goodput_kbps_per_run: found [], allowed: for each run"),
        ([entry(goodput_kbps_per_run=[[1.0], [1.0, 2.0]])], "[0].goodput_kbps_per_run: found [[1.0], [1.0, 2.0]]"),
        ([entry(goodput_kbps_per_run=[[-1.0]])], "[0].goodput_kbps_per_run: found [[-1.0]]"),
        ([entry(goodput_kbps_per_run=[[float("nan")]])], "[0].goodput_kbps_per_run: found [[NaN]]"),
        ([{"scenario": "a", "transport": "b"}], "[0].duration_s: missing, allowed"),
        ([{"scenario": "a", "transport": "b"}], "[0]: found neither goodput_kbps_per_run nor received_kbps"),
    ],
)
def test_a_bad_results_file_is_named_with_key_found_and_allowed(tmp_path: Path, entries: object, message: str) -> None:
    with pytest.raises(FourhopError) as raised:
        read_reference(reference(tmp_path, entries))
    assert message in str(raised.value)


def test_a_bad_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FourhopError, match="nowhere: missing, allowed: a folder with"):
        read_reference(tmp_path / "nowhere")
    with pytest.raises(FourhopError, match=r"results\.json: cannot be read: No such file"):
        read_reference(tmp_path)


def test_patterns_match_a_part_or_by_wildcards(tmp_path: Path) -> None:
    found = read_reference(reference(tmp_path, [entry(), entry(scenario="chain4"), entry(transport="vegas")]))

    def names(*patterns: str) -> list[str]:
        return [each.name for each in select(found, patterns)]

    assert names() == ["hop/newreno", "chain4/newreno", "hop/vegas"]
    assert names("chain") == ["chain4/newreno"]
    assert names("hop/*") == ["hop/newreno", "hop/vegas"]
    assert names("vegas", "chain4") == ["chain4/newreno", "hop/vegas"]
    with pytest.raises(FourhopError, match="--only: found westwood, allowed"):
        names("westwood")


# ---- running ----


def test_more_seeds_run_until_the_interval_is_tight(tmp_path: Path) -> None:
    steady = reference(tmp_path / "a", [entry()], hop=CHAIN)
    (row,) = agreement.Agreement(read_reference(steady)).run()
    assert row.ours is not None
    assert len(row.ours.runs) == agreement.FIRST_SEEDS
    # Seven hops in a few seconds scatter by more than 2 %, whatever the seeds.
    chain = "rate 2\n" + "".join(f"node {200 * n} 0\n" for n in range(8)) + "flow 0 7 7\n"
    rough = reference(tmp_path / "b", [entry(duration_s=5, warmup_s=1)], hop=chain)
    (row,) = agreement.Agreement(read_reference(rough)).run()
    assert row.ours is not None
    assert len(row.ours.runs) == agreement.MOST_SEEDS


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    found = read_reference(reference(tmp_path, [entry(), entry(duration_s=10)], hop=CHAIN))
    rows = [agreement.Agreement(found, seeds=3, jobs=jobs).run() for jobs in (1, 5)]
    assert rows[0] == rows[1]


def test_udp_counts_headers_from_the_start_of_its_flow(tmp_path: Path) -> None:
    lines = CHAIN.replace("flow 0 1 1", "udp 0 1 400 1000 1.0 10000")
    # 50 packets/s of 1000 + 20 bytes.
    udp = {"scenario": "hop", "transport": "udp", "duration_s": 21, "received_kbps": [408.0, 408.0]}
    (row,) = agreement.Agreement(read_reference(reference(tmp_path, [udp], hop=lines)), seeds=2).run()
    assert row.verdict == "agree"
    assert row.allowed == validate.UNCONTENDED
    assert row.ours is not None
    assert row.ours.goodput.mean == pytest.approx(408.0, rel=2e-3)


def test_a_window_of_one_agrees_to_one_per_cent(tmp_path: Path) -> None:
    lines = CHAIN.replace("window 64", "window 1")
    far = entry(goodput_kbps_per_run=[[1000.0], [1000.0]])
    (row,) = agreement.Agreement(read_reference(reference(tmp_path, [far], hop=lines)), seeds=1).run()
    assert row.allowed == validate.UNCONTENDED
    assert row.verdict == "differ"
    assert row.ours is not None
    kept = entry(goodput_kbps_per_run=[[0.992 * row.ours.goodput.mean]])
    (row,) = agreement.Agreement(read_reference(reference(tmp_path, [kept], hop=lines)), seeds=1).run()
    assert (row.verdict, row.reason) == ("agree", "+0.8%, allowed 1%")


def test_a_bad_scenario_spoils_its_own_entry_only(fourhop: Command, tmp_path: Path) -> None:
    entries = [
        entry(),
        entry(scenario="gone"),
        entry(scenario="typo"),
        entry(scenario="two"),
        entry(transport="tcp-next"),
    ]
    two = CHAIN + "flow 1 0 1\n"
    folder = reference(tmp_path / "ref", entries, hop=CHAIN, typo=CHAIN.replace("flow", "flaw"), two=two)
    result = fourhop("validate", "ns2", "--reference", folder, "--seeds", "2", "--json")
    assert result.returncode == 2, result.stderr
    printed = json.loads(result.stdout)
    assert [row["verdict"] for row in printed["rows"]] == ["agree", "error", "error", "error", "not built"]
    assert "gone.txt: cannot be read" in printed["rows"][1]["reason"]
    assert "typo.txt:5:1: flaw: found an unknown statement" in printed["rows"][2]["reason"]
    assert "found 2 flows, allowed: 1" in printed["rows"][3]["reason"]
    assert printed["verdicts"] == {"agree": 1, "differ": 0, "not built": 1, "error": 3}
    assert "gone/newreno: error:" in result.stderr


def test_the_table_and_the_exit_code_say_what_differs(fourhop: Command, tmp_path: Path) -> None:
    entries = [entry(), entry(goodput_kbps_per_run=[[900.0], [901.0]]), entry(transport="tcp-next")]
    folder = reference(tmp_path / "ref", entries, hop=CHAIN)
    result = fourhop("validate", "ns2", "--reference", folder, "--seeds", "2")
    assert result.returncode == 1, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["scenario", "transport", "ns-2", "kbit/s", "fourhop", "ratio", "verdict"]
    assert [line.split()[-1] for line in lines[1:4]] == ["agree", "differ", "built"]
    assert "3 entries: 1 agree, 1 differ, 1 not built" in result.stdout
    assert "hop/newreno: differ: +40" in result.stdout
    # Either of the two may finish first.
    assert re.search(r"[23] of 3 entries: hop/newreno: agree, ratio 1\.0", result.stderr)


def test_bad_options_are_refused(fourhop: Command, tmp_path: Path) -> None:
    for arguments, message in (
        (["--reference", tmp_path / "nowhere"], "nowhere: missing, allowed: a folder"),
        (["--seeds", "0"], "seeds: found 0, allowed: 1 to"),
        (["--jobs", "0"], "jobs: found 0, allowed: 1 to"),
        (["--only", "nothing-like-it"], "--only: found nothing-like-it"),
    ):
        result = fourhop("validate", "ns2", *arguments)
        assert result.returncode == 2, result.stderr
        assert message in result.stderr
        assert result.stdout == ""
        assert "Traceback" not in result.stderr


def test_ctrl_c_keeps_the_entries_that_finished(tmp_path: Path) -> None:
    entries = [entry(), entry(scenario="long", duration_s=1_000_000)]
    folder = reference(tmp_path / "ref", entries, hop=CHAIN, long=CHAIN)
    command = [sys.executable, "-m", "fourhop.cli", "validate", "ns2", "--reference", str(folder), "--seeds", "1"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=HANGS)
    assert "1 of 2 entries: hop/newreno" in first
    assert process.returncode == 130
    assert "interrupted: 1 of 2 entries finished" in errors
    assert "2 entries: 1 agree, 0 differ, 0 not built, 1 not finished" in output


# ---- agreement ----


def test_the_reference_we_bring_is_whole() -> None:
    entries = read_reference()
    assert {each.transport for each in entries} == {"newreno", "sack", "vegas", "rbp", "udp"}
    comparison = agreement.Agreement(entries, seeds=1)
    assert not [row for row in comparison.rows if row.verdict == "error"]
    used = {each.path.name for each in entries}
    assert used == {path.name for path in (entries[0].path.parent).glob("*.txt")}


SHORT = (
    "chain3_2m/*",
    "chain5_11m/*",
    "chain10_2m/*",
    "chain6_2m_240m/*",
    "chain9_2m_w3/*",
    "parallel4_2m/*",
    "udp*/*",
)
"""A short chain, a fast one, a long one, long hops, a small window, several flows, UDP below and above capacity."""


def test_a_short_comparison_with_ns2_agrees() -> None:
    entries = select(read_reference(), SHORT)
    rows = agreement.Agreement(entries, seeds=6, duration_s=100.0).run()
    assert len(rows) == len(entries)
    assert [f"{row.entry.name}: {row.reason}" for row in rows if row.verdict in ("differ", "error")] == []
    assert sum(row.verdict == "agree" for row in rows) >= 10
    # Wide intervals satisfy the rule, so also check that no mean is far off.
    assert all(row.ratio is None or 0.85 < row.ratio < 1.15 for row in rows)


def test_the_reference_goes_where_the_package_goes(tmp_path: Path) -> None:
    copied = tmp_path / "ref"
    shutil.copytree(Path(validate.__file__).parent / "data" / "ns2", copied)
    assert [each.name for each in read_reference(copied)] == [each.name for each in read_reference()]
