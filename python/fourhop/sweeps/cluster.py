"""Runs on the workers of a Dask cluster.

A task is a scenario and a seed; its result is the run as JSON and the files of its time series. Workers need only
fourhop and space for series in their temporary folder, but no shared file system. Results come back one by one and are
stored by this process. If a worker dies, the scheduler gives its unfinished runs to others.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fourhop._core import Run
from fourhop.errors import FourhopError, ScenarioError
from fourhop.recorded import Staging, Table, gone, written
from fourhop.sweeps import runfile
from fourhop.sweeps.local import Finished
from fourhop.sweeps.schedule import Task

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_S = 20.0
# Tasks given to the scheduler per worker thread: one runs, one is ready; this process decides the order.
_AHEAD = 2
# Tasks given to a cluster without workers, so that an adaptive one starts some.
_FIRST = 16
_LOOK_S = 5.0
_STOP_POLL_S = 1.0

Simulated = tuple[str, str, dict[Table, bytes] | None]


class Cluster:
    """The workers of a Dask scheduler: as many runs at a time as they have threads, or `jobs`."""

    def __init__(self, client: Client | str, staging: Staging, jobs: int | None = None) -> None:
        """Connect, and check that the workers have the same engine. Series that they return are put into `staging`.

        Raises `FourhopError` if there is no scheduler, or if a worker has another engine.
        """
        self._own = isinstance(client, str)
        self._client = _connect(client) if isinstance(client, str) else client
        self._jobs = jobs
        self._staging = staging
        self._futures: dict[Task, Future[Simulated]] = {}
        self._done: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self._threads = 0
        self._looked = -_LOOK_S
        try:
            _same(self._client.run(runfile.engine))
        except BaseException:
            self.stop()
            raise

    @property
    def free(self) -> int:
        """Number of tasks to give to the scheduler now."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_S:
            self._looked = now
            self._threads = sum(self._client.nthreads().values())
        most = _AHEAD * self._threads or _FIRST
        return (most if self._jobs is None else min(most, self._jobs)) - len(self._futures)

    @property
    def running(self) -> list[tuple[Task, float]]:
        """Always empty: workers report only whole runs."""
        return []

    def submit(self, task: Task) -> None:
        """Give a run to the scheduler."""
        # Not pure: the scheduler must not reuse the result of another sweep.
        future = self._client.submit(simulate, task.scenario_json, task.seed, task.records_series, pure=False)
        self._futures[task] = future
        future.add_done_callback(lambda _: self._done.put(task))

    def finished(self, timeout_s: float) -> list[Finished]:
        """Runs that have come back."""
        results = []
        with contextlib.suppress(queue.Empty):
            tasks = [self._done.get(timeout=timeout_s)]
            while not self._done.empty():
                tasks.append(self._done.get_nowait())
            results = [self._result(task) for task in tasks if task in self._futures]
        return results

    def stop(self) -> None:
        """Cancel all unfinished runs."""
        futures = list(self._futures.values())
        self._futures.clear()
        # Ignore a lost scheduler.
        with contextlib.suppress(Exception):
            if futures:
                self._client.cancel(futures)
            if self._own:
                self._client.close(timeout=_CONNECT_S)

    def _result(self, task: Task) -> Finished:
        import distributed
        from distributed.client import FutureCancelledError

        try:
            engine, text, series = self._futures[task].result()
        except ScenarioError as error:
            del self._futures[task]
            return Finished(task, error, None)
        except distributed.KilledWorker as error:
            raise FourhopError(
                f"cluster: the run with seed {task.seed} of point {task.point} was given up after several workers died "
                f"while they had it; finished runs are kept ({str(error).splitlines()[0]})"
            ) from None
        except (FutureCancelledError, OSError) as error:
            raise FourhopError(f"cluster: lost, finished runs are kept ({str(error).splitlines()[0]})") from None
        # A worker may have joined after the check at the start.
        _same({"a worker": engine})
        del self._futures[task]
        return Finished(task, text, None if series is None else self._put(task, series))

    def _put(self, task: Task, series: dict[Table, bytes]) -> Path:
        """Write the files of series as a local run would have."""
        folder = self._staging.begin()
        try:
            for table, path in written(folder, task.seed).items():
                path.write_bytes(series[table])
        except OSError as error:
            raise FourhopError(f"{folder}: cannot write time series: {error.strerror or error}") from error
        return folder


def simulate(scenario_json: str, seed: int, series: bool) -> Simulated:
    """Run a task on a worker. Returns its engine, the run as JSON, and the content of its time series, if any."""
    folder = Path(tempfile.mkdtemp(prefix="fourhop-series-")) if series else None
    with gone(folder):
        run = Run(scenario_json, seed, None, folder)
        texts: dict[Table, bytes] | None = None
        try:
            while (text := run.poll(_STOP_POLL_S)) is None:
                pass
            if folder is not None:
                texts = {table: path.read_bytes() for table, path in written(folder, seed).items()}
        except OSError as error:
            # As a `FourhopError`: an `OSError` from a worker would look like a lost cluster.
            raise FourhopError(f"cluster: a worker cannot write time series: {error}") from None
    return runfile.engine(), text, texts


def _connect(address: str) -> Client:
    try:
        import distributed
    except ModuleNotFoundError:
        raise FourhopError("cluster: the package `distributed` is not installed: pip install distributed") from None
    try:
        # A client without a scheduler retries for long and ends with tracebacks, so check first.
        parts = urlsplit(address)
        if parts.scheme not in ("tcp", "tls") or parts.hostname is None or parts.port is None:
            raise ValueError("not an address of that form")
        socket.create_connection((parts.hostname, parts.port), timeout=_CONNECT_S).close()
        return distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise FourhopError(
            f"cluster: found no scheduler at {address} ({str(error).splitlines()[0]}), allowed: its address, "
            "such as tcp://host:8786"
        ) from None


def _same(engines: dict[str, str]) -> None:
    """Refuse other engines: results of other code must not be stored as ours."""
    ours = runfile.engine()
    others = {worker: engine for worker, engine in engines.items() if engine != ours}
    if others:
        each = ", ".join(f"{engine} at {worker}" for worker, engine in sorted(others.items()))
        raise FourhopError(
            f"cluster: found the engine {each}, allowed: {ours}, the engine here; install the same build there"
        )
