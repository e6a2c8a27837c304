"""Runs everything that is tried with the same seeds, and holds each change against today."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop import stats
from fourhop.limits import RUNS_LIMIT, within
from fourhop.scenario import Scenario
from fourhop.study.cells import Cells, Run
from fourhop.study.flows import STARVING
from fourhop.whatif.answer import Answer, Effect, Group, Measure, cells
from fourhop.whatif.tries import PLACES, TODAY, tries

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress

RUNS = 10
"""Runs of everything, unless told otherwise."""


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
    today = cells(result, TODAY)
    groups = _groups(today)
    speeds = (_together(groups[0]), *(_speed(group) for group in groups[1:]))
    measures = (*speeds, *_whole(len(groups[0].flows), _equal_share(today)))
    effects = {
        each.name: tuple(_effect(measure, cells(result, each.name), today) for measure in measures)
        for each in tried.changes
    }
    return Answer(given, tried, groups, measures, effects, result)


def _effect(measure: Measure, ours: Cells, today: Cells) -> Effect:
    return Effect(measure, ours.measure(measure.of, measure.unit), today.measure(measure.of, measure.unit))


def _groups(today: Cells) -> tuple[Group, ...]:
    """All flows, and the thirds of them by their hops to the gateway, the nearest first."""
    rows = [row for row in today.runs[0].flows.values() if row["transport"] not in ("udp", "ping")]
    hops = {row["flow"]: row["hops"] for row in rows}
    everyone = Group("all", "all nodes", tuple(hops), _span(hops, hops))
    # Nodes without a path are farther than all others; they count, too.
    known = sorted(hops, key=lambda name: math.inf if hops[name] is None else hops[name])
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


def _together(everyone: Group) -> Measure:
    """Speed of all flows, added up, in Mbit/s."""

    def of(run: Run) -> float:
        return 1e-6 * math.fsum(_carried(run.flows[name]) for name in everyone.flows)

    return Measure("speed-all", "speed, all nodes together", "Mbit/s", "more", of, everyone)


def _equal_share(today: Cells) -> float:
    """What each flow would carry today if all had as much, over all runs."""
    each = [_carried(row) for run in today.runs for row in run.flows.values() if _is_tcp(row)]
    return math.fsum(each) / len(each)


def _is_tcp(row: Mapping[str, Any]) -> bool:
    return row["transport"] not in ("udp", "ping")


def _carried(row: Mapping[str, Any]) -> float:
    """Of a flow with pauses what it carries between them."""
    key = "averaged_goodput_bps" if row["app"] == "files" else "goodput_bps"
    return float(row[key] or 0.0)


def _whole(flows: int, equal_share: float) -> list[Measure]:
    def speeds(run: Run) -> list[float]:
        return [_carried(row) for row in run.flows.values() if _is_tcp(row)]

    def delay(run: Run) -> float:
        known = [row["rtt_mean_s"] for row in run.flows.values() if row["rtt_mean_s"] is not None]
        return 1e3 * math.fsum(known) / len(known) if known else math.nan

    def fairness(run: Run) -> float:
        return stats.jain(speeds(run)) or math.nan

    def starving(run: Run) -> float:
        # Of today, whatever the change: nobody starves because others get more than before.
        return float(sum(one < STARVING * equal_share for one in speeds(run)))

    made = [Measure("delay", "round trip", "ms", "less", delay)]
    if flows > 1:
        made += [
            Measure("fairness", "fairness (Jain's index)", "", "more", fairness),
            Measure("starving", "nodes with less than a tenth of today's equal share", "", "less", starving),
        ]
    return made
