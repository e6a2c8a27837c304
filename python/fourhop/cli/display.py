"""Progress of long commands on stderr: a bar on a terminal, one line per minute elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

    from fourhop import agreement, runner
    from fourhop.sweeps import execute


_WIDE = 80
"""Minimum number of columns for a bar."""

LINE_S = 60.0
"""Seconds between two lines without a terminal: a log of hours stays readable, and one of seconds is empty."""


class Bar:
    """A bar on a terminal, nothing elsewhere; use as a context manager."""

    def __init__(self, description: str = "starting") -> None:
        self._bar = _bar() if sys.stderr.isatty() else None
        if self._bar is not None:
            self._task = self._bar.add_task(description, total=1.0, left="")
        self._printed = time.monotonic()

    @property
    def on_terminal(self) -> bool:
        """Whether there is a bar; otherwise lines are printed."""
        return self._bar is not None

    def show(self, share: float, description: str, left: str = "", *more: str) -> None:
        """Move the bar to `share`, 0 to 1; without a terminal, print a line, including `more`, if one is due."""
        if self._bar is not None:
            self._bar.update(self._task, completed=share, description=description, left=left)
        elif time.monotonic() - self._printed >= LINE_S:
            self._printed = time.monotonic()
            parts = [description, f"{share:.0%}", *more, left]
            print(", ".join(filter(None, parts)), file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        """Start the bar."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar from the screen."""
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = Console(stderr=True)
    # On a narrow screen, the text matters more; it continues on the next line if it does not fit.
    bar = [BarColumn(bar_width=24)] if console.width >= _WIDE else []
    return Progress(
        TextColumn("{task.description}", table_column=Column()),
        *bar,
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[left]}", table_column=Column()),
        console=console,
        transient=True,
    )


class Display(Bar):
    """Shows `runner.Progress` reports; use as a context manager, call `update` with each report."""

    def update(self, report: runner.Progress) -> None:
        """Show the progress."""
        text = f"run {report.done} of {'at most ' if report.target else ''}{report.wanted}"
        left = _precision(report) if report.target else clock(report.remaining_s)
        self.show(report.fraction, ", ".join(filter(None, (text, _pace(report)))), left)


class EntryDisplay(Bar):
    """Shows `agreement.Report` reports of a comparison of `total` entries; use as a context manager."""

    def __init__(self, total: int) -> None:
        super().__init__(f"{total} entries")

    def update(self, report: agreement.Report) -> None:
        """Show the progress; without a terminal, each finished entry gets a line."""
        of = f"{report.done} of {report.total} entries"
        if self.on_terminal or report.row is None:
            self.show(report.fraction, ", ".join(filter(None, (of, _pace(report)))))
        else:
            ratio = "" if report.row.ratio is None else f", ratio {report.row.ratio:.3f}"
            print(f"{of}: {report.row.entry.name}: {report.row.verdict}{ratio}", file=sys.stderr, flush=True)


class SweepDisplay(Bar):
    """Shows `sweeps.execute.SweepProgress` reports; use as a context manager."""

    def update(self, report: execute.SweepProgress) -> None:
        """Show the progress."""
        text = f"{run_of(report)}, point {report.points_done} of {report.points}"
        reused = f"{report.reused} reused" if report.reused else ""
        self.show(report.fraction, text, clock(report.remaining_s), reused)


def run_of(report: execute.SweepProgress) -> str:
    """Progress as text: `run 3 of 20`, or `run 3` if a precision target decides the number."""
    return f"run {report.done}" + ("" if report.wanted is None else f" of {report.wanted}")


def _pace(report: runner.Progress | agreement.Report) -> str:
    return f"{report.simulated_s / report.elapsed_s:.0f} simulated s/s" if report.elapsed_s > 0.0 else ""


def _precision(report: runner.Progress) -> str:
    if report.target is None:
        return ""
    reached = "?" if report.precision is None else f"{report.precision:.1%}"
    return f"± {reached} of {report.target:.1%}"


def clock(seconds: float | None) -> str:
    """Remaining time as text: `1:02:03 left`."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left"
