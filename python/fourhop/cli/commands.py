"""The commands of `fourhop`: one file each, imported when called; it imports its dependencies when it runs."""

from __future__ import annotations

import click

from fourhop.cli.options import Group

COMMANDS = {
    "run": "fourhop.cli.run:command",
    "check": "fourhop.cli.check:command",
    "schema": "fourhop.cli.schema:command",
    "list": "fourhop.cli.list_:command",
    "sweep": "fourhop.cli.sweep:command",
    "results": "fourhop.cli.results:command",
    "compare": "fourhop.cli.compare:command",
    "plot": "fourhop.cli.plot:command",
    "import": "fourhop.cli.import_:command",
    "whatif": "fourhop.cli.whatif:command",
    "best-rate": "fourhop.cli.best_rate:command",
    "draw": "fourhop.cli.draw:command",
    "view": "fourhop.cli.view:command",
    "explain": "fourhop.cli.explain:command",
    "emulate": "fourhop.cli.emulate:command",
    "exec": "fourhop.cli.emulate:exec_command",
    "shell": "fourhop.cli.emulate:shell_command",
    "change": "fourhop.cli.emulate:change_command",
    "medium": "fourhop.cli.medium:command",
    "measure": "fourhop.cli.measure:command",
    "demo": "fourhop.cli.demo:command",
    "reproduce": "fourhop.cli.reproduce:command",
    "validate": "fourhop.cli.validate:app",
    "trace": "fourhop.cli.tracing:app",
}


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from fourhop._core import version

        click.echo(f"fourhop {version()}")
        context.exit()


def _completion(context: click.Context, _parameter: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        found = get_completion_class(shell)
        assert found is not None, "the names are Click's own"
        click.echo(found(app, {}, "fourhop", "_FOURHOP_COMPLETE").source())
        context.exit()


app = Group(
    COMMANDS,
    name="fourhop",
    help="TCP over multihop 802.11: simulate a wireless network, get goodput with confidence intervals.",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and exit.",
        ),
        click.Option(
            ["--completion"],
            type=click.Choice(["bash", "zsh", "fish"]),
            is_eager=True,
            expose_value=False,
            callback=_completion,
            help="Print the completion script for this shell and exit.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
