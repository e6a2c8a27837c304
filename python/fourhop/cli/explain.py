"""`fourhop explain`: measurements and behaviour of a pacing transport, one flow over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option


def command(
    file: common.File,
    flow: Annotated[str | None, Option(metavar="NAME", help="Flow to explain; default: the first that paces.")] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the run; default: the scenario's.")] = None,
    out: Annotated[Path, common.out("FILE", "The figure: .png, .svg or .pdf.")] = Path("explain.png"),
    set_: common.Set = None,
    json: common.Json = False,
    transport: common.Transport = None,
    duration: common.Duration = None,
) -> None:
    """Explain one flow: a figure of its measurements over time, its goodput and medians."""
    with common.errors():
        from fourhop.explanation import explain
        from fourhop.runner import Interrupted

        scenario = common.load(file, set_, transport, duration)
        try:
            seen = explain(scenario, flow=flow, seed=seed)
        except Interrupted:
            common.say("interrupted: an unfinished run has no result")
            raise common.Exit(common.INTERRUPTED) from None
        written = seen.save(out)
    if json:
        common.print_json({"figure": str(written), **seen.to_dict()})
        return
    echo(f"{seen.text}\nfigure: {written}")
