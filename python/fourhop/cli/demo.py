"""`fourhop demo`: the chain that started it all, from the network to the plot."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option
from fourhop.text import count

if TYPE_CHECKING:
    from fourhop.study.estimate import Sample
    from fourhop.sweeps.result import SweepResult

HOPS = range(1, 9)
TRANSPORTS = ("newreno", "vegas", "tcp-ap")


def command(
    out: Annotated[
        Path, common.out("DIR", "Keep the figure and all runs in this folder; `fourhop plot DIR` draws more figures.")
    ] = Path("demo"),
    runs: Annotated[int, Option(metavar="N", help="Runs per chain and transport.")] = 10,
    duration: Annotated[str, Option(metavar="TIME", help="Simulated time of each run.")] = "40s",
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
) -> None:
    """Show why pacing helps: goodput and delay of NewReno, Vegas and TCP-AP over 1 to 8 hops.

    The chains are those of the papers: radios 200 m apart, 2 Mbit/s, AODV, as in ns-2.35. DIR is a
    sweep's folder: repeat the command to continue after an interruption.
    """
    with common.errors():
        from fourhop import ScenarioError
        from fourhop.cli.display import SweepDisplay
        from fourhop.errors import FourhopError
        from fourhop.runner import run
        from fourhop.scenario import Scenario
        from fourhop.sweeps.describe import Sweep
        from fourhop.sweeps.execute import sweep

        try:
            chain = Scenario.chain(hops=1, duration=duration)
        except ScenarioError as error:
            (problem,) = error.problems
            raise FourhopError(f"--duration: found {problem['found']}, allowed: {problem['allowed']}") from None
        described = Sweep(chain, {"transport": TRANSPORTS, "topology.hops": HOPS}, runs=runs, name="demo", source="")
        common.say(
            f"{count(runs, 'run')} of {duration} for each of {', '.join(TRANSPORTS)} over {HOPS[0]} to {HOPS[-1]} hops"
        )
        with SweepDisplay() as display:
            result = sweep(described, out=out, jobs=jobs, progress=display.update)
        _show(result, out)
        # Ten seconds of the seven-hop chain are enough to see a burst interfere with itself.
        run(Scenario.chain(hops=7, duration="10s"), trace=out / "trace")
        common.say(f"what happens on seven hops: fourhop view {out / 'trace'}")


def _show(result: SweepResult, out: Path) -> None:
    from fourhop import plots, shown, style
    from fourhop.study import draw, sweepchart
    from fourhop.study.cells import Cells
    from fourhop.study.measures import MEASURES

    cells = Cells.of(result)
    names = [style.TRANSPORTS[name] for name in TRANSPORTS]
    charts = []
    for what in ("goodput", "delay"):
        rows = [
            [str(hops), *(_text(MEASURES[what].of(cell)) for cell in each.by("transport").values())]
            for hops, each in cells.by("hops").items()
        ]
        echo(f"{MEASURES[what].title}\n")
        echo("\n".join([*shown.table(["hops", *names], rows, [True] * (1 + len(names))), ""]))
        charts.append(replace(sweepchart.chart(cells, what, x="hops", by="transport"), y_log=True))
    written = plots.save(draw.side_by_side(charts), out / "goodput-and-delay-over-hops")
    over = f"over {result.sweep.runs} runs" if (result.sweep.runs or 0) > 1 else "within the run"
    echo(f"± and whiskers: 95 % interval {over}. Figure: {', '.join(map(str, written))}")


def _text(sample: Sample) -> str:
    interval = sample.interval
    width = "" if interval.half_width is None else f" ± {interval.half_width:.1f}"
    return "-" if math.isnan(interval.mean) else f"{interval.mean:.1f}{width}"
