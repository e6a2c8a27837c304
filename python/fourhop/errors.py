"""What goes wrong outside a scenario. A scenario with problems raises `fourhop.ScenarioError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class FourhopError(Exception):
    """Something the user can put right: the message says what was found and what is allowed."""


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
