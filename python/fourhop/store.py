"""A result as a folder: Parquet tables, the scenario as resolved, and run.json that says what the tables are.

Each file is written aside and renamed over its name, and run.json comes last, so a folder with a run.json is whole,
whatever was killed when.

| file | holds |
|---|---|
| flows.parquet | one row per (seed, flow) |
| summary.parquet | one row per flow, means and intervals |
| drops.parquet, counters.parquet, conservation.parquet | one row per (seed, layer, name) |
| series.parquet, queues.parquet | time series, if the scenario asks for them |
| series.part | the series of runs in progress; gone when the result is saved |
| scenario.toml | the scenario with every default written out: run it again with `fourhop run` |
| run.json | version, seeds, note, and the object of `Result.to_dict` |
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fourhop import frames
from fourhop._core import version
from fourhop.errors import FourhopError
from fourhop.recorded import TABLES, Recorded

if TYPE_CHECKING:
    import polars as pl

    from fourhop.result import Result

MANIFEST = "run.json"
SCENARIO = "scenario.toml"


def writable(folder: Path) -> None:
    """Make `folder` and prove that it can be written, before hours are spent on what goes there.

    Raises `FourhopError` if it cannot be made or written.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise FourhopError(f"output folder {folder}: found a file, allowed: a folder, made if it is not there")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FourhopError(f"output folder {folder}: cannot be written: {error.strerror or error}") from error


def prepare(folder: Path) -> None:
    """As `writable`, and see that a result may go there.

    Raises `FourhopError` also if the folder holds a scenario.toml but no run.json: that file is somebody's own and is
    not overwritten.
    """
    writable(folder)
    if (folder / SCENARIO).exists() and not (folder / MANIFEST).exists():
        raise FourhopError(
            f"output folder {folder}: holds a {SCENARIO} that is not part of a result; name another folder"
        )


def save(result: Result, folder: Path) -> Path:
    """Write `result` into `folder` and return the folder. An older result there is replaced."""
    prepare(folder)
    try:
        # From here until the manifest is back, the folder does not claim to hold a result.
        (folder / MANIFEST).unlink(missing_ok=True)
        tables = {
            "flows": result.flows,
            "summary": result.summary,
            "drops": result.drops,
            "counters": result.counters,
            "conservation": frames.counts(result.runs, "conservation"),
            "link_drops": result.link_drops,
            "wires": result.wires,
        }
        for name, table in tables.items():
            replace(folder / f"{name}.parquet", _parquet(table))
        for name in TABLES:
            path = folder / f"{name}.parquet"
            rows = result.scan(name)
            if rows.head(1).collect().is_empty():
                path.unlink(missing_ok=True)
            else:
                replace(path, _stream(rows))
        replace(folder / SCENARIO, _text(result.scenario.to_toml()))
        manifest = {"fourhop": version(), "seeds": list(result.seeds), "note": result.note, "result": result.to_dict()}
        replace(folder / MANIFEST, _text(json.dumps(manifest, indent=1, allow_nan=False) + "\n"))
        if isinstance(result.recorded, Recorded) and result.recorded.lives_in(folder):
            result.recorded.settle(folder)
    except OSError as error:
        raise FourhopError(f"output folder {folder}: cannot be written: {error.strerror or error}") from error
    return folder


def _parquet(table: pl.DataFrame) -> Callable[[Path], object]:
    return lambda path: table.write_parquet(path)


def _stream(rows: pl.LazyFrame) -> Callable[[Path], object]:
    """Written as it is read, never whole in memory."""
    return lambda path: rows.sink_parquet(path)


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write aside in the same folder, flush to disk, rename: `path` is whole or not there, whatever is killed when.

    What a killed writer leaves aside begins with a dot.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    aside = Path(name)
    try:
        os.close(descriptor)
        write(aside)
        with aside.open("rb") as written:
            os.fsync(written.fileno())
        # mkstemp makes files private; a result is as readable as any file its owner writes.
        aside.chmod(0o666 & ~_umask())
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
