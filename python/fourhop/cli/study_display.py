"""Progress over the sweeps of several studies: one bar, one remaining time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from fourhop.cli.display import Bar, clock, run_of

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress


class StudyDisplay(Bar):
    """Shows the progress of several studies' sweeps as a whole, weighted by their cost."""

    def __init__(self, runs: int, cost_s: float) -> None:
        """`runs` and `cost_s` are totals over all sweeps; the cost is processor time measured before, or a guess."""
        super().__init__()
        self._total, self._total_s = runs, max(cost_s, 1e-9)
        self._done: dict[str, tuple[int, float]] = {}
        self._runs, self._cost_s = 0, 0.0
        self._title = ""
        self._fresh = True
        self._started = time.monotonic()
        self._reused_s = 0.0

    def begin(self, title: str, runs: int, cost_s: float) -> None:
        """Announce the next reports: they cover this much of the sweep, including earlier runs."""
        self._title, self._runs, self._cost_s = title, runs, cost_s
        self._fresh = True

    def update(self, report: SweepProgress) -> None:
        """Show the progress of the sweep, and of the whole."""
        if self._fresh:
            # Stored runs say nothing about the speed of the rest.
            self._fresh = False
            before_s = self._done.get(self._title, (0, 0.0))[1]
            self._reused_s += max(0.0, self._cost_s * min(1.0, report.reused / max(1, self._runs)) - before_s)
        others_s = sum(cost_s for title, (_, cost_s) in self._done.items() if title != self._title)
        share = min(1.0, (others_s + report.fraction * self._cost_s) / self._total_s)
        computed = share - self._reused_s / self._total_s
        elapsed = time.monotonic() - self._started
        left = clock(elapsed * (1.0 - share) / computed if computed > 0.0 else report.remaining_s)
        self.show(share, f"{self._title}: {run_of(report)}", left)

    def end(self) -> None:
        """Mark this part of the sweep as done."""
        self._done[self._title] = self._runs, self._cost_s
        if not self.on_terminal:
            runs = sum(each for each, _ in self._done.values())
            print(f"{self._title}: done, {runs} of {self._total} runs", file=sys.stderr, flush=True)

    def finish(self, title: str, runs: int, cost_s: float) -> None:
        """Mark a sweep of `runs` as complete with the runs it has: the others no longer count as work."""
        done, done_s = self._done.get(title, (0, 0.0))
        self._total += done - runs
        self._total_s += done_s - cost_s
