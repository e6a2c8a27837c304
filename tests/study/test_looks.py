"""Looks at the runs of a study: intervals keep their level, and a decided claim stops the runs it needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from fourhop.errors import FourhopError
from fourhop.stats import CONFIDENCE
from fourhop.study import Sample, peak
from fourhop.study.cells import Cells
from fourhop.study.course import Course
from fourhop.study.estimate import Basis, Estimate
from fourhop.study.execute import Job, jobs, outcome, run
from fourhop.study.find import load
from fourhop.study.looks import LOOKS, Look, levels_at, looks
from fourhop.study.study import Data
from fourhop.sweeps.result import SweepResult
from tests.conftest import ROOT, Command
from tests.study.conftest import record

TRIALS = 2000


@pytest.mark.parametrize("runs", [*range(1, 30), 40, 80, 500])
def test_looks_are_in_order_and_have_enough_runs(runs: int) -> None:
    made = looks(runs)
    assert len(made) == LOOKS
    assert (made[-1].runs, made[-1].share) == (runs, 1.0)
    assert all(early.runs <= late.runs for early, late in itertools.pairwise(made))
    assert made[0].runs == min(3, runs)
    assert 1.0 - CONFIDENCE >= 1.0 - made[-1].confidence >= (0.6 if runs <= 40 else 0.45) * (1.0 - CONFIDENCE)
    assert all(early.confidence >= late.confidence for early, late in itertools.pairwise(made))


def test_the_documents_give_the_looks_and_the_last_level() -> None:
    page = " ".join((ROOT / "docs" / "add-a-figure.md").read_text(encoding="utf-8").split())
    counts = [str(look.runs) for look in looks(40)]
    assert f"with 40 runs, at {', '.join(counts[:-1])} and {counts[-1]}." in page
    assert f"with 20 runs, the level of the last is {100.0 * looks(20)[-1].confidence:.1f} %" in page


FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0)


@pytest.mark.parametrize(
    ("spent", "bounds"),
    [
        # Per side, 2 - 2 Φ(Φ⁻¹(1 - 0.0125) / √t): bounds like those of O'Brien and Fleming.
        (lambda t: 4.0 * ndtr(ndtri(0.0125) / math.sqrt(t)), (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        # Per side, 0.025 ln(1 + (e - 1) t): bounds like those of Pocock.
        (lambda t: 0.05 * math.log(1.0 + (math.e - 1.0) * t), (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)),
    ],
)
def test_levels_are_those_of_published_tables(spent: Callable[[float], float], bounds: Sequence[float]) -> None:
    """Lan and DeMets (1983), five equal steps, two sides of 2.5 %, to four decimals as in Reboussin et al. (2000)."""
    levels = levels_at(FIFTHS, tuple(map(spent, FIFTHS)))
    assert [-ndtri((1.0 - level) / 2.0) for level in levels] == pytest.approx(bounds, abs=2e-4)


def first_runs(values: np.ndarray, look: Look) -> Sample:
    return Sample(
        tuple(values[: look.runs]), tuple(range(look.runs)), basis=Basis(look.confidence, look.share, frozenset())
    )


def misses(estimates: Sequence[Estimate], truth: float) -> bool:
    """Whether an interval of any look misses the truth, so that a claim could be decided falsely there."""
    return any(it.low is not None and it.high is not None and not it.low <= truth <= it.high for it in estimates)


@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("what", ["mean", "difference", "ratio", "peak"])
def test_with_looks_an_interval_misses_as_rarely_as_it_says(runs: int, what: str) -> None:
    """Under the null, with the looks of a study: a claim decided at any of them is false in 5 % of the studies."""
    drawn = np.random.default_rng(1)
    # A third of the variance comes from the seed, which two points share.
    shared = drawn.normal(0.0, 0.5, (TRIALS, runs))
    one, other = (10.0 + shared + drawn.normal(0.0, 0.7, (TRIALS, runs)) for _ in range(2))

    def estimate(trial: int, look: Look) -> Estimate:
        first, second = first_runs(one[trial], look), first_runs(other[trial], look)
        return {
            "mean": lambda: first.estimate,
            "difference": lambda: first - second,
            "ratio": lambda: first / second,
            "peak": lambda: peak([first.estimate, second.estimate]),
        }[what]()

    truth = {"mean": 10.0, "difference": 0.0, "ratio": 1.0, "peak": 10.0}[what]
    each = [[estimate(trial, look) for look in looks(runs)] for trial in range(TRIALS)]
    errors = sum(misses(estimates, truth) for estimates in each) / TRIALS
    # Allow three standard errors of the count; the intervals must not be far too wide, either.
    assert errors <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / TRIALS)
    assert errors >= (0.005 if what == "peak" else 0.03)
    # Looks without alpha spending would miss more often; the simulation can tell.
    careless = [[replace(it, basis=None) for it in estimates] for estimates in each]
    if what != "peak" and runs >= 10:
        assert sum(misses(estimates, truth) for estimates in careless) / TRIALS > 0.07


@pytest.mark.parametrize("met", [4, 15, 60])
def test_intervals_keep_their_level_if_a_precision_target_ends_the_runs(met: int) -> None:
    """The looks of up to 400 runs, where no run follows the `met`th: the last runs are then asked again and again."""
    values = 10.0 + np.random.default_rng(2).normal(0.0, 1.0, (TRIALS, met))

    def missed(trial: int) -> bool:
        samples = [
            first_runs(values[trial], Look(min(look.runs, met), look.confidence, look.share)) for look in looks(400)
        ]
        return misses([sample.estimate for sample in samples], 10.0)

    errors = sum(map(missed, range(TRIALS))) / TRIALS
    assert 0.01 <= errors <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / TRIALS)


STUDY = '''\
"""One to three hops."""

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, lines

study = Study("Looks", source="nowhere", profiles=("ns2",))


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, duration="4s", warmup="1s")
    return Sweep(base, {"topology.hops": [1, 2, 3, 4]}, runs=12)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput, with intervals."""
    return lines(data.chain, x="hops")


@study.check("One hop carries more than three", paper="more")
def more(data: Data) -> Claim:
    return above(data.chain.goodput(hops=1) / data.chain.goodput(hops=3), 1.5)


@study.check("Four hops carry what they carry", paper="what it says")
def close(data: Data) -> Claim:
    return above(data.chain.goodput(hops=4), {bound})
'''

WITHOUT_INTERVAL = """
@study.check("Two hops carry something", paper="something")
def something(data: Data) -> Claim:
    return Claim("above 0", data.chain.goodput(hops=2).mean > 0.0, "by its value")
"""


def counts(out: Path) -> dict[int, int]:
    """Number of runs by hop count."""
    import polars as pl

    runs = pl.read_parquet(out / "data" / "some-paper" / "looks" / "ns2-chain-runs.parquet")
    return dict(runs.group_by("topology.hops").len().sort("topology.hops").iter_rows())


def test_points_get_the_runs_that_their_checks_need(papers: Path, fourhop: Command) -> None:
    study = papers / "some-paper" / "looks.py"
    study.write_text(STUDY.replace("{bound}", "0.0"), encoding="utf-8")
    full, out = papers.parent / "full", papers.parent / "few"
    assert fourhop("reproduce", "some-paper/looks", "--full", "--out", full).returncode == 0
    assert counts(full) == dict.fromkeys(range(1, 5), 12)
    whole = record(full, "some-paper/looks")["profiles"]["ns2"]
    assert "look" not in whole["outcomes"][0]
    # No number of runs decides a claim at this bound, so it is given up; a claim without an interval waits for all.
    bound = repr(whole["outcomes"][1]["value"])
    study.write_text(STUDY.replace("{bound}", bound) + WITHOUT_INTERVAL, encoding="utf-8")
    done = fourhop("reproduce", "some-paper/looks", "--out", out, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    made = record(out, "some-paper/looks")["profiles"]["ns2"]
    assert [each["verdict"] for each in made["outcomes"]] == ["reproduced", "not reproduced", "reproduced"]
    stopped, given_up, last = (looks(12)[each["look"] - 1].runs for each in made["outcomes"])
    assert counts(out) == {1: stopped, 2: last, 3: stopped, 4: given_up}
    assert max(stopped, given_up) < last == 12
    assert made["sweeps"][0]["runs"] < made["sweeps"][0]["most"] == 48
    # The same result from stored runs, and with other threads.
    again = fourhop("reproduce", "some-paper/looks", "--out", out, "--jobs", "1")
    assert again.returncode == 0, again.stderr
    repeated = record(out, "some-paper/looks")["profiles"]["ns2"]
    assert repeated["outcomes"] == made["outcomes"]
    assert repeated["sweeps"][0]["reused"] == made["sweeps"][0]["runs"]
    assert made["sweeps"][0]["reused"] == 0


def test_a_precision_target_is_expected_to_need_what_it_took(papers: Path, fourhop: Command) -> None:
    text = STUDY.replace("{bound}", "0.0").replace("runs=12", 'precision="60%", max_runs=500')
    (papers / "some-paper" / "looks.py").write_text(text, encoding="utf-8")
    out = papers.parent / "out"
    assert fourhop("reproduce", "some-paper/looks", "--full", "--out", out).returncode == 0
    (sweep,) = record(out, "some-paper/looks")["profiles"]["ns2"]["sweeps"]
    assert sweep["most"] == sweep["runs"] == sum(counts(out).values()) < 500


def test_a_check_that_turns_to_a_stopped_point_gets_its_runs(papers: Path, tmp_path: Path) -> None:
    """The check looks at three hops only after it has seen more than the first runs of one hop."""
    text = STUDY.replace(
        "    return above(data.chain.goodput(hops=4), {bound})",
        "    one = data.chain.goodput(hops=1)\n"
        "    other = data.chain.goodput(hops=4 if len(one.values) > 3 else 1)\n"
        "    gap = one - other\n"
        # Neither decided nor given up before the last look.
        "    return above(gap, 1e9 if len(one.values) > 11 else (gap.value + gap.low) / 2.0)",
    )
    (papers / "some-paper" / "looks.py").write_text(text, encoding="utf-8")
    found = load(papers, "some-paper/looks")
    asked: list[tuple[int, ...]] = []

    def counted(job: Job, runs: Sequence[int]) -> SweepResult:
        asked.append(tuple(runs))
        return run(job, tmp_path / "out", runs)

    course = Course(found.study, "ns2", jobs(found, quick=False), counted)
    results = course.finish()
    (job,) = jobs(found, quick=False)
    check = found.study.checks["close"]
    assert course.outcomes[check]["look"] == LOOKS
    last = asked[-1]
    assert (last[0], last[3]) == (12, 12)
    data = Data("ns2", {"chain": Cells.of(results["chain"], "chain").at(looks(12)[-1])})
    assert {**outcome(check, data), "look": LOOKS} == course.outcomes[check]
    assert job.most == 12


def test_a_study_of_one_run_a_point_is_run(papers: Path, tmp_path: Path) -> None:
    text = STUDY.replace("{bound}", "0.0").replace("runs=12", "runs=1")
    (papers / "some-paper" / "looks.py").write_text(text, encoding="utf-8")
    found = load(papers, "some-paper/looks")
    work = jobs(found, quick=False)
    course = Course(found.study, "ns2", work, lambda job, runs: run(job, tmp_path / "out", runs))
    assert [len(each.runs) for each in course.finish()["chain"].per_point] == [1, 1, 1, 1]


@pytest.mark.parametrize("mistake", ["1 / 0", "None + 1", "nothing"])
def test_a_check_that_few_runs_cannot_answer_gets_more(papers: Path, tmp_path: Path, mistake: str) -> None:
    """An error with few runs leaves the check open; an error with all runs is reported."""
    text = STUDY.replace("{bound}", f"0.0 if len(data.chain.goodput(hops=4).values) > LEAST else {mistake}")
    for least, expected in ((6, 7), (12, None)):
        path = papers / "some-paper" / "looks.py"
        path.write_text(text.replace("LEAST", str(least)), encoding="utf-8")
        found = load(papers, "some-paper/looks")
        work = jobs(found, quick=False)
        course = Course(found.study, "ns2", work, lambda job, runs: run(job, tmp_path / "out", runs))
        if expected is None:
            with pytest.raises(FourhopError, match="check close, profile ns2"):
                course.finish()
        else:
            result = course.finish()["chain"]
            assert [len(each.runs) for each in result.per_point][3] == expected
            assert course.outcomes[found.study.checks["close"]]["verdict"] == "reproduced"
