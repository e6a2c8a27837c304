"""The `fourhop` command. One file a command; what is slow to import is imported inside the command that needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from fourhop.cli import (
    best_rate,
    check,
    compare,
    demo,
    draw,
    emulate,
    explain,
    import_,
    list_,
    plot,
    reproduce,
    results,
    run,
    schema,
    sweep,
    tracing,
    validate,
    view,
    whatif,
)

app = typer.Typer(
    name="fourhop",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.command,
    "check": check.command,
    "schema": schema.command,
    "list": list_.command,
    "sweep": sweep.command,
    "results": results.command,
    "compare": compare.command,
    "plot": plot.command,
    "import": import_.command,
    "whatif": whatif.command,
    "best-rate": best_rate.command,
    "draw": draw.command,
    "view": view.command,
    "explain": explain.command,
    "emulate": emulate.command,
    "exec": emulate.exec_command,
    "shell": emulate.shell_command,
    "demo": demo.command,
    "reproduce": reproduce.command,
}


def _summary(command: Callable[..., None]) -> str:
    """The first sentence of what a command says of itself."""
    paragraph = (command.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.partition(". ")[0].split()).rstrip(".") + "."


for _name, _command in COMMANDS.items():
    # What follows the node of `exec` is the other program's.
    _settings = {"allow_interspersed_args": False, "ignore_unknown_options": True} if _name == "exec" else None
    # Without `short_help` the list of commands would cut what does not fit on a line.
    app.command(_name, short_help=_summary(_command), context_settings=_settings)(_command)
app.add_typer(validate.app, name="validate")
app.add_typer(tracing.app, name="trace")


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
