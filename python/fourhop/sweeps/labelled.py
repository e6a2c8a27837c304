"""A sweep as labelled arrays (xarray): one axis for each varied key, seeds, and whatever else distinguishes rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import polars as pl

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    import xarray

Arranged = Literal["runs", "flows", "batches", "summary", "flow_summary"]

_AXES: dict[str, tuple[str, ...]] = {
    "runs": ("seed",),
    "flows": ("seed", "flow"),
    "batches": ("seed", "flow", "batch"),
    "summary": (),
    "flow_summary": ("flow",),
}

_UNITS = {"_bps": "bit/s", "_s": "s", "_bytes": "byte", "_packets": "packet", "_dbm": "dBm"}
_STATISTICS = ("_mean", "_half_width")


def arranged(frame: pl.DataFrame, keys: list[str], table: str, name: str) -> xarray.Dataset:
    """A table of a sweep as a dataset; see `SweepResult.xarray`."""
    if table not in get_args(Arranged):
        raise FourhopError(f"table: found {table!r}, allowed: {', '.join(get_args(Arranged))}")
    try:
        import pandas as pd
        import xarray
    except ImportError as error:
        raise FourhopError(f"xarray: a package is not installed ({error}): pip install 'fourhop[xarray]'") from None
    axes = [*keys, *_AXES[table]]
    twice = frame.filter(frame.select(axes).is_duplicated()) if axes else frame.head(0)
    if not twice.is_empty():
        same = ", ".join(f"{key} = {twice[key][0]}" for key in axes)
        raise FourhopError(f"xarray: several rows of {same}: vary each key once")
    measured = [
        column
        for column, kind in frame.schema.items()
        if column not in ("point", *axes) and not isinstance(kind, pl.List)
    ]
    if not axes:
        # One point: scalars.
        return _with_units(xarray.Dataset({column: frame[column][0] for column in measured}), name)
    rows = frame.select(*axes, *measured).to_pandas()
    # Keep strings as objects, not as a pandas type that numpy does not know.
    for column in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[column]) and not pd.api.types.is_bool_dtype(rows[column]):
            rows[column] = rows[column].astype(object)
    made = xarray.Dataset.from_dataframe(rows.set_index(axes))
    # In the order of the sweep, not alphabetically.
    return _with_units(made.reindex({key: frame[key].unique(maintain_order=True).to_list() for key in axes}), name)


def _with_units(made: xarray.Dataset, name: str) -> xarray.Dataset:
    made.attrs["sweep"] = name
    for column, array in made.data_vars.items():
        stem = str(column)
        for statistic in _STATISTICS:
            stem = stem.removesuffix(statistic)
        for end, unit in _UNITS.items():
            if stem.endswith(end):
                array.attrs["units"] = unit
    return made
