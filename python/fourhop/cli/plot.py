"""`fourhop plot`: a figure of any sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.sweeps.result import SweepResult


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder that `fourhop sweep` wrote.")],
    y: Annotated[
        str,
        Option(
            "--y",
            metavar="WHAT",
            help="goodput, throughput, fairness, delay, resent, timeouts, or a column of the tables runs and flows.",
        ),
    ] = "goodput",
    x: Annotated[
        str | None,
        Option("--x", metavar="KEY", help="Key of the x axis; default: the first with numbers."),
    ] = None,
    by: Annotated[str | None, Option(metavar="KEY", help="Key of the colours; default: the other one.")] = None,
    kind: Annotated[
        Literal["lines", "bars", "ecdf"] | None,
        Option(help="Means with 95 % intervals, or the distribution over runs and flows."),
    ] = None,
    flow: Annotated[str | None, Option(metavar="NAME", help="Plot this flow only; default: all flows.")] = None,
    where: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=VALUES", help="Plot only these values of a key, such as transport=cubic,bbr. May be repeated."
        ),
    ] = None,
    size: common.Size = None,
    log: Annotated[Literal["x", "y", "xy"] | None, Option(help="Logarithmic axes.")] = None,
    xlabel: Annotated[str | None, Option(metavar="TEXT", help="Label of the x axis.")] = None,
    ylabel: Annotated[str | None, Option(metavar="TEXT", help="Label of the y axis.")] = None,
    out: Annotated[Path, common.out("FILE", "The figure: .png, .svg or .pdf.")] = Path("plot.png"),
) -> None:
    """Draw a sweep as lines, bars or an ECDF."""
    with common.errors():
        from fourhop import look, plots
        from fourhop.sweeps.result import SweepResult

        result = SweepResult.load(folder)
        made = plots.sweep(
            result,
            y,
            x=x,
            by=by,
            kind=kind,
            flow=flow,
            where=dict(_chosen(text, result) for text in where or []),
            **look.of(size=size, log=log, xlabel=xlabel, ylabel=ylabel),
        )
        echo(f"figure: {plots.write(made, out)}")


def _chosen(text: str, result: SweepResult) -> tuple[str, list[str]]:
    """A key and values; a value that contains commas, such as a list, is the only one."""
    from fourhop.errors import FourhopError

    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals:
        raise FourhopError(f"--where: found {text!r}, allowed: KEY=VALUES, such as transport=cubic,bbr")
    whole = any(str(value) == values for point in result.sweep.points for value in point.parameters.values())
    return key, [values] if whole else [value.strip() for value in values.split(",")]
