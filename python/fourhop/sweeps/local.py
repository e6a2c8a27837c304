"""Runs on the cores of this machine.

Simulations run in threads of the extension module, which do not hold the GIL; this thread collects their results and
writes them. docs/sweeps.md compares this with processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fourhop._core import Run
from fourhop.errors import FourhopError, ScenarioError
from fourhop.sweeps.schedule import Task

_LEAST_NAP_S = 0.0005
_LONGEST_NAP_S = 0.05
# Longest delay in noticing a finished run, as a share of the time since the previous one finished.
_PATIENCE = 0.02


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run of an executor."""

    task: Task
    outcome: str | Exception
    """The run as JSON, or the error: `ScenarioError` if the scenario cannot run with its seed, `FourhopError` if files
    cannot be written."""
    series: Path | None
    """Folder with its time series, if it records any."""


class Executor(Protocol):
    """Simulates runs. Tasks are submitted, and finished runs are returned in any order."""

    @property
    def free(self) -> int:
        """Number of tasks it would accept now."""

    def submit(self, task: Task) -> None:
        """Start a run, or queue it."""

    def finished(self, timeout_s: float) -> list[Finished]:
        """Runs that have ended; waits at most `timeout_s` for the first."""

    @property
    def running(self) -> list[tuple[Task, float]]:
        """Runs in progress with the share done, 0 to 1, if known."""

    def stop(self) -> None:
        """Abandon all runs in progress."""


Start = Callable[[Task, Path | None], Run]
"""Starts a run, which writes its time series, if any, into a folder."""


def plainly(task: Task, series: Path | None) -> Run:
    """Start a run whose only output is its numbers and its time series."""
    return Run(task.scenario_json, task.seed, None, series)


class Threads:
    """`jobs` runs at a time, each in a thread."""

    def __init__(self, jobs: int, series: Callable[[], Path], start: Start = plainly) -> None:
        """`series` creates a folder for the time series of a run; `start` starts a run."""
        self._jobs = jobs
        self._series = series
        self._start = start
        self._runs: dict[Task, tuple[Run, Path | None]] = {}
        self._idle_since = time.monotonic()

    @property
    def free(self) -> int:
        """Threads without a run."""
        return self._jobs - len(self._runs)

    def submit(self, task: Task) -> None:
        """Start a run."""
        series = self._series() if task.records_series else None
        self._runs[task] = self._start(task, series), series

    def finished(self, timeout_s: float) -> list[Finished]:
        """Runs that have ended."""
        until = time.monotonic() + timeout_s
        while True:
            done = []
            for task, (run, series) in list(self._runs.items()):
                outcome: str | Exception | None
                try:
                    outcome = run.poll(0.0)
                except ScenarioError as error:
                    outcome = error
                except OSError as error:
                    outcome = FourhopError(str(error))
                if outcome is not None:
                    del self._runs[task]
                    done.append(Finished(task, outcome, series))
            now = time.monotonic()
            if done or now >= until:
                if done:
                    self._idle_since = now
                return done
            # Frequent polling costs little if runs are short, and late polling costs little if they are long.
            nap = max(_LEAST_NAP_S, _PATIENCE * (now - self._idle_since))
            time.sleep(min(nap, _LONGEST_NAP_S, until - now))

    @property
    def running(self) -> list[tuple[Task, float]]:
        """Runs in progress with the share done."""
        return [(task, min(1.0, run.simulated_s() / task.duration_s)) for task, (run, _) in self._runs.items()]

    def stop(self) -> None:
        """Stop the runs; they notice within a few thousand events."""
        for run, _ in self._runs.values():
            run.stop()
        # Waits for them, as they write into a folder that is about to be removed.
        self._runs.clear()
