"""Errors: one exception for everything that the user can correct, and its subclasses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fourhop._core import Problem


_SHOWN = 20


class FourhopError(Exception):
    """An error that the user can correct: the message says what was found and what is allowed."""


class FourhopWarning(UserWarning):
    """The request is carried out but is probably not what was intended, such as a flow to a node out of range."""


class ScenarioError(FourhopError, ValueError):
    """A scenario that cannot be used. `str()` has one line per problem."""

    problems: list[Problem]
    """All mistakes found, each with file, line, column, key, what was found, what is allowed and a hint."""


class IncompleteError(FourhopError):
    """A call was completed only in part: runs failed, or a result could not be written.

    Finished runs are kept: `fourhop.run` puts them into `result`, `fourhop.sweep` into its folder.
    """

    result: Any = None
    """With `fourhop.run`: the `Result` of the finished runs."""
    saved: bool = False
    """Whether `result` was written into the requested folder."""

    def __init__(self, problems: Sequence[str], *summary: str) -> None:
        """`problems`: one line each; only the first are shown. `summary`: lines that are always shown."""
        rest = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        super().__init__("\n".join([*problems[:_SHOWN], *rest, *summary]))


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during `fourhop.sweep`. Finished runs are kept if the sweep has a folder."""

    def __init__(self, done: int, wanted: int | None, out: Path | None) -> None:
        """`done` of `wanted` runs had finished (`None`: a precision decides how many); `out` is the sweep's folder."""
        self.done = done
        self.wanted = wanted
        self.out = out
        of = "" if wanted is None else f" of {wanted}"
        kept = "not kept, as the sweep has no folder" if out is None else f"kept in {out}; run it again to continue"
        super().__init__(f"interrupted: {done}{of} runs finished, {kept}")
