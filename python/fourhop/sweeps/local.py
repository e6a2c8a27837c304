"""Runs on the cores of this machine.

The simulations run on threads of the extension module, which hold no Python lock; this thread collects what they report
and writes it. docs/sweeps.md has what was measured beside processes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fourhop._core import Batch, ScenarioError
from fourhop.errors import FourhopError
from fourhop.sweeps.schedule import Task
from fourhop.sweeps.seriesfile import Staging

_LEAST_NAP_S = 0.0005
_LONGEST_NAP_S = 0.05
# Share of the time since something finished that the next look may come late.
_PATIENCE = 0.02


class RunError(Exception):
    """A scenario that cannot run with its seed."""

    def __init__(self, task: Task, cause: ScenarioError) -> None:
        """`cause` as the simulator raised it."""
        super().__init__(str(cause))
        self.task = task
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Finished:
    """What an executor hands over."""

    task: Task
    text: str
    """The run as JSON."""
    series: Path | None
    """Folder of its own with the files of its time series, if it records any; whoever takes the run removes it."""


class Executor(Protocol):
    """Where runs are simulated. Tasks go in, finished runs come out, in any order."""

    @property
    def free(self) -> int:
        """Tasks it would take now."""

    def submit(self, task: Task) -> None:
        """Start a run, or hold it ready to start."""

    def finished(self, timeout_s: float) -> list[Finished]:
        """Runs that have finished, waiting at most so long for the first.

        Raises `RunError` for a scenario that cannot run with its seed.
        """

    @property
    def running(self) -> float:
        """Sum of the shares done of the runs in progress."""

    def stop(self) -> None:
        """Give up what is running."""


class Threads:
    """`jobs` runs at a time, a thread each."""

    def __init__(self, jobs: int, staging: Staging) -> None:
        """`staging`: where runs write their time series."""
        self._jobs = jobs
        self._staging = staging
        self._batches: dict[Task, tuple[Batch, Path | None]] = {}
        self._idle_since = time.monotonic()

    @property
    def free(self) -> int:
        """Threads without a run."""
        return self._jobs - len(self._batches)

    def submit(self, task: Task) -> None:
        """Start a run."""
        series = self._staging.begin() if task.records_series else None
        folder = None if series is None else str(series)
        self._batches[task] = Batch(task.scenario_json, [task.seed], series_dir=folder), series

    def finished(self, timeout_s: float) -> list[Finished]:
        """Runs that have finished."""
        until = time.monotonic() + timeout_s
        while True:
            done = []
            for task, (batch, series) in list(self._batches.items()):
                try:
                    reported = batch.poll(0.0)
                except ScenarioError as error:
                    raise RunError(task, error) from None
                except OSError as error:
                    raise FourhopError(str(error)) from None
                if reported is not None:
                    del self._batches[task]
                    done.append(Finished(task, reported[1], series))
            now = time.monotonic()
            if done or now >= until:
                if done:
                    self._idle_since = now
                return done
            # Looking often costs little beside short runs, and looking late costs little beside long ones.
            nap = max(_LEAST_NAP_S, _PATIENCE * (now - self._idle_since))
            time.sleep(min(nap, _LONGEST_NAP_S, until - now))

    @property
    def running(self) -> float:
        """Sum of the shares done of the runs in progress."""
        return sum(share for batch, _ in self._batches.values() for _, share in batch.progress())

    def stop(self) -> None:
        """End the runs; they notice within a few thousand events."""
        for batch, _ in self._batches.values():
            batch.stop()
        # Waits for them, as they write into a folder that is about to go.
        self._batches.clear()
