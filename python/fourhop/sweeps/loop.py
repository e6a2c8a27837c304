"""The main loop of `fourhop.run`, `fourhop.sweep` and `fourhop validate`.

It takes the next task from a plan, looks for a kept run, has it simulated otherwise, and keeps the results. A run that
fails is recorded, and the others continue.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from fourhop import rundata
from fourhop.errors import IncompleteError
from fourhop.rundata import RunData
from fourhop.sweeps.local import Executor, Finished
from fourhop.sweeps.schedule import Plan, Task

_POLL_S = 0.1


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that a finished run is both kept and counted, or neither."""
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield
        return
    pending: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: pending.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pending:
        previous(*pending[0])


class Kept(Protocol):
    """Storage of finished runs."""

    def name(self, task: Task) -> Hashable:
        """Key of a run in the store; tasks with the same key share a run."""

    def find(self, task: Task, /) -> bool:
        """Whether the run is stored."""

    def read(self, task: Task) -> RunData:
        """The part of a stored run that a stop rule needs."""

    def keep(self, finished: Finished, run: RunData) -> None:
        """Keep a run."""


class Memory:
    """Keeps runs in memory; their series stay where the simulator wrote them."""

    def __init__(self) -> None:
        self.runs: dict[tuple[int, int], RunData] = {}
        """Runs by point and seed."""

    def name(self, task: Task) -> Hashable:
        """Each task is a separate run."""
        return task.point, task.seed

    def find(self, _: Task) -> bool:
        """Always false: runs are not shared between tasks."""
        return False

    def read(self, task: Task) -> RunData:
        """The run of a task."""
        return self.runs[task.point, task.seed]

    def keep(self, finished: Finished, run: RunData) -> None:
        """Keep a run."""
        self.runs[finished.task.point, finished.task.seed] = run

    def of(self, point: int) -> dict[int, RunData]:
        """The runs of a point by seed, in seed order."""
        return {seed: run for (at, seed), run in sorted(self.runs.items(), key=lambda item: item[0]) if at == point}


class Loop:
    """The loop of one call."""

    def __init__(self, plan: Plan, kept: Kept) -> None:
        self.plan = plan
        self.failed: dict[Task, Exception] = {}
        """Failed runs with their errors."""
        self.computed = 0
        """Number of runs simulated."""
        self.simulated_s = 0.0
        """Simulated seconds of these runs."""
        self.wall_s = 0.0
        """Computing time of these runs."""
        self._kept = kept
        self._started = time.monotonic()
        self._waiting: list[Task] = []
        self._running: dict[Hashable, list[Task]] = {}

    def refuse_failures(self, describe: Callable[[Task], str], kept: str) -> IncompleteError | None:
        """The error about failed runs, or `None`. `describe` names a run; `kept` says where the finished ones are.

        If no run finished at all, raises the error of the first one instead: the request cannot be carried out.
        """
        if not self.failed:
            return None
        in_order = sorted(self.failed.items(), key=lambda item: (item[0].point, item[0].seed))
        problems = [f"{describe(task)}: {error}" for task, error in in_order]
        if not self.plan.done:
            task, error = in_order[0]
            error.add_note(f"{describe(task)}; no run finished")
            raise error
        runs = "1 run" if len(problems) == 1 else f"{len(problems)} runs"
        return IncompleteError(problems, f"{runs} failed; {self.plan.done} finished runs {kept}")

    @property
    def elapsed_s(self) -> float:
        """Wall clock since the start."""
        return time.monotonic() - self._started

    def reuse(self) -> None:
        """Finish all tasks whose runs are stored, and leave the others to `run`."""
        while (task := self.plan.needed()) is not None:
            if not self._found(task):
                self._waiting.append(task)
        # Tasks are popped from the end, longest first.
        self._waiting.reverse()
        for point in self.plan.open:
            while (task := self.plan.upcoming(point)) is not None and self._kept.find(task):
                self.plan.advance(point)
                self._found(task)

    def run(self, executor: Executor, report: Callable[[], None]) -> None:
        """Simulate the missing runs. `report` is called a few times a second and when runs have finished.

        After Ctrl-C, finished runs are kept before `KeyboardInterrupt` is raised again.
        """
        try:
            while not self.plan.is_finished():
                while executor.free > 0 and not self.plan.is_finished() and (task := self._next()) is not None:
                    name = self._kept.name(task)
                    if name in self._running:
                        # The same scenario at another point: one run serves both.
                        self._running[name].append(task)
                    elif not self._found(task):
                        self._running[name] = [task]
                        executor.submit(task)
                if not self.plan.is_finished():
                    self._take(executor, _POLL_S)
                report()
        except KeyboardInterrupt:
            self._take(executor, 0.0)
            raise
        finally:
            executor.stop()

    def _next(self) -> Task | None:
        while self._waiting:
            task = self._waiting.pop()
            # The remaining runs of an abandoned point are no longer needed.
            if not self.plan.is_done(task.point):
                return task
        return self.plan.further()

    def _found(self, task: Task) -> bool:
        """Finish a task whose run is stored; another process may have stored it in the meantime."""
        if not self._kept.find(task):
            return False
        self.plan.finish(task, self._kept.read(task) if self.plan.judges(task.point) else None)
        return True

    def _take(self, executor: Executor, timeout_s: float) -> None:
        with _undisturbed():
            for finished in executor.finished(timeout_s):
                self._count(finished)

    def _count(self, finished: Finished) -> None:
        served = self._running.pop(self._kept.name(finished.task))
        if isinstance(finished.outcome, Exception):
            for task in served:
                self.failed[task] = finished.outcome
                self.plan.fail(task)
            return
        run = rundata.parse(finished.outcome)
        self._kept.keep(finished, run)
        self.computed += 1
        self.simulated_s += run["simulated_s"]
        self.wall_s += run["wall_s"]
        for number, task in enumerate(served):
            self.plan.finish(
                task, run if self.plan.judges(task.point) else None, run["wall_s"] if number == 0 else None
            )
