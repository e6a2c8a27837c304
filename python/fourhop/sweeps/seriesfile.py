"""Time series of one run as Parquet files beside the run's own, `<key>.series.parquet` and `<key>.queues.parquet`.

They are converted from the simulator's files row by row, before the run's own file is renamed into place: a run that
exists has complete series, and no series is ever in memory as a whole. The columns are those of `fourhop.recorded`
without `seed`, which is that of the run.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from fourhop import recorded, store
from fourhop._core import series_columns
from fourhop.recorded import TABLES, Table
from fourhop.sweeps import sealed
from fourhop.sweeps.columns import COLUMNS

METADATA = "fourhop"
"""Key of a file's own description in its Parquet metadata."""


@functools.cache
def schema(table: Table) -> pl.Schema:
    """Columns of a file."""
    return pl.Schema({name: dtype for name, dtype in recorded.schema(table).items() if name != "seed"})


def beside(run: Path, table: Table) -> Path:
    """Path of a table of the run in the file `run`."""
    return run.with_name(f"{run.name.removesuffix('.parquet')}.{table}.parquet")


def run_of(path: Path) -> Path | None:
    """The file of the run that the series in `path` belong to, or `None` if the name is not that of series."""
    for table in TABLES:
        stem = path.name.removesuffix(f".{table}.parquet")
        if stem != path.name:
            return path.with_name(f"{stem}.parquet")
    return None


def write(run: Path, key: str, csv: Mapping[Table, Path]) -> None:
    """Put the series for the run file `run` in place, from the files that the simulator wrote."""
    for table in TABLES:
        about = {"kind": table, "key": key, sealed.CHECKSUM: sealed.EMPTY, "columns": _meanings(table)}
        write = functools.partial(_write, csv[table], schema(table), {METADATA: json.dumps(about)})
        store.replace(beside(run, table), write)


@functools.cache
def _meanings(table: Table) -> dict[str, str]:
    meanings = {**COLUMNS, **dict(series_columns())}
    return {name: meanings[name] for name in schema(table)}


def _write(csv: Path, columns: pl.Schema, metadata: dict[str, str], path: Path) -> None:
    store.streamed(pl.scan_csv(csv, schema=columns), metadata=metadata)(path)
    sealed.seal(path)


def check(path: Path, key: str) -> str | None:
    """The reason why the file at `path` is not the series of the run with this key; `None` if it is.

    Raises `FileNotFoundError` if there is no such file.
    """
    about = described(path)
    if isinstance(about, str):
        return about
    if about.get("kind") not in TABLES or about.get("key") != key:
        return f"not series of the run {key}"
    return None


def described(path: Path) -> dict[str, object] | str:
    """The metadata of a sealed Parquet file, or the problem with it. Reads every byte.

    Raises `FileNotFoundError` if there is no such file.
    """
    try:
        with path.open("rb") as file:
            if not sealed.is_whole(file):
                return "damaged, or not a file of fourhop: its checksum does not match"
            file.seek(0)
            text = pl.read_parquet_metadata(file).get(METADATA)
    except FileNotFoundError:
        raise
    except (pl.exceptions.PolarsError, OSError) as error:
        return f"not a complete Parquet file ({str(error).splitlines()[0]})"
    try:
        about = json.loads(text) if text is not None else None
    except ValueError:
        about = None
    return about if isinstance(about, dict) else {}
