"""Results as tables for people."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from fourhop import gathered
from fourhop.result import Result, span
from fourhop.stats import Interval
from fourhop.text import count

if TYPE_CHECKING:
    from fourhop.sweeps.inventory import Kept
    from fourhop.sweeps.result import SweepResult

# Width if stdout is not a terminal: wide enough that no table wraps.
_WIDE = 160
# Minimum width of a column of sentences.
_PHRASE = 16
# Maximum number of scenarios shown in a list of runs.
_LISTED = 50


def console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False, soft_wrap=not sys.stdout.isatty())


def kbps(interval: Interval) -> str:
    """An interval as text: `1234.5 ± 6.7`, in kbit/s."""
    width = "" if interval.half_width is None else f" ± {interval.half_width / 1e3:.1f}"
    return f"{interval.mean / 1e3:.1f}{width}"


class Fitted:
    """Rows as a table, or with one line per value if the screen is too narrow.

    Neither form truncates a number or a name.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]], wrapped: Sequence[int]) -> None:
        self._titles = [column.removeprefix(">") for column in columns]
        self._right = [column.startswith(">") for column in columns]
        self._rows = rows
        self._wrapped = wrapped

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Called by rich with the available width."""
        if self._least_width() > options.max_width:
            yield Text("\n".join(self._lines(options.max_width)), overflow="fold")
            return
        made = Table(box=None, pad_edge=False, header_style="bold")
        for index, title in enumerate(self._titles):
            justify: Literal["left", "right"] = "right" if self._right[index] else "left"
            made.add_column(title, justify=justify, no_wrap=index not in self._wrapped)
        for row in self._rows:
            made.add_row(*row)
        yield made

    def _least_width(self) -> int:
        """Minimum width of the table: columns are two apart, and wrapped ones as wide as a phrase."""
        columns = zip(self._titles, *self._rows, strict=True)
        widths = [max(map(cell_len, texts)) for texts in columns]
        least = [min(width, _PHRASE) if index in self._wrapped else width for index, width in enumerate(widths)]
        return sum(least) + 2 * (len(least) - 1)

    def _lines(self, width: int) -> Iterator[str]:
        label = max(map(cell_len, self._titles[1:]), default=0)
        for row in self._rows:
            yield from textwrap.wrap(
                f"{self._titles[0]} {row[0]}", width, break_long_words=False, break_on_hyphens=False
            )
            for title, value in zip(self._titles[1:], row[1:], strict=True):
                begin = f"  {title:<{label}}  "
                if not value:
                    continue
                if len(begin) + cell_len(value) <= width:
                    yield begin + value
                else:
                    yield f"  {title}"
                    indent = " " * 4
                    yield from textwrap.wrap(
                        value,
                        width,
                        initial_indent=indent,
                        subsequent_indent=indent,
                        break_long_words=False,
                        break_on_hyphens=False,
                    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], wrapped: Sequence[int] = ()) -> Fitted:
    """Rows for the screen; columns named with a leading `>` are right-aligned, those in `wrapped` contain sentences."""
    return Fitted(columns, rows, wrapped)


COUNTS = (">resent", ">timeouts", ">RTT ms")
"""Columns of `counts`."""


def counts(flow: Mapping[str, Any]) -> tuple[str, str, str]:
    """Columns of a summary besides goodput: means over the runs."""
    rtt = flow["rtt_mean_s"]
    return (
        f"{flow['retransmitted_packets_mean']:.1f}",
        f"{flow['timeouts_mean']:.1f}",
        "-" if rtt is None else f"{1e3 * rtt:.1f}",
    )


def show(result: Result) -> None:
    """Print one line per flow with intervals, then totals of the network."""
    out = console()
    resolved = result.scenario.resolved
    named = set(resolved.get("wired", {}).get("nodes", []))
    given = {flow["name"]: flow for flow in resolved.get("flows", [])}

    def ends(flow: Mapping[str, Any], column: str, key: str) -> str:
        # A host without a radio is shown by name.
        end = given.get(flow["flow"], {}).get(key)
        return str(end) if end in named else _or_dash(flow[column])

    rows = [
        (
            str(flow["flow"]),
            f"{ends(flow, 'src', 'from')}→{ends(flow, 'dst', 'to')}",
            _or_dash(flow["hops"]),
            str(flow["transport"]),
            kbps(result.goodput(str(flow["flow"]))),
            *counts(flow),
        )
        for flow in gathered.summary(result.runs)
    ]
    columns = ("flow", "nodes", ">hops", "transport", ">goodput kbit/s", *COUNTS)
    out.print(table(columns, rows))
    out.print()
    if len(rows) > 1:
        jain = "" if result.jain is None else f", Jain's index {_jain(result.jain)}"
        out.print(f"aggregate goodput {kbps(result.aggregate)} kbit/s{jain}")
    runs = len(result.seeds)
    if result.aggregate.method != "none":
        over = f"{runs} runs" if runs > 1 else f"{result.aggregate.n} batches of one run"
        out.print(f"±: half-width of the 95 % interval over {over}; other columns are means")
    # The radio loses copies of a frame at single receivers, mostly not its addressee: these are not packets.
    dropped = gathered.total([run["drops"] for run in result.runs])
    packets = {layer: names for layer, names in dropped.items() if layer != "radio"}
    listed = ", ".join(
        f"{layer} {reason} {count / runs:.1f}" for layer in packets for reason, count in packets[layer].items() if count
    )
    if listed:
        out.print(f"packets dropped{' per run' if runs > 1 else ''}: {listed}")


def show_sweep(result: SweepResult) -> None:
    """Print one line per point with intervals."""
    out = console()
    keys = result.sweep.keys
    fair = not result.summary["jain_mean"].is_null().all()
    rows = []
    for row in result.summary.iter_rows(named=True):
        cells = [
            str(row["point"]),
            *(str(row[key]) for key in keys),
            str(row["runs"]),
            kbps(result.aggregate(row["point"])),
        ]
        if fair:
            width = row["jain_half_width"]
            known = row["jain_mean"] is not None
            cells.append(_jain(Interval(row["jain_mean"], width, row["runs"], "replications")) if known else "-")
        rows.append([*cells, f"{row['dropped_packets_mean']:.1f}"])
    columns = [">point", *(f">{key}" for key in keys), ">runs", ">goodput kbit/s"]
    out.print(table([*columns, *([">Jain's index"] if fair else []), ">packets dropped"], rows))
    out.print()
    methods = result.summary["interval"].unique().to_list()
    if methods == ["replications"]:
        out.print("±: half-width of the 95 % interval over the runs; other columns are means")
    elif "batch means" in methods:
        out.print("±: half-width of the 95 % interval over the batches of the run")


def show_runs(kept: Sequence[Kept]) -> None:
    """Print one line per scenario with runs; if there are many, the last ones are only counted."""
    out = console()
    rows = [
        (
            each.shape,
            each.duration,
            span(each.seeds),
            f"{each.goodput_bps / 1e3:.1f}",
            each.engine if each.current else f"{each.engine} (another version, not reused)",
        )
        for each in kept[:_LISTED]
    ]
    if rows:
        out.print(table(("scenario", ">duration", "seeds", ">mean goodput kbit/s", "engine"), rows))
        if len(kept) > _LISTED:
            out.print(f"and {len(kept) - _LISTED} more scenarios")
        out.print()
    runs = sum(len(each.seeds) for each in kept)
    old = sum(len(each.seeds) for each in kept if not each.current)
    size = sum(each.bytes for each in kept) / 1e6
    others = f", {old} of them by other engines" if old else ""
    out.print(f"{count(runs, 'run')} kept{others}, {size:.1f} MB")


def _jain(interval: Interval) -> str:
    width = "" if interval.half_width is None else f" ± {interval.half_width:.3f}"
    return f"{interval.mean:.3f}{width}"


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
