"""Runs everything that is tried with the same seeds, and holds each change against today."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fourhop import stats
from fourhop.limits import RUNS_LIMIT, within
from fourhop.scenario import Scenario
from fourhop.study.cells import Cells, Run
from fourhop.study.estimate import Estimate, Sample
from fourhop.study.flows import STARVING
from fourhop.whatif.tries import PLACES, TODAY, Tries, Try, tries

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress
    from fourhop.sweeps.result import SweepResult

RUNS = 10
"""Runs of everything, unless told otherwise."""

Better = Literal["more", "less"]


@dataclass(frozen=True)
class Group:
    """Flows that are looked at together."""

    name: str
    label: str
    """As it is used in a sentence, as `the farthest third of nodes`."""
    flows: tuple[str, ...]
    hops: tuple[int, int] | None
    """The fewest and the most."""


@dataclass(frozen=True)
class Measure:
    """What is compared."""

    name: str
    label: str
    unit: str
    better: Better
    of: Callable[[Run], float]
    group: Group | None = None


@dataclass(frozen=True)
class Effect:
    """One measure with one change, beside today."""

    measure: Measure
    ours: Sample
    today: Sample

    @cached_property
    def ratio(self) -> Estimate:
        """The mean with the change over that of today."""
        return self.ours / self.today

    @cached_property
    def difference(self) -> Estimate:
        """The mean with the change less that of today."""
        return self.ours - self.today

    @property
    def differs(self) -> bool:
        """Does the interval of the difference leave out zero?"""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)

    @property
    def good(self) -> bool | None:
        """Is it better than today? `None`: nothing that these runs show."""
        if not self.differs:
            return None
        return (self.difference.value > 0.0) == (self.measure.better == "more")

    def to_dict(self) -> dict[str, Any]:
        """For machines."""

        def ends(estimate: Estimate) -> dict[str, float | None]:
            known = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            return {key: None if x is None or not math.isfinite(x) else x for key, x in known.items()}

        return {
            "measure": self.measure.name,
            "unit": self.measure.unit,
            "mean": _finite(self.ours.mean),
            "today": _finite(self.today.mean),
            "ratio": ends(self.ratio),
            "difference": ends(self.difference),
            "differs": self.differs,
            "better": self.good,
        }


@dataclass(frozen=True)
class Answer:
    """What was measured of everything that was tried."""

    scenario: Scenario
    tried: Tries
    groups: tuple[Group, ...]
    measures: tuple[Measure, ...]
    effects: Mapping[str, tuple[Effect, ...]]
    """Of each change, one for each measure."""
    result: SweepResult

    @property
    def ranked(self) -> list[Try]:
        """The changes, what helps the slowest most first: by the last group of nodes, of which the farthest are."""
        return sorted(self.tried.changes, key=lambda each: -_order(self.effects[each.name]))

    @property
    def seeds(self) -> list[int]:
        """Of the runs."""
        return [int(seed) for seed in self.result.runs["seed"].unique().sort()]

    def today(self, measure: Measure) -> Sample:
        """What is measured without a change."""
        return _cells(self.result, TODAY).measure(measure.of, measure.unit)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        from fourhop._core import version
        from fourhop.whatif.words import headline, sentences, today, verdict

        flows = _cells(self.result, TODAY)
        return {
            "scenario": self.scenario.name,
            "fourhop": version(),
            "seeds": self.seeds,
            "duration_s": self.scenario.duration_s,
            "nodes": len(self.tried.network.places),
            "links": len(self.tried.network.pairs),
            "gateways": self.tried.network.gateways,
            "groups": [{"name": g.name, "flows": list(g.flows), "hops": g.hops} for g in self.groups],
            "words": headline(self),
            "today": {
                "what": self.tried.today.what,
                "words": today(self),
                "measures": {
                    each.name: {"mean": _finite(self.today(each).mean), "unit": each.unit,
                                "half_width": self.today(each).interval.half_width}
                    for each in self.measures
                },
                "first_run": {name: row["goodput_bps"] for name, row in flows.runs[0].flows.items()},
            },
            "changes": [
                {
                    "name": each.name,
                    "label": each.label,
                    "what": each.what,
                    "verdict": verdict(self.effects[each.name]),
                    "words": sentences(self, each),
                    "effects": [effect.to_dict() for effect in self.effects[each.name]],
                }
                for each in self.ranked
            ],
            "left_out": [{"label": label, "why": why} for label, why in self.tried.left_out],
        }  # fmt: skip


def ask(
    given: Scenario,
    *,
    runs: int = RUNS,
    places: int = PLACES,
    seed: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Answer:
    """Try everything on the network of a scenario, each with the same seeds.

    Args:
        given: the scenario; its transports and what its gateway does are replaced.
        runs: runs of each; at least two, as there is no interval of one.
        places: places for a gateway that are tried.
        seed: seed of the first run; the scenario's if not given.
        out: folder to keep the runs in: the same call goes on where it was interrupted.
        jobs: runs at a time; all cores if not given.
        progress: called a few times a second with a `SweepProgress`.

    Raises what `fourhop.sweep` raises.
    """
    from fourhop.sweeps.describe import Sweep
    from fourhop.sweeps.execute import sweep

    within("runs", runs, 2, RUNS_LIMIT)
    within("places", places, 0, 100)
    tried = tries(given, places)
    described = Sweep(
        variants={each.name: each.scenario for each in tried.all}, runs=runs, seed=seed, name="whatif", source=""
    )
    result = sweep(described, out=out, jobs=jobs, progress=progress)
    today = _cells(result, TODAY)
    groups = _groups(today)
    measures = (*(_speed(group) for group in groups), *_whole(len(groups[0].flows)))
    effects = {
        each.name: tuple(_effect(measure, _cells(result, each.name), today) for measure in measures)
        for each in tried.changes
    }
    return Answer(given, tried, groups, measures, effects, result)


def _cells(result: SweepResult, name: str) -> Cells:
    return Cells.of(result, "whatif").where(variant=name)


def _effect(measure: Measure, ours: Cells, today: Cells) -> Effect:
    return Effect(measure, ours.measure(measure.of, measure.unit), today.measure(measure.of, measure.unit))


def _groups(today: Cells) -> tuple[Group, ...]:
    """All flows, and the thirds of them by their hops to the gateway, the nearest first."""
    rows = [row for row in today.runs[0].flows.values() if row["transport"] not in ("udp", "ping")]
    hops = {row["flow"]: row["hops"] for row in rows}
    everyone = Group("all", "all nodes", tuple(hops), _span(hops, hops))
    known = sorted((name for name in hops if hops[name] is not None), key=lambda name: hops[name])
    if len(known) < 3 or hops[known[0]] == hops[known[-1]]:
        return (everyone,)
    cuts = [round(i * len(known) / 3) for i in range(4)]
    named = [
        ("near", "the nearest third of nodes"),
        ("middle", "the middle third"),
        ("far", "the farthest third of nodes"),
    ]
    thirds = [
        Group(name, label, tuple(known[a:b]), _span(hops, known[a:b]))
        for (name, label), a, b in zip(named, cuts, cuts[1:], strict=False)
    ]
    return (everyone, *thirds)


def _span(hops: Mapping[str, Any], names: Any) -> tuple[int, int] | None:
    known = [int(hops[name]) for name in names if hops[name] is not None]
    return (min(known), max(known)) if known else None


def _speed(group: Group) -> Measure:
    """Mean speed of the group's flows while they have something to send, in Mbit/s."""

    def of(run: Run) -> float:
        return 1e-6 * math.fsum(_carried(run.flows[name]) for name in group.flows) / len(group.flows)

    return Measure(f"speed-{group.name}", f"speed, {group.label}", "Mbit/s", "more", of, group)


def _carried(row: Mapping[str, Any]) -> float:
    """Of a flow with pauses what it carries between them."""
    key = "averaged_goodput_bps" if row["app"] == "files" else "goodput_bps"
    return float(row[key] or 0.0)


def _whole(flows: int) -> list[Measure]:
    def speeds(run: Run) -> list[float]:
        return [_carried(row) for row in run.flows.values() if row["transport"] not in ("udp", "ping")]

    def delay(run: Run) -> float:
        known = [row["rtt_mean_s"] for row in run.flows.values() if row["rtt_mean_s"] is not None]
        return 1e3 * math.fsum(known) / len(known) if known else math.nan

    def fairness(run: Run) -> float:
        return stats.jain(speeds(run)) or math.nan

    def starving(run: Run) -> float:
        each = speeds(run)
        return float(sum(one < STARVING * math.fsum(each) / len(each) for one in each))

    made = [Measure("delay", "round trip", "ms", "less", delay)]
    if flows > 1:
        made += [
            Measure("fairness", "fairness (Jain's index)", "", "more", fairness),
            Measure("starving", "nodes with less than a tenth of an equal share", "", "less", starving),
        ]
    return made


def _order(effects: tuple[Effect, ...]) -> float:
    """How much a change helps those farthest from the gateway; what is no difference counts as none."""
    speeds = [effect for effect in effects if effect.measure.name.startswith("speed")]
    last = speeds[-1]
    ratio = last.ratio.value if last.differs and math.isfinite(last.ratio.value) else 1.0
    whole = speeds[0].ratio.value if speeds[0].differs and math.isfinite(speeds[0].ratio.value) else 1.0
    return math.log(max(ratio, 1e-9)) + 0.1 * math.log(max(whole, 1e-9))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
