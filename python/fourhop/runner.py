"""Run a scenario: replications on all cores, a stop rule by relative precision, Ctrl-C that keeps what finished.

The simulations run on threads inside the extension module, which hold no Python lock. What a run yields depends on
the scenario and its seed only, and the stop rule looks at the runs in the order of their seeds, so neither the number
of threads nor the order in which runs finish changes a result.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fourhop import rundata, stats
from fourhop._core import Batch
from fourhop.errors import FourhopError, Interrupted
from fourhop.recorded import Recorded

if TYPE_CHECKING:
    from fourhop.result import Result
    from fourhop.scenario import Scenario

MIN_RUNS = 3
"""Fewest runs before the stop rule may end: the interval of two runs is wide, but by luck it can be tiny."""

MAX_RUNS = 100
"""Runs after which the stop rule gives up unless told otherwise."""

RUNS_LIMIT = 1_000_000
"""More runs than this are a slip of the hand."""

JOBS_LIMIT = 1024
"""More threads than this are one too."""

MAX_SEED = 2**53
"""Seeds stay below this, so that JSON readers of every language keep them exact."""

_POLL_S = 0.1

PrecisionOf = Literal["aggregate", "flows"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call of `run` is."""

    done: int
    """Finished runs."""
    wanted: int
    """Runs asked for; with a precision target the largest number allowed."""
    fraction: float
    """Share of the work that is done, 0 to 1; with a precision target a lower bound."""
    running: tuple[tuple[int, float], ...]
    """(seed, share done) of each run in progress."""
    simulated_s: float
    """Simulated seconds so far, over all runs."""
    elapsed_s: float
    """Wall clock since the start."""
    precision: float | None
    """Relative half-width reached so far, where a target was set and there are enough runs to tell."""
    target: float | None
    """The relative half-width asked for."""

    @property
    def remaining_s(self) -> float | None:
        """Wall clock left if the rest goes at the same pace; `None` while there is nothing to judge by."""
        return self.elapsed_s * (1.0 - self.fraction) / self.fraction if self.fraction > 0.0 else None


def run(
    scenario: Scenario,
    runs: int = 1,
    seed: int | None = None,
    precision: str | float | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    out: str | Path | None = None,
    pcap: str | Path | None = None,
    *,
    precision_of: PrecisionOf = "aggregate",
    max_runs: int = MAX_RUNS,
) -> Result:
    """Run `scenario` with the seeds `seed`, `seed + 1`, ... and gather what the runs measured.

    Two scenarios run with the same seeds see the same random networks and starting points (common random numbers).

    Args:
        scenario: what to run.
        runs: number of independent replications; ignored with `precision`.
        seed: seed of the first run; the scenario's own `seed` if not given.
        precision: instead of a fixed number of runs, add runs until the half-width of the 95 % interval over the
            mean goodput is at most this (`"5%"` or `0.05`), at least 3 runs and at most `max_runs`.
        jobs: runs at a time; all cores if not given.
        progress: called a few times a second with a `Progress`, from the calling thread.
        out: folder to write the result into, as `Result.save` does; checked for being writable before the first run.
        pcap: folder for packet captures, one file a node, in a folder for each seed if there are several. Runs
            that were begun and did not count, past a precision target or at Ctrl-C, leave theirs too.
        precision_of: which goodput `precision` is about: that of all flows together, or that of every single flow. A
            starving flow can keep `flows` from ever being met.
        max_runs: where `precision` gives up; `Result.note` then says so.

    Raises:
        ScenarioError: the scenario cannot run with one of the seeds (say, no connected random network was found).
        FourhopError: an argument or a folder cannot be used.
        Interrupted: Ctrl-C; it carries the result of the runs that had finished.

    >>> import fourhop
    >>> scenario = fourhop.Scenario.chain(hops=2, transport="newreno", duration="5s")
    >>> fourhop.run(scenario, runs=2, seed=7).seeds
    (7, 8)
    """
    from fourhop.result import Result

    target = None if precision is None else positive_share(precision)
    wanted = (
        within("runs", runs, 1, RUNS_LIMIT) if target is None else within("max_runs", max_runs, MIN_RUNS, RUNS_LIMIT)
    )
    if precision_of not in ("aggregate", "flows"):
        raise FourhopError(f'precision_of: found {precision_of!r}, allowed: "aggregate", "flows"')
    seed = scenario.seed if seed is None else seed
    if not 0 <= seed <= MAX_SEED - wanted:
        raise FourhopError(f"seed: found {seed}, allowed: 0 to {MAX_SEED} less the number of runs")
    jobs = within("jobs", jobs, 1, JOBS_LIMIT) if jobs is not None else os.cpu_count() or 1
    if out is not None or pcap is not None:
        from fourhop import store

        if out is not None:
            store.prepare(Path(out))
        if pcap is not None:
            store.writable(Path(pcap))

    recorded = Recorded(None if out is None else Path(out)) if scenario.records_series else None
    finished: dict[int, rundata.RunData] = {}
    started = time.monotonic()
    batch = Batch(
        scenario.resolved_json,
        range(seed, seed + wanted),
        min(jobs, wanted),
        None if pcap is None else str(pcap),
        None if recorded is None else str(recorded.folder),
    )
    prefix = Prefix(seed, target, precision_of)
    interrupted = False
    try:
        while len(finished) < wanted and not prefix.met:
            if _take(batch, finished, _POLL_S):
                prefix.extend(finished)
            if progress is not None:
                progress(_progress(batch, scenario, finished, prefix, wanted, time.monotonic() - started))
    except KeyboardInterrupt:
        interrupted = True
        batch.stop()
        while _take(batch, finished, 0.0):
            pass
    finally:
        batch.stop()
    # Waits for runs that were begun and do not count: they write into folders that are about to be tidied.
    del batch
    if interrupted:
        result = _partial(scenario, finished, wanted, recorded)
        if result is not None and out is not None:
            _save(result, Path(out))
        raise Interrupted(result, wanted)

    kept = prefix.runs if target is not None else [finished[key] for key in sorted(finished)]
    whole = Result(scenario, tuple(kept), _note(kept, prefix, target), recorded)
    if out is not None:
        _save(whole, Path(out))
    return whole


def _save(result: Result, out: Path) -> None:
    result.save(out)
    if isinstance(result.recorded, Recorded):
        result.recorded.settle(out)


def _take(batch: Batch, finished: dict[int, rundata.RunData], timeout_s: float) -> bool:
    """Put the next finished run with the others; whether there was one in time."""
    try:
        reported = batch.poll(timeout_s)
    except OSError as error:
        raise FourhopError(str(error)) from None
    if reported is None:
        return False
    seed, text = reported
    finished[seed] = rundata.parse(text)
    return True


class Prefix:
    """The runs of consecutive seeds from the first on, and the stop rule over them.

    Runs finish in any order; judging only the unbroken prefix makes the number of runs that count the same whatever
    finished first. Runs past the one that met the target are thrown away.
    """

    def __init__(self, seed: int, target: float | None, of: PrecisionOf) -> None:
        """`seed` of the first run, the relative half-width aimed at if any, and of which goodput."""
        self.runs: list[rundata.RunData] = []
        self.met = False
        self.precision: float | None = None
        self._seed = seed
        self.target = target
        self._of = of

    def extend(self, finished: dict[int, rundata.RunData]) -> None:
        """Take in the runs that continue the prefix, up to the one with which the target is met."""
        while not self.met and (following := finished.get(self._seed + len(self.runs))) is not None:
            self.runs.append(following)
            if self.target is not None and len(self.runs) >= 2:
                self.precision = self._measure()
                close = self.precision is not None and self.precision <= self.target
                self.met = close and len(self.runs) >= MIN_RUNS

    def _measure(self) -> float | None:
        """The relative half-width reached: of the aggregate, or the worst of the flows."""
        if self._of == "aggregate":
            return stats.student_interval([run["aggregate_goodput_bps"] for run in self.runs]).relative
        each = zip(*([flow["goodput_bps"] for flow in run["flows"]] for run in self.runs), strict=True)
        widths = [stats.student_interval(goodputs).relative for goodputs in each]
        return None if None in widths else max((width for width in widths if width is not None), default=None)


def _progress(
    batch: Batch,
    scenario: Scenario,
    finished: dict[int, rundata.RunData],
    prefix: Prefix,
    wanted: int,
    elapsed_s: float,
) -> Progress:
    running = tuple((seed, share) for seed, share in batch.progress() if seed not in finished)
    begun = sum(share for _, share in running)
    work = len(finished) + begun
    # A run that ends by packets has simulated less than `duration`.
    simulated_s = math.fsum(run["simulated_s"] for run in finished.values()) + begun * scenario.duration_s
    return Progress(
        done=len(finished),
        wanted=wanted,
        fraction=min(1.0, work / wanted),
        running=running,
        simulated_s=simulated_s,
        elapsed_s=elapsed_s,
        precision=prefix.precision,
        target=prefix.target,
    )


def _partial(
    scenario: Scenario, finished: dict[int, rundata.RunData], wanted: int, recorded: Recorded | None
) -> Result | None:
    from fourhop.result import Result

    if not finished:
        return None
    note = f"interrupted: {len(finished)} of {wanted} runs finished"
    return Result(scenario, tuple(finished[key] for key in sorted(finished)), note, recorded)


def _note(runs: list[rundata.RunData], prefix: Prefix, target: float | None) -> str | None:
    if target is not None and not prefix.met:
        reached = "unknown" if prefix.precision is None else f"{prefix.precision:.1%}"
        return f"precision not met: {reached} after {len(runs)} runs, asked for {target:.1%}"
    if len(runs) == 1:
        return (
            "one run, so no interval over replications: ± is by batch means within this run. "
            "Use more runs for an interval to quote"
        )
    return None


def within(name: str, value: int, least: int, most: int) -> int:
    """`value` if it is in range. Raises `FourhopError` if not."""
    if not least <= value <= most:
        raise FourhopError(f"{name}: found {value}, allowed: {least} to {most}")
    return value


def positive_share(precision: str | float) -> float:
    """A precision as `stats.parse_precision` reads it. Raises `FourhopError` for what is none."""
    try:
        return stats.parse_precision(precision)
    except ValueError as error:
        raise FourhopError(str(error)) from None
