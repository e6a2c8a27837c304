"""Columns of results and traces, as the simulator declares them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import fourhop
from fourhop import FourhopError, columns, frames
from fourhop.view import columns as view


def test_a_run_has_the_fields_that_are_declared() -> None:
    result = fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s", sample_every="1s"))
    [run] = result.runs
    flow: dict[str, Any] = dict(run["flows"][0])
    assert {column.field for column in columns.table("flows")} == set(flow)
    assert {column.field for column in columns.table("runs")} <= set(run)
    assert result.flows.schema == frames.FLOWS
    assert result.flows.columns[:2] == ["seed", "flow"]
    assert result.flows.columns[-1] == "batch_goodput_bps"
    assert set(result.series.columns) == {"seed", *(column.name for column in columns.table("series"))}


def test_every_column_has_a_meaning_and_rates_have_their_unit() -> None:
    for table in ("runs", "flows", "series", "queues"):
        for column in columns.table(table):
            assert column.about, column
            assert not column.name.endswith("_bps") or column.unit == "bit/s", column


def test_a_name_that_this_version_does_not_know_is_an_error_and_none_is_not() -> None:
    folder: Any = SimpleNamespace(folder="trace")
    rows = pl.LazyFrame({"fate": ["received", None, "collision"]})
    codes = view.read(folder, "receptions", rows.select(view.code("fate", view.FATES)))["fate"]
    assert codes.to_list() == [view.FATES.index("received"), -1, view.FATES.index("collision")]
    strange = pl.LazyFrame({"fate": ["received", "eaten"]}).select(view.code("fate", view.FATES))
    with pytest.raises(FourhopError, match=r"^trace: receptions: found a name that"):
        view.read(folder, "receptions", strange)
