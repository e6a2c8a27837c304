"""Columns of a trace as numbers: what the page can use as it comes. Names become codes, -1 stands for null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

KINDS = ("rts", "cts", "data", "ack", "block-ack", "block-ack-request")
CONTENTS = (
    *("arp", "tcp-data", "tcp-ack", "tcp-syn", "tcp-fin", "tcp-rst", "udp", "atp-data", "atp-feedback"),
    *("echo-request", "echo-reply", "rreq", "rrep", "rerr", "rrep-ack", "hello", "probe", "babel", "other"),
)
FATES = ("received", "overheard", "undecodable", "collision", "captured", "half-duplex", "frame-error")
STATES = ("transmitting", "receiving", "busy", "waiting", "nav", "eifs", "ifs", "counting", "frozen")
PACKET_EVENTS = (
    *(
        "created",
        "queued",
        "head",
        "sent",
        "failed",
        "received",
        "wire-out",
        "wire-in",
        "delivered",
        "absorbed",
        "dropped",
    ),
)
TCP_EVENTS = ("sent", "resent", "received", "timeout", "fast-retransmit", "window")
"""What docs/trace.md names; the code of a name is its place."""


class Nodes:
    """The places of nodes in the list that the page has; nodes on wires have large numbers."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.places = {node: place for place, node in enumerate(numbers)}
        self._same = all(node == place for node, place in self.places.items())

    def column(self, column: str, name: str = "") -> pl.Expr:
        """The place of a node; -1: none, or all."""
        value = pl.col(column)
        if not self._same:
            value = value.replace_strict(self.places, default=-1, return_dtype=pl.Int32)
        return value.cast(pl.Int32).fill_null(-1).alias(name or column)


def code(column: str, names: Sequence[str], name: str = "") -> pl.Expr:
    """A column of names as their places in a list."""
    codes: Mapping[str, int] = {each: place for place, each in enumerate(names)}
    value = pl.col(column).cast(pl.String).replace_strict(codes, default=-1, return_dtype=pl.Int8)
    return value.fill_null(-1).alias(name or column)


def number(column: str, name: str = "", kind: Any = pl.Int32) -> pl.Expr:
    """A column of numbers."""
    return pl.col(column).cast(kind).fill_null(-1).alias(name or column)


def since(column: str, begin_ns: int, name: str) -> pl.Expr:
    """Times from a begin on, as far as 32 bits reach: what lasts longer is drawn to the end of its span anyway."""
    return (pl.col(column) - begin_ns).clip(-(2**31), 2**31 - 1).cast(pl.Int32).alias(name)


def time() -> pl.Expr:
    """Times of the run; a double holds 104 days of nanoseconds exactly."""
    return pl.col("time_ns").cast(pl.Float64).alias("time")


def among(column: str, *names: str) -> pl.Expr:
    """Whether a column has one of the names."""
    return pl.col(column).cast(pl.String).is_in(list(names))
