"""Run a sweep: take what is stored, simulate the rest, keep each run the moment it is finished."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fourhop import rundata
from fourhop.errors import FourhopError, SweepInterrupted
from fourhop.runner import JOBS_LIMIT, within
from fourhop.sweeps import runfile, seriesfile
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.local import Executor, Finished, RunError, Threads
from fourhop.sweeps.result import PointRuns, SweepResult
from fourhop.sweeps.runstore import RunStore, Temporary
from fourhop.sweeps.schedule import Plan, Task
from fourhop.sweeps.seriesfile import Staging

if TYPE_CHECKING:
    import distributed

    from fourhop.rundata import RunData
    from fourhop.scenario import Scenario

_POLL_S = 0.2
_REPORT_S = 0.2


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """How far a call of `sweep` is."""

    done: int
    """Runs that are there, found ones included."""
    wanted: int | None
    """Runs that there will be; `None` where a precision target decides."""
    reused: int
    """Of those done, runs that were stored already."""
    points_done: int
    """Points that have what they need."""
    points: int
    """Points of the sweep."""
    fraction: float
    """Share of the work that is done, 0 to 1; with a precision target a guess."""
    simulated_s: float
    """Simulated seconds of the runs this call finished."""
    elapsed_s: float
    """Wall clock since the start."""
    remaining_s: float | None
    """Guess of the wall clock left; `None` while there is nothing to judge by."""


def sweep(
    description: Sweep | Scenario | None = None,
    over: Mapping[str, Iterable[Any]] | None = None,
    zipped: Mapping[str, Iterable[Any]] | None = None,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    client: distributed.Client | str | None = None,
    fresh: bool = False,
    progress: Callable[[SweepProgress], None] | None = None,
    **options: Any,
) -> SweepResult:
    """Run every point of a sweep with every seed and gather what the runs measured.

    What a run yields depends on its scenario and its seed only, so neither the number of cores, nor a cluster, nor what
    was stored already changes a table.

    Args:
        description: a `Sweep`, or the scenario to vary; then `over`, `zipped` and `options` are those of `Sweep`.
        over: keys with their values, all combinations.
        zipped: keys whose values advance together.
        out: folder for the runs and the tables. Runs that are there are not computed again, whichever sweep they were
            computed for. Without it the runs live in a temporary folder as long as the result.
        jobs: runs at a time; all cores if not given, all threads of the workers with `client`.
        client: a `distributed.Client`, or the address of a Dask scheduler, to run on its workers instead of here.
        fresh: compute all runs again and replace what is stored.
        progress: called a few times a second with a `SweepProgress`, from the calling thread.
        options: `variants`, `runs`, `seed`, `precision`, ... of `Sweep`.

    Raises:
        ScenarioError: a scenario cannot run with one of the seeds (say, no connected random network was found).
        FourhopError: an argument, a folder or a cluster cannot be used.
        SweepInterrupted: Ctrl-C; finished runs are kept in `out`, and the same call goes on from there.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=1, duration="5s")
    >>> result = fourhop.sweep(chain, {"topology.hops": [1, 2]}, runs=3)
    >>> result.summary.select("topology.hops", "runs").rows()
    [(1, 3), (2, 3)]
    """
    if isinstance(description, Sweep):
        if over is not None or zipped is not None or options:
            raise FourhopError("sweep: found keys beside a Sweep, allowed: one of the two; a Sweep holds its own")
        made = description
    else:
        made = Sweep(description, over or {}, zipped or {}, **options)
    jobs = within("jobs", jobs, 1, JOBS_LIMIT) if jobs is not None else None

    temporary = None
    if out is None:
        temporary = Temporary()
        store = RunStore(temporary.path)
    else:
        store = RunStore(Path(out))
    store.prepare()
    work = _Work(made, store, fresh, progress)
    work.reuse()
    if not work.plan.is_finished():
        executor: Executor
        staging = Staging(store.folder)
        if client is None:
            executor = Threads(jobs or os.cpu_count() or 1, staging)
        else:
            from fourhop.sweeps.cluster import Cluster

            executor = Cluster(client, staging, jobs)
        try:
            work.run(executor)
        except KeyboardInterrupt:
            executor.stop()
            wanted = None if made.target is not None else len(made.points) * made.runs
            raise SweepInterrupted(work.plan.done, wanted, None if out is None else Path(out)) from None
        finally:
            executor.stop()
            staging.remove()
    result = SweepResult(made, store, tuple(work.points()), work.reused, work.computed, temporary)
    if out is not None:
        result.save(out)
    return result


class _Work:
    """One call of `sweep`."""

    def __init__(
        self, sweep: Sweep, store: RunStore, fresh: bool, progress: Callable[[SweepProgress], None] | None
    ) -> None:
        self.plan = Plan(sweep)
        self.reused = 0
        self.computed = 0
        self._sweep = sweep
        self._store = store
        self._fresh = fresh
        self._progress = progress
        self._started = time.monotonic()
        self._reported = 0.0
        self._simulated_s = 0.0
        self._wall_s = 0.0
        # Where each run of this sweep is. Runs that this call computed are as good as stored, also with `fresh`.
        self._paths: dict[str, Path] = {}
        self._waiting: list[Task] = []
        self._running: dict[str, list[Task]] = {}

    def reuse(self) -> None:
        """Finish all tasks whose runs are there, and leave the others to `run`."""
        while (task := self.plan.needed()) is not None:
            if not self._found(task):
                self._waiting.append(task)
        # Longest first, taken from the end.
        self._waiting.reverse()
        for point in self.plan.open:
            while (task := self.plan.upcoming(point)) is not None and self._path(task) is not None:
                self.plan.advance(point)
                self._found(task)

    def run(self, executor: Executor) -> None:
        """Simulate what is missing."""
        while not self.plan.is_finished():
            while executor.free > 0 and not self.plan.is_finished() and (task := self._next()) is not None:
                if task.key in self._running:
                    # The same scenario at another point: one run serves both.
                    self._running[task.key].append(task)
                elif not self._found(task):
                    self._running[task.key] = [task]
                    executor.submit(task)
            if not self.plan.is_finished():
                for finished in self._finished(executor):
                    self._keep(finished)
            self._report(executor)

    def points(self) -> list[PointRuns]:
        """Which runs count at each point, and where they are."""
        return [
            PointRuns(
                tuple((task.seed, self._paths[task.key]) for task in map(partial(self.plan.task, point.index), seeds)),
                self.plan.met(point.index),
            )
            for point in self._sweep.points
            for seeds in [self.plan.seeds(point.index)]
        ]

    def _next(self) -> Task | None:
        return self._waiting.pop() if self._waiting else self.plan.further()

    def _path(self, task: Task) -> Path | None:
        path = self._paths.get(task.key)
        if path is None and not self._fresh and (path := self._store.find(task.key)) is not None:
            self._paths[task.key] = path
            self.reused += 1
        return path

    def _found(self, task: Task) -> bool:
        """Finish a task whose run is there; another process may have put it there since the last look."""
        path = self._path(task)
        if path is None:
            return False
        self.plan.finish(task, runfile.goodputs(path) if self._sweep.target is not None else None)
        return True

    def _finished(self, executor: Executor) -> list[Finished]:
        try:
            return executor.finished(_POLL_S)
        except RunError as error:
            task, cause = error.task, error.cause
            at = f"point {task.point} with seed {task.seed}"
            cause.add_note(f"{at}; {self.plan.done} finished runs are kept in {self._store.folder}")
            raise cause from None

    def _keep(self, finished: Finished) -> None:
        task = finished.task
        run = rundata.parse(finished.text)
        with seriesfile.gone(finished.series):
            series = None if finished.series is None else seriesfile.written(finished.series, task.seed)
            self._paths[task.key] = self._store.write(task.key, task.scenario_json, run, series)
        self.computed += 1
        self._simulated_s += run["simulated_s"]
        self._wall_s += run["wall_s"]
        goodputs = _goodputs(run) if self._sweep.target is not None else None
        for number, waiting in enumerate(self._running.pop(task.key)):
            self.plan.finish(waiting, goodputs, run["wall_s"] if number == 0 else None)

    def _report(self, executor: Executor) -> None:
        now = time.monotonic()
        if self._progress is None or (now - self._reported < _REPORT_S and not self.plan.is_finished()):
            return
        self._reported = now
        elapsed_s = now - self._started
        target = self._sweep.target
        wanted = None if target is not None else len(self._sweep.points) * self._sweep.runs
        fraction = self.plan.fraction
        if wanted is not None:
            fraction = min(1.0, fraction + executor.running / wanted)
        left_s = self.plan.left_s
        remaining_s = None
        if left_s is not None and self._wall_s > 0.0:
            # Computing time left, at the number of runs at a time there has been.
            remaining_s = left_s * elapsed_s / self._wall_s
        elif fraction > 0.0 and self.computed:
            remaining_s = elapsed_s * (1.0 - fraction) / fraction
        self._progress(
            SweepProgress(
                done=self.plan.done,
                wanted=wanted,
                reused=self.reused,
                points_done=self.plan.points_done,
                points=len(self._sweep.points),
                fraction=fraction,
                simulated_s=self._simulated_s,
                elapsed_s=elapsed_s,
                remaining_s=remaining_s,
            )
        )


def _goodputs(run: RunData) -> RunData:
    """Of a run only what the stop rule looks at, so that little stays in memory."""
    kept = {
        "aggregate_goodput_bps": run["aggregate_goodput_bps"],
        "flows": [{"goodput_bps": flow["goodput_bps"]} for flow in run["flows"]],
    }
    return cast("RunData", kept)
