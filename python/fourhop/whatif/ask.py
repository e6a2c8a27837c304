"""Runs all trials with the same seeds, and compares each change with today."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop import stats
from fourhop.errors import ScenarioError
from fourhop.limits import RUNS_LIMIT, within
from fourhop.scenario import Scenario
from fourhop.study.cells import Cells, Run
from fourhop.study.flows import STARVING
from fourhop.whatif.answer import Answer, Effect, Group, Measure, Otherwise, cells
from fourhop.whatif.tries import PLACES, TODAY, Tries, tries
from fourhop.whatif.worlds import Worlds, fitting, others

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress
    from fourhop.sweeps.result import SweepResult

MOST_RUNS = 30
"""Default maximum number of runs per change."""

LEAST_RUNS = 4
"""Default minimum number of runs per change: fewer give no useful intervals."""

FIRST_RUNS = 2
"""Runs of every trial before a first answer."""

SECONDS = 60.0
"""Default time limit, if the number of runs is not given."""

MAIN = 0.7
"""Share of the time for the changes themselves; the rest is for other radios and other traffic."""

MANY_NODES = 20
"""With more nodes, runs are short, unless their length or number is given."""

SHORT = {"duration": "12s", "warmup": "4s"}

OTHERWISE_RUNS = 3
"""Runs for each alternative radio and traffic."""


def ask(
    given: Scenario,
    *,
    runs: int | None = None,
    seconds: float = SECONDS,
    places: int = PLACES,
    seed: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    notes: Sequence[str] = (),
    progress: Callable[[float, str], None] | None = None,
    first: Callable[[Answer], None] | None = None,
) -> Answer:
    """Try everything on the network of a scenario, each with the same seeds.

    Args:
        given: the scenario; its transports and the behaviour of its gateway are replaced.
        runs: runs of each trial, at least two, as one has no interval; as many as fit into `seconds` if not given.
        seconds: approximate time limit.
        places: number of gateway locations to try.
        seed: seed of the first run; the scenario's if not given.
        out: folder to keep the runs in; after an interruption, the same call continues.
        jobs: runs at a time; all cores if not given.
        notes: assumptions stated in the scenario's file.
        progress: called a few times a second with the share done, and the current step.
        first: called once with the answer from the first few runs.

    Raises what `fourhop.sweep` raises.
    """
    if runs is not None:
        within("runs", runs, 2, RUNS_LIMIT)
    within("places", places, 0, 100)
    tried = tries(given, places)
    worlds = fitting(given, tried.network, notes)
    clock = _Clock(seconds, runs, progress)
    results: list[SweepResult] = []
    while clock.goes_on(len(results)):
        number = (given.seed if seed is None else seed) + len(results)
        keys = worlds.keys(number)
        variants = {each.name: each.scenario.with_(**keys) for each in tried.all}
        results.append(_swept(variants, number, out, jobs, clock.of_round(len(results))))
        if len(results) == FIRST_RUNS and first is not None:
            first(_answer(given, tried, results, worlds))
    answer = _answer(given, tried, results, worlds)
    if runs is not None or not answer.tried.changes:
        return answer
    return replace(answer, otherwise=_otherwise(answer, out, jobs, clock))


@dataclass
class _Clock:
    """Decides whether there is time for another run of all trials, and reports progress."""

    seconds: float
    runs: int | None
    progress: Callable[[float, str], None] | None
    begun: float = field(default_factory=time.monotonic)

    def goes_on(self, done: int) -> bool:
        """Whether to run another."""
        if self.runs is not None:
            return done < self.runs
        so_far = time.monotonic() - self.begun
        return done < LEAST_RUNS or (done < MOST_RUNS and so_far * (done + 1) / done <= MAIN * self.seconds)

    def of_round(self, done: int) -> Callable[[SweepProgress], None] | None:
        """Returns a callback for the progress of a run of all trials."""
        if self.progress is None:
            return None
        tell = self.progress

        def report(now: SweepProgress) -> None:
            by_time = (time.monotonic() - self.begun) / max(self.seconds, 1.0)
            whole = by_time if self.runs is None else (done + now.fraction) / self.runs
            tell(min(whole, 1.0), f"run {done + 1} of each change")

        return report


def _swept(
    variants: Mapping[str, Scenario],
    seed: int,
    out: str | Path | None,
    jobs: int | None,
    progress: Callable[[SweepProgress], None] | None,
) -> SweepResult:
    """One run of each variant."""
    from fourhop.sweeps.describe import Sweep
    from fourhop.sweeps.execute import sweep

    described = Sweep(variants=variants, runs=1, seed=seed, name="whatif", source="")
    return sweep(described, out=out, jobs=jobs, progress=progress)


def _answer(given: Scenario, tried: Tries, results: Sequence[SweepResult], worlds: Worlds) -> Answer:
    today = cells(results, TODAY)
    groups = _groups(today)
    speeds = (_together(groups[0]), *(_speed(group) for group in groups[1:]))
    measures = (*speeds, *_whole(len(groups[0].flows), _equal_share(today)))
    effects = {
        each.name: tuple(_effect(measure, cells(results, each.name), today) for measure in measures)
        for each in tried.changes
    }
    return Answer(given, tried, groups, measures, effects, tuple(results), worlds)


def _otherwise(answer: Answer, out: str | Path | None, jobs: int | None, clock: _Clock) -> tuple[Otherwise, ...]:
    """The most helpful change on other radios and with other traffic."""
    best = answer.ranked[0]
    made = []
    for label, keys in others(answer.scenario):
        try:
            variants = {
                each.name: each.scenario.with_(**{**answer.worlds.keys(answer.seeds[0]), **keys})
                for each in (answer.tried.today, best)
            }
        except ScenarioError:
            # The scenario sets keys that do not apply to the other radio.
            continue
        results = [
            _swept(variants, seed, out, jobs, clock.of_round(len(answer.results)))
            for seed in answer.seeds[:OTHERWISE_RUNS]
        ]
        effect = _effect(answer.measures[0], cells(results, best.name), cells(results, TODAY))
        made.append(Otherwise(label, effect))
    return tuple(made)


def _effect(measure: Measure, ours: Cells, today: Cells) -> Effect:
    return Effect(measure, ours.measure(measure.of, measure.unit), today.measure(measure.of, measure.unit))


def _groups(today: Cells) -> tuple[Group, ...]:
    """All flows, then thirds of them by hops to the gateway, the nearest first."""
    rows = [row for row in today.runs[0].flows.values() if row["transport"] not in ("udp", "ping")]
    hops = {row["flow"]: row["hops"] for row in rows}
    everyone = Group("all", "all nodes", tuple(hops), _span(hops, hops))
    # Nodes without a path count as the farthest.
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
    """Mean speed of the group's flows while they have data to send, in Mbit/s."""

    def of(run: Run) -> float:
        return 1e-6 * math.fsum(_carried(run.flows[name]) for name in group.flows) / len(group.flows)

    return Measure(f"speed-{group.name}", f"speed, {group.label}", "Mbit/s", "more", of, group)


def _together(everyone: Group) -> Measure:
    """Total speed of all flows, in Mbit/s."""

    def of(run: Run) -> float:
        return 1e-6 * math.fsum(_carried(run.flows[name]) for name in everyone.flows)

    return Measure("speed-all", "speed, all nodes together", "Mbit/s", "more", of, everyone)


def _equal_share(today: Cells) -> float:
    """Today's equal share per flow, over all runs."""
    each = [_carried(row) for run in today.runs for row in run.flows.values() if _is_tcp(row)]
    return math.fsum(each) / len(each)


def _is_tcp(row: Mapping[str, Any]) -> bool:
    return row["transport"] not in ("udp", "ping")


def _carried(row: Mapping[str, Any]) -> float:
    """Goodput of a flow; if it has pauses, that between them."""
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
        # Always relative to today: nobody starves because others get more than before.
        return float(sum(one < STARVING * equal_share for one in speeds(run)))

    made = [Measure("delay", "round trip", "ms", "less", delay)]
    if flows > 1:
        made += [
            Measure("fairness", "fairness (Jain's index)", "", "more", fairness),
            Measure("starving", "nodes with less than a tenth of today's equal share", "", "less", starving),
        ]
    return made
