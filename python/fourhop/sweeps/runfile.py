"""One run as a Parquet file of one row group and one row.

The tables of the run (flows, drops, counters) are lists in that row, so a single rename puts the run in place; their
columns are those of `fourhop.frames`. Time series, if any, are separate files beside it, see `seriesfile`.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from fourhop import frames, gathered, store
from fourhop._core import build, version
from fourhop.recorded import TABLES
from fourhop.rundata import Counts, RunData
from fourhop.sweeps import sealed, seriesfile
from fourhop.sweeps.columns import RUN_COLUMNS
from fourhop.sweeps.seriesfile import METADATA

_COUNT = pl.Struct({"layer": pl.String(), "name": pl.String(), "count": pl.UInt64()})
_LINK = pl.Struct({"link": pl.String(), "name": pl.String(), "count": pl.UInt64()})
_FLOW = {name: dtype for name, dtype in frames.FLOWS.items() if name != "seed"}

SCHEMA = pl.Schema(
    {
        "key": pl.String(),
        "engine": pl.String(),
        "scenario": pl.String(),
        "seed": pl.UInt64(),
        "simulated_s": pl.Float64(),
        "ended_by": pl.String(),
        "wall_s": pl.Float64(),
        "events": pl.UInt64(),
        "frames": pl.UInt64(),
        "receptions": pl.UInt64(),
        "aggregate_goodput_bps": pl.Float64(),
        "jain": pl.Float64(),
        "flows": pl.List(pl.Struct(_FLOW)),
        "drops": pl.List(_COUNT),
        "counters": pl.List(_COUNT),
        "conservation": pl.List(_COUNT),
        "link_drops": pl.List(_LINK),
        "wires": pl.List(_LINK),
    }
)

SCALARS = (
    "seed",
    "simulated_s",
    "ended_by",
    "wall_s",
    "events",
    "frames",
    "receptions",
    "aggregate_goodput_bps",
    "jain",
)
"""Columns with one value per run, named as in `rundata.RunData`."""

_RUN_FIELDS = {column: field for field, column in gathered.COLUMNS.items()}


def engine() -> str:
    """Identity of the simulator in stored results: its version and a fingerprint of its sources."""
    return f"{version()}+{build()}"


def key(scenario: str, seed: int, engine: str) -> str:
    """The name of a stored run: a hash of everything that its result depends on.

    `scenario` is the resolved scenario in JSON. Its `name` is cosmetic and its `seed` only the default first seed, so
    both are excluded: a scenario that is renamed, or run from another first seed, finds its runs again. The layout of
    the files is included: a package with other columns does not read files that lack them.
    """
    about = {"engine": engine, "layout": _LAYOUT}
    # One JSON object with sorted keys; the scenario is in that form already.
    text = f'{_compact(about)[:-1]},"scenario":{bare(scenario)},"seed":{seed}}}'
    return hashlib.sha256(text.encode()).hexdigest()[:40]


@functools.lru_cache(maxsize=1000)
def bare(scenario: str) -> str:
    """A resolved scenario in JSON without `name` and `seed`, as no result depends on them."""
    document = json.loads(scenario)
    document.pop("name", None)
    document.pop("seed", None)
    return _compact(document)


def _compact(document: Mapping[str, object]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _layout(dtype: pl.DataType | dict[str, pl.DataType]) -> str:
    """Names and types of columns in a form that does not depend on the polars version."""
    if isinstance(dtype, dict):
        return "{" + ",".join(f"{name}:{_layout(inner)}" for name, inner in dtype.items()) + "}"
    if isinstance(dtype, pl.List):
        return f"[{_layout(cast(pl.DataType, dtype.inner))}]"
    if isinstance(dtype, pl.Struct):
        return _layout({field.name: cast(pl.DataType, field.dtype) for field in dtype.fields})
    return type(dtype).__name__


_LAYOUT = hashlib.sha256(
    "".join(map(_layout, (dict(SCHEMA), *(dict(seriesfile.schema(table)) for table in TABLES)))).encode()
).hexdigest()[:8]


def to_frame(key: str, engine: str, scenario: str, run: RunData) -> pl.DataFrame:
    """A run as one row."""
    row = {
        "key": key,
        "engine": engine,
        "scenario": bare(scenario),
        **{name: run[name] for name in SCALARS},  # type: ignore[literal-required]
        "flows": [{gathered.COLUMNS.get(name, name): value for name, value in flow.items()} for flow in run["flows"]],
        "drops": _rows(run["drops"]),
        "counters": _rows(run["counters"]),
        "conservation": _rows(run["conservation"]),
        "link_drops": _rows(run["link_drops"], "link"),
        "wires": _rows(run["wires"], "link"),
    }
    # By row: for so little data, polars takes six times as long from columns.
    return pl.DataFrame([row], schema=SCHEMA, strict=False)


def write(path: Path, frame: pl.DataFrame, series: bool) -> None:
    """Write a row from `to_frame`. The metadata identifies the run and says whether it has `series`."""
    about = {
        "kind": "run",
        "key": frame["key"][0],
        "engine": frame["engine"][0],
        "series": series,
        sealed.CHECKSUM: sealed.EMPTY,
        "columns": RUN_COLUMNS,
    }
    # Page statistics are useless for one row, and there are many files.
    store.parquet(frame, metadata={METADATA: json.dumps(about)}, statistics=False)(path)
    sealed.seal(path)


def check(path: Path, key: str | None = None) -> str | None:
    """The reason why the file at `path` is not a run (with `key`, if given); `None` if it is one.

    Raises `FileNotFoundError` if there is no such file.
    """
    about = seriesfile.described(path)
    if isinstance(about, str):
        return about
    if about.get("kind") != "run":
        return "not a run of fourhop"
    key = path.name.split(".")[0] if key is None else key
    if about.get("key") != key:
        return f"contains the run {about.get('key')}, not the one in its name"
    for table in TABLES if about.get("series") else ():
        at = seriesfile.beside(path, table)
        try:
            problem = seriesfile.check(at, key)
        except FileNotFoundError:
            problem = "not there"
        if problem is not None:
            return f"cannot read its time series: {at.name}: {problem}"
    return None


def read(path: Path) -> RunData:
    """The run in a file, as the simulator reported it."""
    row = pl.read_parquet(path).row(0, named=True)
    run = {
        **{name: row[name] for name in SCALARS},
        "flows": [_fields(flow) for flow in row["flows"]],
        **{table: _counts(row[table]) for table in ("drops", "counters", "conservation")},
        **{table: _counts(row[table], "link") for table in ("link_drops", "wires")},
    }
    return cast(RunData, run)


def goodputs(path: Path) -> RunData:
    """Read only the part of a run that a stop rule needs."""
    row = pl.read_parquet(path, columns=["aggregate_goodput_bps", "flows"]).row(0, named=True)
    return cast(RunData, {**row, "flows": [_fields(flow) for flow in row["flows"]]})


def _rows(counts: Counts, place: str = "layer") -> list[dict[str, object]]:
    return [
        {place: layer, "name": name, "count": count} for layer, names in counts.items() for name, count in names.items()
    ]


def _counts(rows: list[dict[str, Any]], place: str = "layer") -> Counts:
    counts: Counts = {}
    for row in rows:
        counts.setdefault(row[place], {})[row["name"]] = row["count"]
    return counts


def _fields(flow: dict[str, Any]) -> dict[str, Any]:
    return {_RUN_FIELDS.get(column, column): value for column, value in flow.items()}
