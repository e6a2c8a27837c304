"""Progress over the sweeps of several studies: one bar, one time left."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from fourhop.cli.display import LINE_S, clock

if TYPE_CHECKING:
    from fourhop.sweeps.execute import SweepProgress


class StudyDisplay:
    """Shows how far the sweeps of several studies are, all of their runs as one piece of work."""

    def __init__(self, total: int) -> None:
        self._total = max(1, total)
        self._before = 0
        self._runs = 0
        self._title = ""
        self._fresh = True
        self._started = self._printed = time.monotonic()
        self._reused = 0.0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("starting", total=1.0, left="")

    def __enter__(self) -> StudyDisplay:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar off the screen."""
        self._bar.stop()

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
        if not self._bar.disable:
            self._bar.update(self._task, completed=share, description=of, left=left)
        elif time.monotonic() - self._printed > LINE_S:
            self._printed = time.monotonic()
            print(", ".join(filter(None, [of, f"{share:.0%} of all", left])), file=sys.stderr, flush=True)

    def end(self) -> None:
        """The sweep is done."""
        self._before += self._runs
        if self._bar.disable:
            print(f"{self._title}: done, {self._before} of {self._total} runs", file=sys.stderr, flush=True)
