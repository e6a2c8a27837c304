"""`fourhop draw`: the network of a scenario as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option


def command(
    file: common.File,
    out: Annotated[Path, common.out("FILE", "The picture: .png, .svg or .pdf.")] = Path("network.png"),
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the run; default: the scenario's.")] = None,
    size: common.Size = None,
    set_: common.Set = None,
    transport: common.Transport = None,
    duration: common.Duration = None,
) -> None:
    """Draw the network: nodes, links by their margin, walls, flows."""
    with common.errors():
        from fourhop import plots
        from fourhop.picture import Network
        from fourhop.size import typed

        network = Network.of(common.load(file, set_, transport, duration, flows=False).resolved_json, seed)
        written = plots.write(network.figure(size=None if size is None else typed(size)), out)
    echo(f"{network.describe()}\nfigure: {written}")
