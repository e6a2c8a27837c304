"""The files of a trace, as docs/trace.md describes them: one folder, or numbered folders of which the oldest may go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from fourhop.errors import FourhopError

FORMAT = 1
"""The version of the tables that is read here."""


class Tables:
    """The tables of a trace in a folder.

    Raises `FourhopError` if there is no trace of this version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FourhopError(
                f"{folder}: found no meta.json, allowed: a folder that `fourhop run FILE.toml --trace DIR` has written"
            ) from None
        except (OSError, ValueError) as error:
            raise FourhopError(f"{folder / 'meta.json'}: found what cannot be read ({error}), allowed: JSON") from None
        if self.meta.get("format") != FORMAT:
            raise FourhopError(
                f"{folder / 'meta.json'}: format: found {self.meta.get('format')!r}, allowed: {FORMAT}; record it again"
            )

    def files(self, table: str) -> list[Path]:
        """The files of a table, in order of time."""
        whole = self.folder / f"{table}.parquet"
        return [whole] if whole.is_file() else sorted(self.folder.glob(f"[0-9]*[0-9]/{table}.parquet"))

    def scan(self, table: str) -> pl.LazyFrame | None:
        """A table, of which only what is asked for is read; None if the trace has nothing of it."""
        files = self.files(table)
        return pl.scan_parquet(files, glob=False) if files else None
