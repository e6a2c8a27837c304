"""Draws and causes in the course of a study: neither gets more runs than its checks need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import fourhop
from fourhop import Scenario, Sweep
from fourhop.errors import FourhopError
from fourhop.study.cells import Cells
from fourhop.study.course import Course
from fourhop.study.draws import Draws
from fourhop.study.execute import Job, jobs, record, run
from fourhop.study.find import load
from fourhop.study.looks import looks
from fourhop.sweeps.result import SweepResult

STUDY = '''\
"""One flow over networks that differ by chance."""

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, above, lines, table

study = Study("Draws", source="nowhere", profiles=("ns2",))


@study.sweep_over("topology.seed")
def networks(profile: Profile) -> Sweep:
    base = Scenario.random(nodes=6, width="300m", height="300m", pairs=1, profile=profile, duration="2s")
    slow = base.with_(**{"radio.rate": "1Mbps"})
    return Sweep(variants={"fast": base, "slow": slow, "shown": base}, over={"topology.seed": range(1, 13)})


@study.sweep
def why(profile: Profile) -> Sweep:
    return Sweep(Scenario.chain(hops=1, profile=profile, duration="2s"), runs=12)


@study.chart
def shown(data: Data) -> Chart:
    """Goodput."""
    return table(["goodput"], [(data.networks.goodput(variant="shown"),)])


@study.cause("one hop carries something")
def carries(data: Data) -> Claim:
    return above(data.why.goodput(), 1.0)


@study.cause("nobody asks about it")
def idle(data: Data) -> Claim:
    return above(data.why.goodput(), 1.0)


@study.check("The fast one carries more", paper="more", because="carries")
def more(data: Data) -> Claim:
    return above(data.networks.goodput(variant="fast") / data.networks.goodput(variant="slow"), {bound})
'''


def ran(papers: Path, out: Path, bound: float) -> tuple[Course, dict[str, SweepResult]]:
    (papers / "some-paper" / "draws.py").write_text(STUDY.replace("{bound}", repr(bound)), encoding="utf-8")
    found = load(papers, "some-paper/draws")

    def counted(job: Job, runs: Sequence[int]) -> SweepResult:
        return run(job, out, runs)

    course = Course(found.study, "ns2", jobs(found, quick=False), counted)
    results = course.finish()
    made = record(found, {("ns2", name): each for name, each in results.items()}, out, quick=False,
                  decided={"ns2": course.outcomes})  # fmt: skip
    (check,) = made["profiles"]["ns2"]["outcomes"]
    assert [each["name"] for each in made["profiles"]["ns2"]["causes"]] == check["because"]
    return course, results


def test_a_study_draws_as_many_networks_as_its_checks_need(papers: Path, tmp_path: Path) -> None:
    course, results = ran(papers, tmp_path, 1.05)
    (check,) = course.outcomes.values()
    assert check["verdict"] == "reproduced"
    asked = looks(12)[check["look"] - 1].runs
    networks = results["networks"].runs.group_by("variant").len()
    assert dict(networks.iter_rows()) == {"fast": asked, "slow": asked, "shown": 3}
    assert asked < 12
    # The check is reproduced, so nobody asks why not.
    assert results["why"].runs.height == 3


def test_a_cause_is_decided_if_a_check_needs_it(papers: Path, tmp_path: Path) -> None:
    course, results = ran(papers, tmp_path, 50.0)
    check, cause = course.outcomes.values()
    assert (check["verdict"], cause["verdict"]) == ("not reproduced", "reproduced")
    assert (check["name"], cause["name"]) == ("more", "carries")
    assert results["why"].runs.height == looks(12)[cause["look"] - 1].runs


def test_draws_are_measured_together() -> None:
    base = Scenario.random(nodes=6, width="300m", height="300m", pairs=1, duration="2s")
    sweep = Sweep(base, {"transport": ["newreno", "vegas"], "topology.seed": [5, 3, 8]})
    result = fourhop.sweep(sweep)
    cells = Cells.of(result, "networks", Draws(sweep, "topology.seed"))
    together = cells.goodput(transport="vegas")
    each = [cells.goodput(transport="vegas", seed=seed).mean for seed in (5, 3, 8)]
    assert (together.values, together.units) == (tuple(each), (5, 3, 8))
    assert together.basis is not None
    assert together.basis.points == {("networks", 3)}
    first = cells.at(looks(12)[0])
    assert len(first.goodput(transport="vegas").values) == 3
    with pytest.raises(FourhopError, match="found 6 points, allowed: one; also select transport"):
        cells.goodput()
    with pytest.raises(FourhopError, match="found 3 draws, allowed: one"):
        cells.counter("route", ["rreq_sent"], transport="vegas")


def test_what_cannot_be_drawn_is_named() -> None:
    chain = Scenario.chain(hops=1)
    with pytest.raises(FourhopError, match=r"draws: found 'topology.seed', allowed: a key of over: topology\.hops"):
        Draws(Sweep(chain, {"topology.hops": [1, 2]}), "topology.seed")
    with pytest.raises(FourhopError, match="draws: found 2 runs of each draw, allowed: one"):
        Draws(Sweep(chain, {"topology.hops": [1, 2]}, runs=2), "topology.hops")


@pytest.mark.parametrize(("precision", "share"), [("50%", 1.0), (1e-6, 3 / 500)])
def test_a_point_that_met_its_precision_needs_no_more_runs(precision: str | float, share: float) -> None:
    """With a precision target, the share of the runs follows from the precision so far."""
    sweep = Sweep(Scenario.chain(hops=2, duration="2s"), precision=precision, max_runs=3)
    sample = Cells.of(fourhop.sweep(sweep)).at(looks(500)[0]).goodput()
    assert sample.basis is not None
    assert sample.basis.share == pytest.approx(share)
