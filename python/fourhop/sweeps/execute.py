"""Run a sweep: reuse stored runs, simulate the rest, and keep each run as soon as it finishes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop.errors import FourhopError, FourhopWarning, SweepInterrupted
from fourhop.limits import JOBS_LIMIT, within
from fourhop.recorded import Staging, gone, written
from fourhop.scenario import Scenario
from fourhop.sweeps import runfile
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.local import Executor, Finished, Threads
from fourhop.sweeps.loop import Loop
from fourhop.sweeps.manifest import PointRuns
from fourhop.sweeps.result import SweepResult
from fourhop.sweeps.runstore import RunStore, Temporary
from fourhop.sweeps.schedule import Plan, Task

if TYPE_CHECKING:
    import distributed

    from fourhop.rundata import RunData

_REPORT_S = 0.2

_WARNINGS = 3
"""Maximum number of flows without a path that get a separate warning."""


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """Progress of a call of `sweep`."""

    done: int
    """Finished runs, including reused ones."""
    wanted: int | None
    """Number of runs at the end; `None` if a precision target decides."""
    reused: int
    """Finished runs that had already been stored."""
    points_done: int
    """Complete points."""
    points: int
    """Points of the sweep."""
    fraction: float
    """Share of the work done, 0 to 1; with a precision target, a guess."""
    simulated_s: float
    """Simulated seconds of the runs that this call finished."""
    elapsed_s: float
    """Wall clock since the start."""
    remaining_s: float | None
    """Estimated wall-clock time left; `None` while unknown."""


def sweep(
    description: Sweep | Scenario | str | Path | None = None,
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
    """Run every point of a sweep with every seed and gather the measurements.

    The result of a run depends only on its scenario and its seed, so tables are the same whatever the number of cores,
    on a cluster, and with stored runs.

    Args:
        description: a `Sweep`; or the scenario to vary, or the name of its file, and then `over`, `zipped` and
            `options` are those of `Sweep`.
        over: keys with their values, in all combinations.
        zipped: keys whose values advance together.
        out: folder for the runs and the tables. Runs already there are reused, whichever sweep they were computed for.
            If not given, the runs are in a temporary folder that exists as long as the result.
        jobs: runs at a time; if not given, all cores, or with `client` all threads of the workers.
        client: a `distributed.Client`, or the address of a Dask scheduler, to run on its workers instead of here.
        fresh: compute all runs again and replace stored ones.
        progress: called a few times a second with a `SweepProgress`, from the calling thread.
        options: `variants`, `runs`, `seed`, `precision`, ... of `Sweep`.

    Returns:
        Tables over all points and runs, with rows as their names say: rates in bit/s, times in s, sizes in bytes.

    Raises:
        ScenarioError: no scenario can run with any of the seeds (say, no connected random network was found).
        IncompleteError: some runs failed; all others finished and are kept in `out`.
        FourhopError: an argument, a folder or a cluster cannot be used.
        SweepInterrupted: Ctrl-C; finished runs are kept in `out`, and the same call continues.

    Warns:
        FourhopWarning: a flow delivered nothing because it has no path.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=1, duration="5s")
    >>> result = fourhop.sweep(chain, {"topology.hops": [1, 2]}, runs=3)
    >>> result.summary.select("topology.hops", "runs").rows()
    [(1, 3), (2, 3)]
    """
    if isinstance(description, Sweep):
        if over is not None or zipped is not None or options:
            raise FourhopError(
                "sweep: the Sweep already has its keys and options: leave out over, zipped and the options"
            )
        made = description
    else:
        base = None if description is None else Scenario.of(description)
        made = Sweep(base, over or {}, zipped or {}, **options)
    result = carry_out(made, out=out, jobs=jobs, client=client, fresh=fresh, progress=progress)
    if out is not None:
        result.save(out)
    warn(result.flows_without_path())
    return result


def carry_out(
    made: Sweep,
    runs: Sequence[int] | None = None,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    client: distributed.Client | str | None = None,
    fresh: bool = False,
    progress: Callable[[SweepProgress], None] | None = None,
) -> SweepResult:
    """Run a sweep like `sweep`, but write no tables; `runs` can limit each point to its first runs."""
    jobs = within("jobs", jobs, 1, JOBS_LIMIT) if jobs is not None else None
    rules = [made.rule] * len(made.points) if runs is None else [made.rule.within(count) for count in runs]
    wanted = None if made.target is not None else sum(rule.least for rule in rules)

    temporary = None
    if out is None:
        temporary = Temporary()
        store = RunStore(temporary.path)
    else:
        store = RunStore(Path(out))
    store.prepare()
    plan = Plan([(each.scenario, rule) for each, rule in zip(made.points, rules, strict=True)], made.first_seed)
    kept = _Stored(store, fresh)
    loop = Loop(plan, kept)
    loop.reuse()
    if not plan.is_finished():
        executor: Executor
        staging = Staging(store.folder)
        if client is None:
            executor = Threads(jobs or os.cpu_count() or 1, staging.begin)
        else:
            from fourhop.sweeps.cluster import Cluster

            executor = Cluster(client, staging, jobs)
        reports = _Reports(len(made.points), wanted, loop, kept, executor, progress)
        try:
            loop.run(executor, reports.due)
        except KeyboardInterrupt:
            raise SweepInterrupted(plan.done, wanted, None if out is None else Path(out)) from None
        finally:
            staging.remove()
    failed = loop.refuse_failures(
        lambda task: f"point {task.point} ({made.points[task.point].describe()}) with seed {task.seed}",
        f"are kept in {store.folder}" if temporary is None else "are not kept, as the sweep has no folder",
    )
    if failed is not None:
        raise failed
    per_point = tuple(
        PointRuns(
            tuple((seed, kept.paths[kept.name(plan.task(point, seed))]) for seed in plan.seeds(point)),
            plan.met(point),
            plan.precision(point),
        )
        for point in range(len(made.points))
    )
    return SweepResult(made, store, per_point, kept.reused, loop.computed, temporary)


def warn(lines: list[str]) -> None:
    """Warn about flows that cannot deliver anything; if there are many, only about the first."""
    shown = lines if len(lines) <= _WARNINGS else [*lines[:_WARNINGS], f"{len(lines) - _WARNINGS} more like these"]
    for line in shown:
        warnings.warn(line, FourhopWarning, stacklevel=3)


class _Stored:
    """The runs of a sweep in their files."""

    def __init__(self, store: RunStore, fresh: bool) -> None:
        self.reused = 0
        """Number of runs that were already stored."""
        self.paths: dict[str, Path] = {}
        """Path of each run of this sweep. Runs computed by this call count as stored even with `fresh`."""
        self._store = store
        self._fresh = fresh
        self._engine = runfile.engine()
        self._names: dict[Task, str] = {}

    def name(self, task: Task) -> str:
        """The key of the run."""
        if task not in self._names:
            self._names[task] = runfile.key(task.scenario_json, task.seed, self._engine)
        return self._names[task]

    def find(self, task: Task) -> bool:
        """Whether the run is stored; another process may have stored it since the last call."""
        key = self.name(task)
        if key not in self.paths and not self._fresh and (path := self._store.find(key)) is not None:
            self.paths[key] = path
            self.reused += 1
        return key in self.paths

    def read(self, task: Task) -> RunData:
        """The goodputs of the run."""
        return runfile.goodputs(self.paths[self.name(task)])

    def keep(self, finished: Finished, run: RunData) -> None:
        """Store the run."""
        task = finished.task
        with gone(finished.series):
            series = None if finished.series is None else written(finished.series, task.seed)
            self.paths[self.name(task)] = self._store.write(self.name(task), task.scenario_json, run, series)


class _Reports:
    """Reports the progress of a sweep at intervals."""

    def __init__(
        self,
        points: int,
        wanted: int | None,
        loop: Loop,
        kept: _Stored,
        executor: Executor,
        progress: Callable[[SweepProgress], None] | None,
    ) -> None:
        self._points = points
        self._wanted = wanted
        self._loop = loop
        self._kept = kept
        self._executor = executor
        self._progress = progress
        self._reported_s = -_REPORT_S

    def due(self) -> None:
        """Report if it is time to, or the sweep has ended."""
        loop, plan = self._loop, self._loop.plan
        elapsed_s = loop.elapsed_s
        if self._progress is None or (elapsed_s - self._reported_s < _REPORT_S and not plan.is_finished()):
            return
        self._reported_s = elapsed_s
        wanted = self._wanted
        fraction = plan.fraction
        if wanted is not None:
            fraction = min(1.0, fraction + sum(share for _, share in self._executor.running) / wanted)
        left_s = plan.left_s
        remaining_s = None
        if left_s is not None and loop.wall_s > 0.0:
            # Computing time left, with as many runs at a time as so far.
            remaining_s = left_s * elapsed_s / loop.wall_s
        elif fraction > 0.0 and loop.computed:
            remaining_s = elapsed_s * (1.0 - fraction) / fraction
        self._progress(
            SweepProgress(
                done=plan.done,
                wanted=wanted,
                reused=self._kept.reused,
                points_done=plan.points_done,
                points=self._points,
                fraction=fraction,
                simulated_s=loop.simulated_s,
                elapsed_s=elapsed_s,
                remaining_s=remaining_s,
            )
        )
