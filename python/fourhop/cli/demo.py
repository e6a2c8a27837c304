"""`fourhop demo`: the chain that started it all, from the network to the plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourhop.cli import common

if TYPE_CHECKING:
    from fourhop.result import Result

HOPS = range(1, 9)


def command(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the figure goes.")] = Path("demo"),
    runs: Annotated[int, typer.Option(metavar="N", help="Runs for each chain.")] = 10,
    duration: Annotated[str, typer.Option(metavar="TIME", help="Simulated time of each run.")] = "100s",
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Runs at a time; all cores if not given.")] = None,
) -> None:
    """Goodput of TCP NewReno over 1 to 8 hops (AODV, 2 Mbit/s, 200 m apart): a table, a PNG and a PDF."""
    with common.errors():
        from fourhop import ScenarioError, store
        from fourhop.cli.display import Display
        from fourhop.errors import FourhopError
        from fourhop.runner import Interrupted, run
        from fourhop.scenario import Scenario

        store.writable(out)
        try:
            scenarios = {hops: Scenario.chain(hops=hops, transport="newreno", duration=duration) for hops in HOPS}
        except ScenarioError as error:
            (problem,) = error.problems
            raise FourhopError(f"--duration: found {problem['found']}, allowed: {problem['allowed']}") from None

        common.say(f"{runs} runs of {duration} for each chain of {HOPS[0]} to {HOPS[-1]} hops")
        results: dict[int, Result] = {}
        interrupted = False
        try:
            with Display(total=runs * len(HOPS)) as display:
                for hops, scenario in scenarios.items():
                    display.begin("1 hop: " if hops == 1 else f"{hops} hops: ", runs * len(results))
                    results[hops] = run(scenario, runs, jobs=jobs, progress=display.update)
        except Interrupted:
            interrupted = True
            common.say(f"interrupted: {len(results)} of {len(HOPS)} chains finished")
        if results:
            _show(results, runs, out)
        if interrupted:
            raise typer.Exit(common.INTERRUPTED)


def _show(results: dict[int, Result], runs: int, out: Path) -> None:
    from fourhop import plots
    from fourhop.cli import tables

    rows = [
        (str(hops), tables.kbps(result.aggregate), *tables.counts(result.summary.row(0, named=True)))
        for hops, result in results.items()
    ]
    columns = (">hops", ">goodput kbit/s", *tables.COUNTS)
    tables.console().print(tables.table(columns, rows))
    curve = [(hops, result.aggregate) for hops, result in results.items()]
    written = plots.save(plots.over_hops({"NewReno, AODV": curve}), out / "goodput-over-hops")
    typer.echo(f"\n± and the bars: 95 % interval over {runs} runs. Figure: {', '.join(map(str, written))}")
