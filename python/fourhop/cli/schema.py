"""`fourhop schema`: the JSON Schema of a scenario, for editors."""

from __future__ import annotations

from typing import Annotated

from click import echo

from fourhop.cli.options import Option


def command(
    reference: Annotated[
        bool, Option("--reference", help="Print the reference of all keys in Markdown instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of a scenario, which editors use to complete and check TOML files."""
    from fourhop import _core

    echo((_core.reference() if reference else _core.schema()).rstrip())
