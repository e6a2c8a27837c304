"""The files of a trace (docs/trace.md); some may be missing."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fourhop.errors import FourhopError
from fourhop.trace import META, Trace

FORMAT = 1
"""The supported version of the tables."""


class Tables(Trace):
    """The tables of a trace in a folder.

    Raises `FourhopError` if there is no trace of this version.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        if self.meta.get("format") != FORMAT:
            raise FourhopError(
                f"{folder / META}: format: found {self.meta.get('format')!r}, allowed: {FORMAT}; record it again"
            )

    def find(self, table: str) -> pl.LazyFrame | None:
        """A table, read lazily; `None` if the trace lacks it."""
        try:
            return self.scan(table)
        except FourhopError:
            return None
