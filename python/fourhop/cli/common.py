"""Shared parts of the commands: options, one message per error, exit codes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit as Exit

from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.scenario import Scenario

INCOMPLETE = 1
"""Exit code if part of the work failed; the rest is shown or kept."""
BAD_INPUT = 2
"""Exit code for input that cannot be used."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 + SIGINT."""


def keys(incomplete: str) -> list[str]:
    """Scenario keys that begin with `incomplete`, for shell completion."""
    from fourhop.scenario import schema

    def of(section: dict[str, Any], prefix: str) -> Iterator[str]:
        for name, value in section.get("properties", {}).items():
            yield from of(value, f"{prefix}{name}.") if value.get("type") == "object" else (f"{prefix}{name}=",)

    return [key for key in of(schema(), "") if key.startswith(incomplete)]


File = Annotated[
    Path,
    Argument(
        metavar="FILE", help="Scenario in TOML, or a .txt node-and-flow list of the ns-2 comparisons; - reads stdin."
    ),
]
STDIN = Path("-")
"""File name of standard input."""
Json = Annotated[bool, Option("--json", help="Print one JSON object on stdout and nothing else.")]
Csv = Annotated[
    bool, Option("--csv", help="Print the summary as CSV on stdout and nothing else; column names end in units.")
]
Set = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="KEY=VALUE", complete=keys, help="Override a key, such as radio.rate=11Mbps. May be repeated."
    ),
]
Transport = Annotated[str | None, Option("--transport", metavar="NAME", help="Transport of all TCP flows.")]
Duration = Annotated[str | None, Option("--duration", metavar="TIME", help="Simulated time, such as 300s.")]
Seed = Annotated[
    int | None, Option("--seed", metavar="N", help="Seed of the first run; the next runs use the next seeds.")
]
Size = Annotated[
    str | None,
    Option(
        "--size",
        metavar="SIZE",
        help="Size of the figure: column or page of a two-column paper, slide, or inches such as 5x3.",
    ),
]


def out(metavar: str, help: str) -> Option:
    """Option for the output folder or file of a command."""
    return Option("--out", "-o", metavar=metavar, help=help)


def print_json(document: object) -> None:
    """Print one JSON object on stdout; NaN becomes null."""
    import json

    print(json.dumps(_finite(document), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(message: str) -> None:
    """Print a line for people on stderr, so that stdout stays usable by programs."""
    print(message, file=sys.stderr, flush=True)


@contextmanager
def errors() -> Iterator[None]:
    """Turn errors that the user can correct, and interruptions, into one message and an exit code; print warnings."""
    from fourhop.errors import FourhopError, IncompleteError, SweepInterrupted

    try:
        with _warned():
            yield
    except FourhopError as error:
        tell(error)
        raise Exit(INCOMPLETE if isinstance(error, IncompleteError) else BAD_INPUT) from None
    except SweepInterrupted as stop:
        say(str(stop))
        raise Exit(INTERRUPTED) from None


def one_of(**given: bool) -> None:
    """Raise an error that `errors` reports if more than one of these switches is on."""
    from fourhop.errors import FourhopError

    on = [f"--{name}" for name, value in given.items() if value]
    if len(on) > 1:
        raise FourhopError(f"{' and '.join(on)}: give only one of them")


def tell(error: BaseException) -> None:
    """Print an error, line by line."""
    for line in str(error).splitlines():
        say(f"error: {line}")
    for note in getattr(error, "__notes__", []):
        say(f"note: {note}")


@contextmanager
def _warned() -> Iterator[None]:
    """Print warnings of the package, one line each."""
    import warnings

    from fourhop.errors import FourhopWarning

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", FourhopWarning)
        warnings.showwarning = show
        yield


def load(
    file: Path, overrides: list[str] | None, transport: str | None, duration: str | None, *, flows: bool = True
) -> Scenario:
    """The scenario of a command line; it must have flows unless they are not needed.

    Raises errors that `errors` reports.
    """
    scenario = _loaded(file, overrides, transport, duration)
    if flows:
        scenario.require_flows()
    return scenario


def _loaded(file: Path, overrides: list[str] | None, transport: str | None, duration: str | None) -> Scenario:
    from fourhop.scenario import Scenario

    if file.suffix == ".txt":
        return Scenario.from_ns2(file, transport=transport, duration=duration, overrides=overrides or ())
    overrides = list(overrides or ())
    overrides += [f"{key}={value}" for key, value in (("transport", transport), ("duration", duration)) if value]
    if file == STDIN:
        return Scenario(stdin(), "<stdin>", overrides=overrides)
    return Scenario.from_toml(file, overrides=overrides)


def stdin() -> str:
    """The text on standard input. Raises `FourhopError` if it is not text."""
    from fourhop.errors import FourhopError

    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise FourhopError(f"<stdin>: not UTF-8 text at byte {error.start}; convert it to UTF-8") from None
