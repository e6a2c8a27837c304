"""Progress over the sweeps of several studies: one bar, one time left."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from fourhop.cli.display import Bar, clock

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress


class StudyDisplay(Bar):
    """Shows how far the sweeps of several studies are, all of their runs as one piece of work."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._total = max(1, total)
        self._before = 0
        self._runs = 0
        self._title = ""
        self._fresh = True
        self._started = time.monotonic()
        self._reused = 0.0

    def begin(self, title: str, runs: int) -> None:
        """The next reports are about this sweep."""
        self._title, self._runs = title, runs
        self._fresh = True

    def update(self, report: SweepProgress) -> None:
        """Show how far the sweep is, and with it the whole."""
        if self._fresh:
            # What was stored is no measure of how fast the rest goes.
            self._fresh, self._reused = False, self._reused + report.reused
        share = min(1.0, (self._before + report.fraction * self._runs) / self._total)
        computed = share - self._reused / self._total
        elapsed = time.monotonic() - self._started
        left = clock(elapsed * (1.0 - share) / computed if computed > 0.0 else report.remaining_s)
        of = f"{self._title}: run {report.done} of {report.wanted or 'some'}"
        self.show(share, of, left)

    def end(self) -> None:
        """The sweep is done."""
        self._before += self._runs
        if self._bar.disable:
            print(f"{self._title}: done, {self._before} of {self._total} runs", file=sys.stderr, flush=True)
