"""Runs on the cores of this machine.

The simulations run on threads of the extension module, which hold no Python lock; this thread collects what they report
and writes it. docs/sweeps.md has what was measured beside processes.
"""

from __future__ import annotations

import time
from typing import Protocol

from fourhop._core import ScenarioError
from fourhop.sweeps.schedule import Task
from fourhop.sweeps.simulation import Simulation

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


class Executor(Protocol):
    """Where runs are simulated. Tasks go in, the JSON of finished runs comes out, in any order."""

    @property
    def free(self) -> int:
        """Tasks it would take now."""

    def submit(self, task: Task) -> None:
        """Start a run, or hold it ready to start."""

    def finished(self, timeout_s: float) -> list[tuple[Task, str]]:
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

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._runs: dict[Task, Simulation] = {}
        self._idle_since = time.monotonic()

    @property
    def free(self) -> int:
        """Threads without a run."""
        return self._jobs - len(self._runs)

    def submit(self, task: Task) -> None:
        """Start a run."""
        self._runs[task] = Simulation(task.scenario_json, task.seed)

    def finished(self, timeout_s: float) -> list[tuple[Task, str]]:
        """Runs that have finished."""
        until = time.monotonic() + timeout_s
        while True:
            done = []
            for task, run in list(self._runs.items()):
                try:
                    reported = run.poll(0.0)
                except ScenarioError as error:
                    raise RunError(task, error) from None
                if reported is not None:
                    del self._runs[task]
                    done.append((task, reported))
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
        return sum(run.share for run in self._runs.values())

    def stop(self) -> None:
        """End the runs; they notice within a few thousand events."""
        for run in self._runs.values():
            run.stop()
        for run in self._runs.values():
            run.close()
        self._runs.clear()
