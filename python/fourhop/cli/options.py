"""Commands made from functions: an annotated parameter is an option or an argument, the docstring is the help text.

Click parses and completes commands. The signature of a function declares its options, once.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

Complete = Callable[[str], list[str]]
"""Returns the words that begin with a given string, for shell completion."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional parameter, required unless it has a default."""

    metavar: str
    help: str


class Option:
    """A named parameter: by `names`, or by the name of the parameter."""

    __slots__ = ("complete", "help", "metavar", "names")

    def __init__(self, *names: str, help: str, metavar: str | None = None, complete: Complete | None = None) -> None:
        self.names, self.help, self.metavar, self.complete = names, help, metavar, complete


class Command(click.Command):
    """A command whose arguments are listed before its options."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section of arguments."""
        arguments = [each for each in self.get_params(ctx) if isinstance(each, click.Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([each.get_help_record(ctx) for each in arguments])


class Group(click.Group):
    """Commands by name, each imported on demand. Errors in a command line have the format of `errors`."""

    def __init__(self, commands: Mapping[str, str], **settings: Any) -> None:
        """`commands` are functions as `module:function`, or groups as `module:group`."""
        super().__init__(no_args_is_help=True, **settings)
        self._homes = commands

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The commands in the order of the help."""
        return list(self._homes)

    def get_command(self, _ctx: click.Context | None, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self._homes:
            return None
        if name not in self.commands:
            module, _, attribute = self._homes[name].partition(":")
            found = getattr(importlib.import_module(module), attribute)
            self.commands[name] = found if isinstance(found, click.Command) else command(name, found)
        return self.commands[name]

    def main(self, *words: Any, standalone_mode: bool = True, **settings: Any) -> Any:
        """Click's `main` with this package's error format. Ctrl-C is left to the caller."""
        try:
            code = super().main(*words, standalone_mode=False, **settings)  # type: ignore[call-overload]
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.ClickException as error:
            _refuse(error)
        except click.Abort as stop:
            raise KeyboardInterrupt from stop
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _refuse(error: click.ClickException) -> NoReturn:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        click.echo(context.get_usage(), err=True)
        click.echo(f"See '{context.command_path} --help' for help.\n", err=True)
    message = error.format_message()
    click.echo(f"error: {message[:1].lower()}{message[1:]}", err=True)
    sys.exit(error.exit_code)


def command(name: str, function: Callable[..., None]) -> click.Command:
    """The command that calls `function`, which may set `passes_on` if words after its arguments are for a program."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    settings: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
    if getattr(function, "passes_on", False):
        settings |= {"allow_interspersed_args": False, "ignore_unknown_options": True}
    return Command(
        name,
        callback=function,
        help=inspect.cleandoc(function.__doc__ or ""),
        # Otherwise the list of commands truncates long lines.
        short_help=_summary(function),
        params=[_parameter(key, hints[key], each.default) for key, each in parameters.items()],
        context_settings=settings,
    )


def _summary(function: Callable[..., None]) -> str:
    """The first sentence of a command's help text."""
    paragraph = (function.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.partition(". ")[0].split()).rstrip(".") + "."


def _parameter(key: str, hint: Any, default: Any) -> click.Parameter:
    plain, declared = typing.get_args(hint)
    optional = default is not inspect.Parameter.empty
    kind, several = _kind(plain)
    given: dict[str, Any] = {"type": kind, "metavar": declared.metavar, "help": declared.help}
    if optional:
        given["default"] = default
    if isinstance(declared, Argument):
        given["help"] += "" if optional else "  [required]"
        given |= {"nargs": -1, "required": not optional} if several else {}
        return click.Argument([key], **given)
    if kind is bool:
        given.pop("metavar")
        given["is_flag"] = True
    shown = optional and default not in (None, False, True)
    names = declared.names or (f"--{key.replace('_', '-')}",)
    return click.Option(
        [*names, key],
        multiple=several,
        show_default=shown,
        required=not optional,
        shell_complete=_completing(declared.complete),
        callback=_none_if_empty if several else None,
        **given,
    )


def _kind(hint: Any) -> tuple[Any, bool]:
    """Click's type of a value, and whether there may be several."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = (each for each in typing.get_args(hint) if each is not type(None))
    if typing.get_origin(hint) is list:
        return _kind(typing.get_args(hint)[0])[0], True
    if typing.get_origin(hint) is typing.Literal:
        return click.Choice(typing.get_args(hint)), False
    return (click.Path(path_type=Path) if hint is Path else hint), False


def _completing(complete: Complete | None) -> Any:
    if complete is None:
        return None
    return lambda _ctx, _parameter, incomplete: [CompletionItem(each) for each in complete(incomplete)]


def _none_if_empty(_ctx: click.Context, _parameter: click.Parameter, value: tuple[Any, ...]) -> list[Any] | None:
    return list(value) or None
