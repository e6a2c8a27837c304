"""Chooses the next run, and decides when a point has enough runs.

The runs of all points and seeds form one list, longest first, so that no core starts a long run when the others are out
of work. With a precision target, a point gets further seeds until its stop rule is met. That rule considers the
unbroken sequence of seeds from the first on, so the runs that count do not depend on the order in which they finish. An
idle core starts the next seed of a point that is still open; if the run turns out not to be needed, it does not count.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from fourhop import stats
from fourhop.rundata import RunData
from fourhop.scenario import Scenario

HOPELESS = 20
"""After this many failed runs and no success, a point gets no more runs: they would fail, too."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run: a scenario with a seed."""

    point: int
    seed: int
    scenario_json: str
    records_series: bool
    duration_s: float


def aggregate_goodput(run: RunData) -> Sequence[float]:
    """The goodput of all flows together."""
    return [run["aggregate_goodput_bps"]]


def flow_goodputs(run: RunData) -> Sequence[float]:
    """The goodput of every flow."""
    return [flow["goodput_bps"] for flow in run["flows"]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Number of runs of a point: `least`, and with a target, more until it is met or there are `most`."""

    least: int
    most: int
    target: float | None = None
    """Largest allowed half-width over mean of the 95 % interval of the judged values."""
    judged: Callable[[RunData], Sequence[float]] = aggregate_goodput
    """Returns the values of a run that the precision applies to; the one with the widest interval decides."""
    step: int = 1
    """Runs added at a time; the rule is not evaluated in between."""

    def within(self, most: int) -> Rule:
        """The same rule, limited to the first `most` runs."""
        least = min(self.least, most)
        return replace(self, least=least, most=max(least, min(self.most, most)))


class Prefix:
    """The runs of consecutive seeds from the first on, and the stop rule over them.

    Runs finish in any order; judging only the unbroken prefix makes the number of runs that count independent of that
    order. Runs after the one that met the target do not count.
    """

    def __init__(self, first: int, rule: Rule) -> None:
        """`first` is the seed of the first run."""
        self.count = 0
        """Runs that count."""
        self.met = False
        self.precision: float | None = None
        """Half-width over mean so far, if there are enough runs to tell."""
        self._first = first
        self._rule = rule
        self._columns: list[list[float]] = []
        self._ahead: dict[int, Sequence[float]] = {}

    @property
    def is_closed(self) -> bool:
        """Whether further runs would not count."""
        return self.met or self.count >= self._rule.most

    def add(self, seed: int, run: RunData) -> None:
        """Add a run, and later ones that were waiting for it, up to the one that meets the target."""
        self._ahead[seed] = self._rule.judged(run)
        while not self.is_closed and (row := self._ahead.pop(self._first + self.count, None)) is not None:
            self._columns = self._columns or [[] for _ in row]
            for column, value in zip(self._columns, row, strict=True):
                column.append(value)
            self.count += 1
            if self._rule.target is not None and self.count >= 2:
                widths = [stats.student_interval(column).relative for column in self._columns]
                known = [width for width in widths if width is not None]
                self.precision = max(known) if known and len(known) == len(widths) else None
                due = self.count >= self._rule.least and (self.count - self._rule.least) % self._rule.step == 0
                self.met = due and self.precision is not None and self.precision <= self._rule.target


@dataclass
class _State:
    """The state of a point."""

    scenario: Scenario
    rule: Rule
    prefix: Prefix
    estimate: float
    next_seed: int
    missing: int
    running: int = 0
    """Runs taken that have neither finished nor failed."""
    done: int = 0
    failed: int = 0
    wall_s: list[float] = field(default_factory=list)


class Plan:
    """The remaining runs of one or several scenarios.

    The owner takes tasks and reports when each is done.
    """

    def __init__(self, points: Sequence[tuple[Scenario, Rule]], first_seed: int) -> None:
        """Each scenario is a point, run with the seeds from `first_seed` on, as many as its rule requires."""
        self._first = first_seed
        self._states = [
            _State(scenario, rule, Prefix(first_seed, rule), cost(scenario), first_seed + rule.least, rule.least)
            for scenario, rule in points
        ]
        self._tasks = [(state.scenario.records_series, state.scenario.duration_s) for state in self._states]
        # The minimum number of runs of every point, longest first, ties in the order of the points.
        self._needed = [
            (-state.estimate, point, seed)
            for point, state in enumerate(self._states)
            for seed in range(first_seed, first_seed + state.rule.least)
        ]
        heapq.heapify(self._needed)
        self._open = {point for point, state in enumerate(self._states) if state.rule.most > 0}
        self.done = 0
        """Number of finished runs."""

    def task(self, point: int, seed: int) -> Task:
        """The run of a point with a seed."""
        return Task(point, seed, self._states[point].scenario.resolved_json, *self._tasks[point])

    def judges(self, point: int) -> bool:
        """Whether the number of runs of a point depends on their results."""
        return self._states[point].rule.target is not None

    def needed(self) -> Task | None:
        """Take the next run that is needed in any case; `None` when all of these are taken."""
        if not self._needed:
            return None
        _, point, seed = heapq.heappop(self._needed)
        self._states[point].running += 1
        return self.task(point, seed)

    def further(self) -> Task | None:
        """Take a run of a point that has not met its precision; `None` if there is nothing to start."""
        open_points = [point for point in self._open if self._has_upcoming(point)]
        if not open_points:
            return None
        # Prefer the point with the fewest runs in progress, so that none gets far ahead of its stop rule.
        point = min(open_points, key=lambda point: (self._states[point].running, -self._states[point].estimate, point))
        return self.advance(point)

    @property
    def open(self) -> list[int]:
        """Points that are not complete."""
        return sorted(self._open)

    def upcoming(self, point: int) -> Task | None:
        """The run that `advance` would take at a point; `None` beyond the largest number of runs."""
        return self.task(point, self._states[point].next_seed) if self._has_upcoming(point) else None

    def advance(self, point: int) -> Task | None:
        """Take the run of the next seed at a point."""
        task = self.upcoming(point)
        if task is not None:
            self._states[point].running += 1
            self._states[point].next_seed += 1
        return task

    def finish(self, task: Task, run: RunData | None, wall_s: float | None = None) -> None:
        """Record a finished run, with its data if there is a precision target, and `wall_s` if it was computed."""
        state = self._states[task.point]
        state.running -= 1
        state.missing -= 1
        if wall_s is not None:
            state.wall_s.append(wall_s)
        self.done += 1
        if run is not None:
            state.prefix.add(task.seed, run)
        state.done += 1
        self._close(task.point)

    def fail(self, task: Task) -> None:
        """Record a failed run. Its point gets its other runs; with a target, only those begun, as its prefix ends."""
        state = self._states[task.point]
        state.running -= 1
        state.missing -= 1
        state.failed += 1
        self._close(task.point)

    def is_finished(self) -> bool:
        """Whether every point is complete: it has its runs, or its precision."""
        return not self._open

    def seeds(self, point: int) -> list[int]:
        """The seeds that count at a point."""
        state = self._states[point]
        count = state.rule.least if state.rule.target is None else state.prefix.count
        return list(range(self._first, self._first + count))

    def met(self, point: int) -> bool | None:
        """Whether a point reached the requested precision; `None` if none was requested."""
        return self._states[point].prefix.met if self.judges(point) else None

    def precision(self, point: int) -> float | None:
        """Half-width over mean of a point so far, if it has a target and enough runs to tell."""
        return self._states[point].prefix.precision

    @property
    def points_done(self) -> int:
        """Number of complete points."""
        return len(self._states) - len(self._open)

    def is_done(self, point: int) -> bool:
        """Whether a point is complete: it has its runs, or its precision."""
        return point not in self._open

    @property
    def fraction(self) -> float:
        """Share of the runs done; with a precision target, estimated from the width of the intervals."""
        return sum(map(self._share, range(len(self._states)))) / len(self._states)

    @property
    def left_s(self) -> float | None:
        """Estimated computing time of all missing runs; `None` while nothing has been timed.

        A timed point counts with its average, the others in proportion to nodes and simulated time.
        """
        timed = [state for state in self._states if state.wall_s]
        if not timed or any(map(self.judges, range(len(self._states)))):
            return None
        scale = sum(_mean(state.wall_s) for state in timed) / sum(state.estimate for state in timed)
        return sum(
            state.missing * (_mean(state.wall_s) if state.wall_s else state.estimate * scale) for state in self._states
        )

    def _close(self, point: int) -> None:
        """Close a point that is complete or cannot continue."""
        state = self._states[point]
        broken = state.failed > 0 and state.running == 0
        enough = state.prefix.is_closed or broken if self.judges(point) else state.missing == 0
        if enough or (state.failed >= HOPELESS and state.done == 0):
            self._open.discard(point)

    def _has_upcoming(self, point: int) -> bool:
        state = self._states[point]
        return point in self._open and not state.failed and state.next_seed < self._first + state.rule.most

    def _share(self, point: int) -> float:
        """Share of a point's runs done: an interval narrows with the square root of the number of runs."""
        state = self._states[point]
        if self.is_done(point):
            return 1.0
        if state.rule.target is None:
            return 1.0 - state.missing / state.rule.least
        if state.prefix.precision is None:
            return 0.0
        needed = state.prefix.count * (state.prefix.precision / state.rule.target) ** 2
        return min(1.0, state.prefix.count / min(float(state.rule.most), max(state.rule.least, needed)))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def cost(scenario: Scenario) -> float:
    """Estimated relative computing time of a run: simulated time times number of nodes.

    The number of simultaneous transmissions grows with the nodes, and each costs what its neighbours hear of it.
    """
    topology = scenario.resolved["topology"]
    hops = topology.get("hops", 1)
    if isinstance(hops, list):
        nodes = sum(hops) + len(hops)
    elif topology["kind"] == "grid":
        nodes = topology["columns"] * topology["rows"]
    elif topology["kind"] in ("positions", "coordinates"):
        nodes = len(topology[topology["kind"]])
    elif topology["kind"] == "random":
        nodes = topology["nodes"]
    else:
        nodes = (hops + 1) * topology.get("chains", 1)
    return scenario.duration_s * nodes
