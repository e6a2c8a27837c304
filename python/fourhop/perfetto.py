"""A trace for Perfetto's viewer: nodes as tracks, frames as slices, packets as arrows from hop to hop, counters.

Sources: Perfetto's documentation of its format ("TrackEvent", "Synthetic TrackEvent") and its published messages for
the field numbers below; protocol buffers' encoding of varints, tags and lengths. Only these few messages are needed,
so they are encoded here rather than with a library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from fourhop.trace import Trace

# Fields of Trace, TracePacket, TrackEvent, TrackDescriptor, ProcessDescriptor, CounterDescriptor, DebugAnnotation.
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _SEQUENCE_FLAGS, _TRACK_DESCRIPTOR = 8, 10, 11, 13, 60
_ANNOTATION, _TYPE, _TRACK, _CATEGORIES, _NAME, _COUNTER_VALUE, _DOUBLE_VALUE, _FLOWS = 4, 9, 11, 22, 23, 30, 44, 47
_UUID, _TRACK_NAME, _PROCESS, _PARENT, _COUNTER, _ORDERING, _RANK = 1, 2, 3, 5, 8, 11, 12
_PID, _PROCESS_NAME = 1, 6
_UNIT_NAME = 6
_ANNOTATION_NAME, _UINT, _STRING = 10, 3, 6

_BEGIN, _END, _INSTANT, _COUNTS = 1, 2, 3, 4
_CLEARED = 1
"""SEQ_INCREMENTAL_STATE_CLEARED: set in the first packet of a sequence."""
_EXPLICIT = 3
"""Tracks sorted below their parent by rank."""

MEDIUM = ("transmitting", "receiving", "busy", "waiting", "nav", "eifs")
"""States of a node's medium; the others belong to its backoff."""


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<Q", value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


class _Writer:
    """Writes the packets of one sequence to a file."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._first = True
        self._uuids = 0

    def packet(self, content: bytes, at: int | None = None) -> None:
        head = _number(_SEQUENCE, 1)
        if self._first:
            head += _number(_SEQUENCE_FLAGS, _CLEARED)
            self._first = False
        if at is not None:
            head += _number(_TIMESTAMP, at)
        self._out.write(_bytes(_PACKET, head + content))

    def track(
        self, name: str, parent: int | None = None, *, rank: int = 0, unit: str | None = None, pid: int | None = None
    ) -> int:
        """Add a track and return its number. A process is a track with others below it."""
        self._uuids += 1
        content = _number(_UUID, self._uuids)
        if pid is not None:
            content += _bytes(_PROCESS, _number(_PID, pid) + _text(_PROCESS_NAME, name)) + _number(_ORDERING, _EXPLICIT)
        else:
            content += _text(_TRACK_NAME, name) + _number(_RANK, rank)
        if parent is not None:
            content += _number(_PARENT, parent)
        if unit is not None:
            content += _bytes(_COUNTER, _text(_UNIT_NAME, unit) if unit else b"")
        self.packet(_bytes(_TRACK_DESCRIPTOR, content))
        return self._uuids

    def event(
        self,
        kind: int,
        at: int,
        track: int,
        name: str | None = None,
        category: str | None = None,
        flow: int | None = None,
        about: dict[str, object] | None = None,
    ) -> None:
        content = _number(_TYPE, kind) + _number(_TRACK, track)
        if name is not None:
            content += _text(_NAME, name)
        if category is not None:
            content += _text(_CATEGORIES, category)
        if flow is not None:
            content += _fixed(_FLOWS, flow)
        for key, value in (about or {}).items():
            if value is not None:
                encoded = _number(_UINT, value) if isinstance(value, int) else _text(_STRING, str(value))
                content += _bytes(_ANNOTATION, _text(_ANNOTATION_NAME, key) + encoded)
        self.packet(_bytes(_TRACK_EVENT, content), at)

    def count(self, at: int, track: int, value: float | int) -> None:
        encoded = _number(_COUNTER_VALUE, value) if isinstance(value, int) else _double(_DOUBLE_VALUE, value)
        self.packet(_bytes(_TRACK_EVENT, _number(_TYPE, _COUNTS) + _number(_TRACK, track) + encoded), at)


_Slice = tuple[int, int, int, str, str, int | None, dict[str, object]]
"""Track, start, end, name, category, packet, annotations."""


def write(trace: Trace, file: str | Path) -> None:
    """Write `trace` to `file`, to be opened in Perfetto's viewer (ui.perfetto.dev, or a copy of it)."""
    with Path(file).open("wb") as out:
        writer = _Writer(out)
        tracks: dict[tuple[int, str], int] = {}
        for node in trace.meta["nodes"]:
            number = node["node"]
            process = writer.track(f"node {node['name']}", pid=number + 1)
            names = ("sent", "received", "medium", "backoff") if node["radio"] else ()
            for rank, name in enumerate(names):
                tracks[number, name] = writer.track(name, process, rank=rank)
            for queue in ("interface", "routing", "gateway", "wire"):
                tracks[number, queue] = process
        slices = [*_frames(trace, tracks), *_receptions(trace, tracks), *_states(trace, tracks)]
        # A slice ends before another begins at the same time; slices of one track never overlap.
        events: list[tuple[int, int, int]] = []
        for place, (_, start, end, *_) in enumerate(slices):
            events += [(start, 1, place), (max(end, start), 0 if end > start else 2, place)]
        events.sort()
        for at, what, place in events:
            track, _, _, name, category, packet, about = slices[place]
            if what == 1:
                writer.event(_BEGIN, at, track, name, category, packet, about)
            else:
                writer.event(_END, at, track)
        _losses(trace, tracks, writer)
        _queues(trace, tracks, writer)
        _ends(trace, writer)


def _frames(trace: Trace, tracks: dict[tuple[int, str], int]) -> Iterator[_Slice]:
    for row in trace.table("frames").iter_rows(named=True):
        what = row["content"] if row["kind"] == "data" else row["kind"]
        name = f"{what} → {'all' if row['dst'] is None else row['dst']}"
        about = {key: row[key] for key in ("frame", "seq", "bytes", "rate_bps", "nav_ns", "packet", "flow")}
        packet = row["packet"] if row["kind"] == "data" else None
        yield tracks[row["node"], "sent"], row["start_ns"], row["end_ns"], name, "sent", packet, about


def _receptions(trace: Trace, tracks: dict[tuple[int, str], int]) -> Iterator[_Slice]:
    import polars as pl

    frames = trace.scan("frames").select("frame", "kind", "content", "packet", pl.col("node").alias("from"))
    rows = trace.scan("receptions").filter(pl.col("fate") == "received").join(frames, on="frame", how="left")
    busy: dict[int, int] = {}
    for row in rows.sort("node", "start_ns").collect().iter_rows(named=True):
        track = tracks[row["node"], "received"]
        # A radio that separates frames can receive two at a time, but slices of a track must not overlap.
        if row["start_ns"] < busy.get(track, 0):
            continue
        busy[track] = row["end_ns"]
        what = row["content"] if row["kind"] == "data" else row["kind"] or "frame"
        packet = row["packet"] if row["kind"] == "data" else None
        name = what if row["from"] is None else f"{what} ← {row['from']}"
        about: dict[str, object] = {"frame": row["frame"], "power_dbm": f"{row['power_dbm']:.1f}"}
        yield track, row["start_ns"], row["end_ns"], name, "received", packet, about


def _states(trace: Trace, tracks: dict[tuple[int, str], int]) -> Iterator[_Slice]:
    for row in trace.table("mac").iter_rows(named=True):
        of_medium = row["state"] in MEDIUM
        track = tracks[row["node"], "medium" if of_medium else "backoff"]
        about: dict[str, object] = {} if of_medium else {"slots": row["slots"]}
        yield track, row["start_ns"], row["end_ns"], row["state"], "mac", None, about


def _losses(trace: Trace, tracks: dict[tuple[int, str], int], writer: _Writer) -> None:
    import polars as pl

    lost = trace.scan("receptions").filter(pl.col("fate").is_in(["collision", "frame-error"])).collect()
    for row in lost.iter_rows(named=True):
        writer.event(
            _INSTANT, row["end_ns"], tracks[row["node"], "received"], row["fate"], "lost", None, {"frame": row["frame"]}
        )
    dropped = trace.scan("packets").filter(pl.col("event") == "dropped").collect()
    for row in dropped.iter_rows(named=True):
        track = tracks.get((row["node"], "sent"), tracks[row["node"], "interface"])
        about = {key: row[key] for key in ("packet", "kind", "flow")}
        writer.event(_INSTANT, row["time_ns"], track, f"dropped: {row['reason']}", "lost", None, about)


def _queues(trace: Trace, tracks: dict[tuple[int, str], int], writer: _Writer) -> None:
    counters: dict[tuple[int, str, int | None], int] = {}
    for row in trace.table("queues").iter_rows(named=True):
        key = (row["node"], row["queue"], row["to"])
        if key not in counters:
            to = "" if row["to"] is None else f" to {row['to']}"
            process = tracks[row["node"], row["queue"]]
            counters[key] = writer.track(f"queue: {row['queue']}{to}", process, rank=9, unit="packets")
            writer.count(max(0, row["time_ns"] - 1), counters[key], 0)
        writer.count(row["time_ns"], counters[key], row["packets"])


_COUNTERS = {
    "cwnd_segments": ("window", "segments", 1.0),
    "ssthresh_segments": ("slow-start threshold", "segments", 1.0),
    "in_flight_bytes": ("in flight", "B", 1.0),
    "srtt_ns": ("smoothed round trip", "ms", 1e-6),
    "rto_ns": ("timeout", "ms", 1e-6),
    "interval_ns": ("pacing interval", "ms", 1e-6),
}


def _ends(trace: Trace, writer: _Writer) -> None:
    import polars as pl

    nodes = max((node["node"] for node in trace.meta["nodes"]), default=0)
    for number, name in enumerate(trace.flows):
        rows = trace.scan("tcp").filter(pl.col("flow") == number, pl.col("end") == "sender").collect()
        if rows.is_empty():
            continue
        process = writer.track(f"flow {name}", pid=nodes + 2 + number)
        events = writer.track("events", process)
        for row in rows.filter(pl.col("event").is_in(["timeout", "fast-retransmit"])).iter_rows(named=True):
            writer.event(_INSTANT, row["time_ns"], events, row["event"], "tcp")
        for rank, (column, (title, unit, factor)) in enumerate(_COUNTERS.items(), 1):
            known = rows.select("time_ns", column).drop_nulls()
            changed = known.filter((pl.col(column) != pl.col(column).shift()).fill_null(True))
            if changed.is_empty():
                continue
            track = writer.track(title, process, rank=rank, unit=unit)
            for at, value in changed.iter_rows():
                writer.count(at, track, value if factor == 1.0 else value * factor)
