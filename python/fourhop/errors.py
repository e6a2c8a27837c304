"""What goes wrong outside a scenario. A scenario with problems raises `fourhop.ScenarioError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from fourhop.result import Result


class FourhopError(Exception):
    """Something the user can put right: the message says what was found and what is allowed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `fourhop.run`.

    `result` holds the runs that had finished, or is `None` if there were none. Being a `KeyboardInterrupt`, it is not
    caught by `except Exception`.
    """

    def __init__(self, result: Result | None, wanted: int) -> None:
        """`wanted`: how many runs were asked for, or the largest number a precision target allowed."""
        self.result = result
        self.wanted = wanted
        super().__init__(f"interrupted: {0 if result is None else len(result.seeds)} of {wanted} runs finished")


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during `fourhop.sweep`. The runs that had finished are kept if the sweep has a folder."""

    def __init__(self, done: int, wanted: int | None, out: Path | None) -> None:
        """`done` runs of `wanted` had finished (`None`: a precision decides how many); `out` is the sweep's folder."""
        self.done = done
        self.wanted = wanted
        self.out = out
        of = "" if wanted is None else f" of {wanted}"
        kept = (
            "not kept, as the sweep has no folder"
            if out is None
            else f"kept in {out}; the same call goes on from there"
        )
        super().__init__(f"interrupted: {done}{of} runs finished, {kept}")
