"""The time series that a study requested last."""

from __future__ import annotations

import polars as pl

from fourhop.study.recent import Recent


def table(rows: int) -> pl.DataFrame:
    return pl.DataFrame({"time_s": [0.0] * rows})


def size(rows: int) -> int:
    return int(table(rows).estimated_size())


def test_what_was_asked_for_last_stays_and_the_rest_is_read_again() -> None:
    read: list[str] = []
    recent = Recent(limit=2 * size(100))

    def get(key: str) -> None:
        def reading() -> pl.DataFrame:
            read.append(key)
            return table(100)

        assert recent.get(key, reading).height == 100

    for key in ("a", "b", "a", "c", "a", "b"):
        get(key)
    assert read == ["a", "b", "c", "b"], "b made room for c, not a, which was asked for since"


def test_a_table_that_is_too_large_is_returned_and_makes_no_other_go() -> None:
    recent = Recent(limit=size(100))
    assert recent.get("small", lambda: table(1)).height == 1
    assert recent.get("large", lambda: table(101)).height == 101
    assert recent.get("large", lambda: table(102)).height == 102
    assert recent.get("small", lambda: table(2)).height == 1
