"""One run as a sweep has it done, here or on a worker of a cluster: its time series come back with it.

The simulator writes time series to files as it goes on (`fourhop.recorded`); a run that is kept is one file, so they
are put into the report of the run when it is over.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fourhop._core import Batch
from fourhop.errors import FourhopError
from fourhop.recorded import TABLES, read
from fourhop.rundata import SeriesColumns

if TYPE_CHECKING:
    from fourhop.recorded import Table


class Simulation:
    """A run in progress."""

    def __init__(self, scenario_json: str, seed: int) -> None:
        """Starts it, on a thread of its own."""
        self._seed = seed
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if json.loads(scenario_json).get("sample_every", "none") != "none":
            self._folder = tempfile.TemporaryDirectory(prefix="fourhop-run-", ignore_cleanup_errors=True)
        folder = None if self._folder is None else self._folder.name
        self._batch: Batch | None = Batch(scenario_json, [seed], 1, None, folder)

    def poll(self, timeout_s: float) -> str | None:
        """What the run measured, in JSON; `None` if it has not finished after `timeout_s`.

        Raises `ScenarioError` for a scenario that cannot run with its seed.
        """
        assert self._batch is not None, "a run is polled before it is closed"
        try:
            reported = self._batch.poll(timeout_s)
        except OSError as error:
            self.close()
            raise FourhopError(f"time series: {error}") from None
        except Exception:
            self.close()
            raise
        if reported is None:
            return None
        text = reported[1]
        if self._folder is not None:
            series: dict[Table, SeriesColumns] = {
                table: read(table, Path(self._folder.name), self._seed).to_dict(as_series=False) for table in TABLES
            }
            text = json.dumps({**json.loads(text), "recorded": series})
        self.close()
        return text

    @property
    def share(self) -> float:
        """Part of the run that is done, 0 to 1."""
        return 0.0 if self._batch is None else sum(share for _, share in self._batch.progress())

    def stop(self) -> None:
        """Ask the run to end; it notices within a few thousand events."""
        if self._batch is not None:
            self._batch.stop()

    def close(self) -> None:
        """Wait until the run has ended and take its files away."""
        self.stop()
        self._batch = None
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.cleanup()
