"""The `fourhop` command. One file a command; what is slow to import is imported inside the command that needs it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from fourhop.cli import best_rate, check, demo, draw, explain, list_, reproduce, results, run, schema, sweep, validate

app = typer.Typer(
    name="fourhop",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.command)
app.command("check")(check.command)
app.command("schema")(schema.command)
app.command("list")(list_.command)
app.command("sweep")(sweep.command)
app.command("results")(results.command)
app.command("best-rate")(best_rate.command)
app.command("draw")(draw.command)
app.command("explain")(explain.command)
app.command("demo")(demo.command)
app.command("reproduce")(reproduce.command)
app.add_typer(validate.app, name="validate")


def _version(value: bool) -> None:
    if value:
        from fourhop._core import version

        typer.echo(f"fourhop {version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """TCP over multihop 802.11: simulate a wireless network, get goodput with confidence intervals."""


def main() -> None:
    """Entry point of the `fourhop` script."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        # Between start and the command, or in the middle of printing: nothing to keep.
        sys.exit(130)
    except OSError as error:
        # What could not be printed is not tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = error.filename or "standard output"
        print(f"error: {where}: cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
