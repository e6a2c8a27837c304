"""Run a scenario: replications on all cores, a stop rule by relative precision, Ctrl-C that keeps finished runs.

A call is a sweep of one point whose runs stay in memory. The result of a run depends only on the scenario and its seed,
and the stop rule considers runs in seed order, so neither the number of threads nor the order in which runs finish
changes a result.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fourhop._core import Run
from fourhop.errors import FourhopError, FourhopWarning, IncompleteError
from fourhop.limits import JOBS_LIMIT, MAX_RUNS, within
from fourhop.sweeps.describe import PrecisionOf, Sweep
from fourhop.sweeps.local import Start, Threads, plainly
from fourhop.sweeps.loop import Loop, Memory
from fourhop.sweeps.schedule import Plan, Task

if TYPE_CHECKING:
    from fourhop.result import Result
    from fourhop.scenario import Scenario
    from fourhop.trace import Request


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `fourhop.run`.

    `result` has the finished runs, or is `None` if there were none. As a `KeyboardInterrupt`, it is not caught by
    `except Exception`.
    """

    def __init__(self, result: Result | None, wanted: int) -> None:
        """`wanted`: number of runs requested, or the largest number that a precision target allowed."""
        self.result = result
        self.wanted = wanted
        super().__init__(f"interrupted: {0 if result is None else len(result.seeds)} of {wanted} runs finished")


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a call of `run`."""

    done: int
    """Finished runs."""
    wanted: int
    """Runs requested; with a precision target, the largest number allowed."""
    fraction: float
    """Share of the work done, 0 to 1; with a precision target, a lower bound."""
    running: tuple[tuple[int, float], ...]
    """(seed, share done) of each run in progress."""
    simulated_s: float
    """Simulated seconds so far, over all runs."""
    elapsed_s: float
    """Wall clock since the start."""
    precision: float | None
    """Relative half-width so far, if there is a target and there are enough runs to tell."""
    target: float | None
    """The relative half-width to reach."""

    @property
    def remaining_s(self) -> float | None:
        """Wall-clock time left at the current pace; `None` while unknown."""
        return self.elapsed_s * (1.0 - self.fraction) / self.fraction if self.fraction > 0.0 else None


def run(
    scenario: Scenario | str | Path,
    runs: int | None = None,
    seed: int | None = None,
    precision: str | float | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    out: str | Path | None = None,
    pcap: str | Path | None = None,
    *,
    precision_of: PrecisionOf = "aggregate",
    max_runs: int = MAX_RUNS,
    pcap_merged: bool = False,
    pcap_lost: bool = False,
    trace: str | Path | Request | None = None,
) -> Result:
    """Run `scenario` with the seeds `seed`, `seed + 1`, ... and gather the measurements.

    Two scenarios run with the same seeds see the same random networks and starting points (common random numbers).

    Args:
        scenario: what to run, or the name of its file.
        runs: number of independent replications; 1 if neither this nor `precision` is given.
        seed: seed of the first run; the scenario's own `seed` if not given.
        precision: instead of a fixed number of runs, add runs until the half-width of the 95 % interval, relative to
            the mean goodput, is at most this (`"5%"` or `0.05`); at least 3 runs and at most `max_runs`.
        jobs: runs at a time; all cores if not given.
        progress: called a few times a second with a `Progress`, from the calling thread.
        out: folder to write the result into, as `Result.save` does; checked to be writable before the first run.
        pcap: folder for packet captures, one file per node, in a folder per seed if there are several. Runs that were
            started but do not count, beyond a precision target or at Ctrl-C, leave captures too.
        pcap_merged: write one file for all nodes, `capture.pcapng`, with one interface per node, instead of one file
            per node.
        pcap_lost: also capture the frames that a node lost to a collision or to noise, with radiotap's flag for a bad
            frame check sequence.
        trace: folder for tables of all events (docs/trace.md), in a folder per seed if there are several runs, or a
            `fourhop.trace.Request` to select a part.
        precision_of: the goodput that `precision` applies to: that of all flows together, or that of every single
            flow. A starving flow can keep `flows` from ever being met.
        max_runs: number of runs after which `precision` gives up; `Result.note` then says so.

    Returns:
        The runs in seed order, with tables and intervals: rates in bit/s, times in s, sizes in bytes.

    Raises:
        ScenarioError: the scenario cannot run with any of the seeds (say, no connected random network was found).
        IncompleteError: it cannot run with some seeds, or files could not be written; carries the finished runs.
        FourhopError: an argument or a folder cannot be used.
        Interrupted: Ctrl-C; carries the result of the finished runs.

    Warns:
        FourhopWarning: a flow has no path with the first seed, so nothing can arrive.

    >>> import fourhop
    >>> scenario = fourhop.Scenario.chain(hops=2, transport="newreno", duration="5s")
    >>> fourhop.run(scenario, runs=2, seed=7).seeds
    (7, 8)
    """
    import warnings

    from fourhop.scenario import Scenario

    scenario = Scenario.of(scenario)
    jobs = within("jobs", jobs, 1, JOBS_LIMIT) if jobs is not None else os.cpu_count() or 1
    sweep = Sweep(
        scenario,
        runs=runs,
        seed=seed,
        precision=precision,
        precision_of=precision_of,
        max_runs=max_runs,
        source="",
    )
    for line in scenario.flows_without_path(seed=sweep.first_seed):
        warnings.warn(line, FourhopWarning, stacklevel=2)
    if pcap is None and (pcap_merged or pcap_lost):
        raise FourhopError(f"{'pcap_merged' if pcap_merged else 'pcap_lost'}: needs pcap")
    request = None if trace is None else _request(trace)
    if out is not None or pcap is not None or request is not None:
        _prepare(out, pcap, request)

    def start(task: Task, series: Path | None) -> Run:
        own = f"seed-{task.seed}" if sweep.wanted > 1 else ""
        folder = None if pcap is None else Path(pcap) / own
        traced = None if request is None else request.native(own)
        return Run(
            task.scenario_json, task.seed, folder, series, pcap_merged=pcap_merged, pcap_lost=pcap_lost, trace=traced
        )

    return measure(sweep, start, jobs, progress, None if out is None else Path(out))


def _request(trace: str | Path | Request) -> Request:
    from fourhop.trace import Request

    return trace if isinstance(trace, Request) else Request(trace)


def _prepare(out: str | Path | None, pcap: str | Path | None, request: Request | None) -> None:
    """Create the folders of a run, and check that they are writable."""
    from fourhop import store
    from fourhop.result import MANIFEST, SCENARIO

    if out is not None:
        store.prepare(Path(out), MANIFEST, SCENARIO)
    for folder in (pcap, None if request is None else request.folder):
        if folder is not None:
            store.writable(Path(folder))


def measure(
    sweep: Sweep,
    start: Start = plainly,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    out: Path | None = None,
) -> Result:
    """Run a sweep of one point; `start` starts its runs, `out` has been prepared. Raises what `run` raises."""
    from fourhop.result import Result

    scenario = sweep.points[0].scenario
    recorded = None
    if scenario.records_series:
        from fourhop.recorded import Recorded

        recorded = Recorded(out)
    memory = Memory()
    loop = Loop(Plan([(scenario, sweep.rule)], sweep.first_seed), memory)
    loop.reuse()
    executor = Threads(jobs or os.cpu_count() or 1, recorded.begin if recorded else Path, start)

    def report() -> None:
        if progress is not None:
            progress(_progress(loop, executor, sweep, scenario.duration_s))

    interrupted = False
    try:
        loop.run(executor, report)
    except KeyboardInterrupt:
        interrupted = True
    failed = None if interrupted else loop.refuse_failures(lambda task: f"seed {task.seed}", "are kept")
    finished = memory.of(0)
    counted = finished if interrupted or failed else {seed: finished[seed] for seed in loop.plan.seeds(0)}
    note = _note(loop.plan, sweep)
    if interrupted or failed:
        note = f"{'runs failed' if failed else 'interrupted'}: {len(finished)} of {sweep.wanted} runs finished"
    result = Result(scenario, tuple(counted.values()), note, recorded) if counted else None
    saved = False
    if result is not None and out is not None:
        try:
            result.save(out)
            saved = True
        except FourhopError as error:
            failed = IncompleteError([], *([str(failed)] if failed else []), str(error))
        else:
            if recorded is not None:
                recorded.recover(out)
    if failed is not None:
        failed.result, failed.saved = result, saved
    if interrupted or result is None:
        raise Interrupted(result, sweep.wanted) from failed
    if failed is not None:
        raise failed
    return result


def _progress(loop: Loop, executor: Threads, sweep: Sweep, duration_s: float) -> Progress:
    running = tuple((task.seed, share) for task, share in executor.running if share > 0.0)
    begun = math.fsum(share for _, share in running)
    return Progress(
        done=loop.computed,
        wanted=sweep.wanted,
        fraction=min(1.0, (loop.computed + begun) / sweep.wanted),
        running=running,
        # A run that ends after a number of packets has simulated less than `duration`.
        simulated_s=loop.simulated_s + begun * duration_s,
        elapsed_s=loop.elapsed_s,
        precision=loop.plan.precision(0),
        target=sweep.target,
    )


def _note(plan: Plan, sweep: Sweep) -> str | None:
    runs = len(plan.seeds(0))
    if plan.met(0) is False:
        precision = plan.precision(0)
        reached = "unknown" if precision is None else f"{precision:.1%}"
        return f"precision not met: {reached} after {runs} runs, asked for {sweep.target:.1%}"
    if runs == 1:
        return "one run: ± is by batch means within this run. For an interval over replications, use more runs"
    return None
