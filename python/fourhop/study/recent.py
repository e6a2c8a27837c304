"""A cache of recently read tables, up to a limit of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class Recent:
    """Tables by key, at most `limit` bytes; the least recently used one is dropped first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._tables: OrderedDict[Hashable, tuple[pl.DataFrame, int]] = OrderedDict()

    def get(self, key: Hashable, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """The table of this key, read if it is not cached."""
        if key in self._tables:
            self._tables.move_to_end(key)
            return self._tables[key][0]
        table = read()
        size = int(table.estimated_size())
        if size > self._limit:
            return table
        self._tables[key] = table, size
        self._size += size
        while self._size > self._limit:
            _, (_, gone) = self._tables.popitem(last=False)
            self._size -= gone
        return table
