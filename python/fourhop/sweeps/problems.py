"""Errors in a sweep, in the format of scenario errors: file, key, what was found, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from fourhop._core import Problem

_SHOWN = 20
"""Maximum number of problems listed; the rest are only counted, since one error can occur at every point."""


MISSING = "nothing"
"""The value of `found` if a value is missing."""


def line(file: str, key: str, found: object, allowed: str, hint: str | None = None) -> str:
    """One problem: `file.toml: over.tcp.window: found 0, allowed: ... (hint)`."""
    place = ": ".join(filter(None, [file, key]))
    what = "missing" if found == MISSING else f"found {found}"
    return f"{place}: {what}, allowed: {allowed}" + (f" ({hint})" if hint else "")


def problem(problem: Problem) -> str:
    """A problem of a scenario, formatted like the simulator's."""
    place = ":".join(str(part) for part in (problem["file"], problem["line"], problem["column"]) if part is not None)
    return line(place, problem["key"], problem["found"], problem["allowed"], problem["hint"])


def did_you_mean(found: str, names: Iterable[str]) -> str | None:
    """A hint with the name that was probably meant."""
    import difflib

    close = difflib.get_close_matches(found, list(names), n=1)
    return f'did you mean "{close[0]}"?' if close else None


def shown(value: object) -> str:
    """A value as shown in a message."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return str(value)


def refuse(lines: Iterable[str]) -> None:
    """Raise `FourhopError` with all lines, each once; return if there are none."""
    once = list(dict.fromkeys(lines))
    if not once:
        return
    if len(once) > _SHOWN:
        once = [*once[:_SHOWN], f"and {len(once) - _SHOWN} more"]
    raise FourhopError("\n".join(once))
