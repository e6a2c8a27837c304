"""Progress of long work on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

if TYPE_CHECKING:
    from fourhop import compare, runner
    from fourhop.sweeps import execute


_WIDE = 80
"""Columns of a screen that has room for a bar."""

LINE_S = 30.0
"""Seconds without a word after which a log gets a line although no run has finished."""


class Bar:
    """A bar on a terminal, nothing elsewhere; use as a context manager."""

    def __init__(self, description: str = "starting") -> None:
        console = Console(stderr=True)
        # On a narrow screen the words matter more; what does not fit goes on in the next line.
        bar = [BarColumn(bar_width=24)] if console.width >= _WIDE else []
        self._bar = Progress(
            TextColumn("{task.description}", table_column=Column()),
            *bar,
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}", table_column=Column()),
            console=console,
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task(description, total=1.0, left="")

    @property
    def on_terminal(self) -> bool:
        """Is there a bar? Else lines are printed."""
        return not self._bar.disable

    def show(self, share: float, description: str, left: str = "") -> None:
        """Move the bar to `share`, 0 to 1."""
        self._bar.update(self._task, completed=share, description=description, left=left)

    def __enter__(self) -> Self:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar off the screen."""
        self._bar.stop()


class Display(Bar):
    """Shows `runner.Progress` reports; use as a context manager, call `update` with each report.

    `total` is for several calls of `run` shown as one piece of work of that many runs: `begin` announces each call.
    """

    def __init__(self, total: int | None = None) -> None:
        super().__init__()
        self._total = total
        self._before = 0
        self._prefix = ""
        self._done = 0
        self._started = self._printed = time.monotonic()

    def begin(self, prefix: str, before: int) -> None:
        """The next reports are about a call of `run` named `prefix`, after `before` runs of earlier ones."""
        self._prefix, self._before, self._done = prefix, before, 0

    def update(self, report: runner.Progress) -> None:
        """Show how far it is."""
        wanted = self._total or report.wanted
        share = (self._before + report.fraction * report.wanted) / wanted
        text = f"{self._prefix}run {self._before + report.done} of {'at most ' if report.target else ''}{wanted}"
        pace = f"{report.simulated_s / report.elapsed_s:.0f} simulated s/s" if report.elapsed_s > 0.0 else ""
        if not self.on_terminal:
            overdue = time.monotonic() - self._printed > LINE_S
            if report.done > self._done or overdue:
                self._done, self._printed = report.done, time.monotonic()
                parts = [text, f"{share:.0%}" if overdue else "", _precision(report), pace]
                print(", ".join(filter(None, parts)), file=sys.stderr, flush=True)
        else:
            elapsed = time.monotonic() - self._started
            left = _precision(report) if report.target else clock(elapsed * (1.0 - share) / share if share else None)
            self.show(share, f"{text}, {pace}", left)


class EntryDisplay(Bar):
    """Shows `compare.Report` reports of a comparison of `total` entries; use as a context manager."""

    def __init__(self, total: int) -> None:
        super().__init__(f"{total} entries")

    def update(self, report: compare.Report) -> None:
        """Show how far it is; on a terminal always, elsewhere when an entry is finished."""
        pace = f"{report.simulated_s / report.elapsed_s:.0f} simulated s/s" if report.elapsed_s > 0.0 else ""
        text = f"{report.done} of {report.total} entries"
        if self.on_terminal:
            self.show(report.fraction, f"{text}, {pace}")
        elif report.row is not None:
            ratio = "" if report.row.ratio is None else f", ratio {report.row.ratio:.3f}"
            name = report.row.entry.name
            print(f"{text}: {name}: {report.row.verdict}{ratio}, {pace}", file=sys.stderr, flush=True)


class SweepDisplay(Bar):
    """Shows `sweeps.execute.SweepProgress` reports; use as a context manager."""

    def __init__(self) -> None:
        super().__init__()
        self._printed = time.monotonic()
        self._tenths = 0

    def update(self, report: execute.SweepProgress) -> None:
        """Show how far it is; on a terminal always, elsewhere at every tenth and at times."""
        of = "" if report.wanted is None else f" of {report.wanted}"
        text = f"run {report.done}{of}, point {report.points_done} of {report.points}"
        left = clock(report.remaining_s)
        if self.on_terminal:
            self.show(report.fraction, text, left)
        elif int(10 * report.fraction) > self._tenths or time.monotonic() - self._printed > LINE_S:
            self._tenths, self._printed = int(10 * report.fraction), time.monotonic()
            reused = f"{report.reused} reused" if report.reused else ""
            print(", ".join(filter(None, [text, f"{report.fraction:.0%}", reused, left])), file=sys.stderr, flush=True)


def _precision(report: runner.Progress) -> str:
    if report.target is None:
        return ""
    reached = "?" if report.precision is None else f"{report.precision:.1%}"
    return f"± {reached} of {report.target:.1%}"


def clock(seconds: float | None) -> str:
    """`1:02:03 left`."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left"
