"""`fourhop validate`: compare with another simulator."""

from __future__ import annotations

import json as json_
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Group, Option

if TYPE_CHECKING:
    from fourhop.stats import Interval
    from fourhop.validate import Row

DIFFERS = 1
"""Exit code if an entry does not agree."""

app = Group(
    {"ns2": f"{__name__}:ns2"},
    name="validate",
    help="Compare fourhop with the results of another simulator.",
    short_help="Compare fourhop with the results of another simulator.",
)


def ns2(
    reference: Annotated[
        Path | None,
        Option(metavar="DIR", help="Folder with results.json and scenarios/; default: the package's own."),
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(
            metavar="PATTERN",
            help="Part of a scenario/transport, or a pattern such as 'chain*/newreno'. May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        Option(metavar="N", help="Runs per entry; default: 10, up to 20 while ± is above 2 %."),
    ] = None,
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
    json: common.Json = False,
) -> None:
    """Run every entry of a reference made with ns-2.35 and compare. Exits with 1 if one differs."""
    with common.errors():
        from fourhop import validate
        from fourhop.agreement import Agreement
        from fourhop.cli.display import EntryDisplay

        entries = validate.select(validate.read_reference(reference), only or [])
        if not json:
            # Loaded early, so that the table is printed at once after Ctrl-C.
            from fourhop.cli import tables  # noqa: F401

        comparison = Agreement(entries, seeds=seeds, jobs=jobs)
        for row in comparison.rows:
            if row.verdict == "error":
                common.say(f"{row.entry.name}: error: {row.reason}")
        started = time.monotonic()
        interrupted = False
        try:
            with EntryDisplay(comparison.total) as display:
                comparison.run(display.update)
        except KeyboardInterrupt:
            interrupted = True
            common.say(f"interrupted: {len(comparison.rows)} of {comparison.total} entries finished")
        rows = comparison.rows
        counted = Counter(row.verdict for row in rows)
        if json:
            printed = {
                "reference": None if reference is None else str(reference),
                "entries": comparison.total,
                "interrupted": interrupted,
                "wall_s": time.monotonic() - started,
                "verdicts": {verdict: counted[verdict] for verdict in ("agree", "differ", "not built", "error")},
                "rows": [row.to_dict() for row in rows],
            }
            echo(json_.dumps(printed, allow_nan=False))
        elif rows:
            _show(rows, comparison.total)
        if interrupted:
            raise common.Exit(common.INTERRUPTED)
        if counted["differ"]:
            raise common.Exit(DIFFERS)
        if counted["error"]:
            raise common.Exit(common.BAD_INPUT)


def _show(rows: Sequence[Row], total: int) -> None:
    from fourhop.cli import tables

    out = tables.console()
    columns = ("scenario", "transport", ">ns-2 kbit/s", ">fourhop", ">ratio", "verdict")
    out.print(
        tables.table(
            columns,
            [
                (
                    row.entry.scenario,
                    row.entry.transport,
                    _kbps(row.ns2.goodput),
                    "-" if row.ours is None else _kbps(row.ours.goodput),
                    "-" if row.ratio is None else f"{row.ratio:.3f}",
                    row.verdict,
                )
                for row in rows
            ],
        )
    )
    several = [row for row in rows if row.ours is not None and len(row.ns2.runs[0]) > 1]
    if several:
        out.print()
        indices = [
            (row.entry.scenario, row.entry.transport, _index(row.ns2.jain), _index(row.ours.jain if row.ours else None))
            for row in several
        ]
        out.print(tables.table(("several flows", "transport", ">Jain's index, ns-2", ">fourhop"), indices))
    failed = [row for row in rows if row.verdict in ("differ", "error")]
    if failed:
        out.print()
    for row in failed:
        for line in row.reason.splitlines():
            out.print(f"{row.entry.name}: {row.verdict}: {line}", soft_wrap=True)
    counted = Counter(row.verdict for row in rows)
    parts = [f"{counted['agree']} agree", f"{counted['differ']} differ", f"{counted['not built']} not built"]
    if counted["error"]:
        parts.append(f"{counted['error']} in error")
    if len(rows) < total:
        parts.append(f"{total - len(rows)} not finished")
    out.print(f"\n{total} {'entry' if total == 1 else 'entries'}: {', '.join(parts)}")


def _kbps(interval: Interval) -> str:
    return f"{interval.mean:.1f}" + ("" if interval.half_width is None else f" ± {interval.half_width:.1f}")


def _index(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean:.3f}" + ("" if interval.half_width is None else f" ± {interval.half_width:.3f}")
