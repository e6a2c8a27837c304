"""`fourhop list`: what a scenario can name."""

from __future__ import annotations

import typer


def command() -> None:
    """List topologies, transports, routings and radios, a line each."""
    from fourhop.scenario import catalog

    kinds = catalog()
    width = max(len(name) for names in kinds.values() for name in names)
    for index, (kind, names) in enumerate(kinds.items()):
        typer.echo(("\n" if index else "") + kind)
        for name, summary in names.items():
            typer.echo(f"  {name:<{width}}  {summary}")
