"""Which run comes next, and when a point has enough of them.

The runs of all points and seeds are one list, longest first, so that the last core does not start on a long run when
the others are out of work. With a precision target a point gets further seeds until the stop rule of `fourhop.run` is
met. That rule looks at the unbroken sequence of seeds from the first on, so the runs that count do not depend on the
order in which they finish. A core with nothing else to do starts the next seed of a point that is still open; if it
turns out not to be needed it is kept all the same, for a tighter target later, and does not count.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from fourhop.rundata import RunData
from fourhop.runner import MIN_RUNS, Prefix
from fourhop.scenario import Scenario
from fourhop.sweeps import runfile
from fourhop.sweeps.describe import Sweep


@dataclass(frozen=True)
class Task:
    """One run: a scenario with a seed."""

    point: int
    seed: int
    key: str
    scenario_json: str
    records_series: bool


@dataclass
class _State:
    """What is known of a point."""

    prefix: Prefix
    estimate: float
    next_seed: int
    missing: int
    running: int = 0
    wall_s: list[float] = field(default_factory=list)
    kept: dict[int, RunData] = field(default_factory=dict)


class Plan:
    """The runs of a sweep that are still to be done. The owner takes tasks and says when each is done."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._first = sweep.first_seed
        self._engine = runfile.engine()
        least = sweep.runs if sweep.target is None else MIN_RUNS
        self._states = [
            _State(
                Prefix(self._first, sweep.target, sweep.precision_of), cost(point.scenario), self._first + least, least
            )
            for point in sweep.points
        ]
        # What every point needs at least, longest first; then in the order of the sweep.
        self._needed = [
            (-state.estimate, point, seed)
            for point, state in enumerate(self._states)
            for seed in range(self._first, self._first + least)
        ]
        heapq.heapify(self._needed)
        self._open = set(range(len(self._states))) if sweep.target is not None else set()
        self.done = 0
        """Runs that are done."""

    def task(self, point: int, seed: int) -> Task:
        """The run of a point with a seed."""
        scenario = self._sweep.points[point].scenario
        text = scenario.resolved_json
        return Task(point, seed, runfile.key(text, seed, self._engine), text, scenario.records_series)

    def needed(self) -> Task | None:
        """Take the next of the runs that are needed whatever the others yield; `None` when all are taken."""
        if not self._needed:
            return None
        _, point, seed = heapq.heappop(self._needed)
        self._states[point].running += 1
        return self.task(point, seed)

    def further(self) -> Task | None:
        """Take a run of a point that has not met its precision; `None` if there is none to start."""
        open_points = [point for point in self._open if self.upcoming(point) is not None]
        if not open_points:
            return None
        # The fewest runs under way first, so that no point is run far ahead of its stop rule.
        point = min(open_points, key=lambda point: (self._states[point].running, -self._states[point].estimate, point))
        return self.advance(point)

    @property
    def open(self) -> list[int]:
        """Points that have not met their precision."""
        return sorted(self._open)

    def upcoming(self, point: int) -> Task | None:
        """The run that `advance` would take at a point; `None` past the largest number of runs."""
        seed = self._states[point].next_seed
        return self.task(point, seed) if point in self._open and seed < self._first + self._sweep.wanted else None

    def advance(self, point: int) -> Task | None:
        """Take the run of the next seed at a point."""
        task = self.upcoming(point)
        if task is not None:
            self._states[point].running += 1
            self._states[point].next_seed += 1
        return task

    def finish(self, task: Task, run: RunData | None, wall_s: float | None = None) -> None:
        """A run is done; with a precision target the plan looks at its goodputs. `wall_s` if it was not found."""
        state = self._states[task.point]
        state.running -= 1
        state.missing -= 1
        if wall_s is not None:
            state.wall_s.append(wall_s)
        self.done += 1
        if run is None:
            return
        state.kept[task.seed] = run
        state.prefix.extend(state.kept)
        if state.prefix.met or len(state.prefix.runs) >= self._sweep.wanted:
            self._open.discard(task.point)

    def is_finished(self) -> bool:
        """Whether every point has what it needs."""
        if self._sweep.target is not None:
            return not self._open
        return all(state.missing == 0 for state in self._states)

    def seeds(self, point: int) -> list[int]:
        """The seeds that count at a point."""
        count = self._sweep.runs if self._sweep.target is None else len(self._states[point].prefix.runs)
        return list(range(self._first, self._first + count))

    def met(self, point: int) -> bool | None:
        """Whether a point reached the precision asked for; `None` if none was."""
        return None if self._sweep.target is None else self._states[point].prefix.met

    @property
    def points_done(self) -> int:
        """Points that have what they need."""
        if self._sweep.target is not None:
            return len(self._states) - len(self._open)
        return sum(state.missing == 0 for state in self._states)

    @property
    def fraction(self) -> float:
        """Share of the runs that are done; with a precision target, guessed from how wide the intervals still are."""
        target = self._sweep.target
        if target is None:
            return self.done / (len(self._states) * self._sweep.runs)
        shares = [
            1.0 if point not in self._open else _share(state.prefix, target, self._sweep.wanted)
            for point, state in enumerate(self._states)
        ]
        return sum(shares) / len(shares)

    @property
    def left_s(self) -> float | None:
        """Guess of the computing time of all runs that are missing; `None` while nothing has been timed.

        A point that has been timed costs what it took on average, the others what nodes and simulated time suggest.
        """
        timed = [state for state in self._states if state.wall_s]
        if not timed or self._sweep.target is not None:
            return None
        scale = sum(_mean(state.wall_s) for state in timed) / sum(state.estimate for state in timed)
        return sum(
            state.missing * (_mean(state.wall_s) if state.wall_s else state.estimate * scale) for state in self._states
        )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _share(prefix: Prefix, target: float, most: int) -> float:
    """How far a point is on the way to its target: an interval narrows with the root of the number of runs."""
    count = len(prefix.runs)
    if prefix.precision is None:
        return 0.0
    needed = min(float(most), max(MIN_RUNS, count * (prefix.precision / target) ** 2))
    return min(1.0, count / needed)


def cost(scenario: Scenario) -> float:
    """A guess at how long a run takes, in no unit: simulated time by the number of nodes.

    Transmissions that fit beside each other grow with the nodes, and every one costs what its neighbours hear of it.
    """
    topology = scenario.resolved["topology"]
    hops = topology.get("hops", 1)
    if isinstance(hops, list):
        nodes = sum(hops) + len(hops)
    elif topology["kind"] == "grid":
        nodes = topology["columns"] * topology["rows"]
    elif topology["kind"] == "positions":
        nodes = len(topology["positions"])
    elif topology["kind"] == "random":
        nodes = topology["nodes"]
    else:
        nodes = (hops + 1) * topology.get("chains", 1)
    return scenario.duration_s * nodes
