"""A trace in the format of the page: named pieces, read from the tables on demand.

| name | what |
|---|---|
| `head` | JSON: nodes, flows, walls, ranges, names of codes, spans (`Head` in view/src/types.ts) |
| `frames-3`, `receptions-3`, `mac-3`, `packets-3` | rows that overlap the fourth span of time |
| `tcp`, `queues`, `routes`, `positions` | whole tables |
| `events` | events that the buttons step to, see `events.py` |
| `overview` | the whole trace in time bins, as bytes, see `overview.py` |

Tables are Arrow streams of numbers without nulls, so that the page can use the bytes directly. Times are nanoseconds;
in spans, 32 bits since the start of the span.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import polars as pl

from fourhop.view import columns, network
from fourhop.view.columns import Nodes, code, number, since, time
from fourhop.view.events import events
from fourhop.view.overview import overview
from fourhop.view.tables import Tables

_ROWS = 25_000
"""Approximate number of rows of all tables in a span: takes some milliseconds to read, and exceeds what a screen can
show individually."""
_LONGEST_NS = 1_000_000_000
_SHORTEST_NS = 1_000_000
_LAG_NS = 100_000
"""Time by which a span is extended to find copies, which arrive a propagation delay after their frame begins."""
_BINS = 8192
_CELLS = 1_000_000
"""Maximum number of bins of the overview, and of bins times nodes."""

_SPANS = ("frames", "receptions", "mac", "packets")


class Blobs:
    """The pieces of a trace. With `keep_ns`, a live view, which shows only that many of the newest nanoseconds."""

    def __init__(self, tables: Tables, *, title: str = "", keep_ns: int | None = None) -> None:
        self._tables = tables
        self._title = title or tables.folder.name
        meta = tables.meta
        self._nodes = Nodes([each["node"] for each in meta["nodes"]])
        first, last = int(meta["start_ns"]), int(meta["end_ns"])
        # The spans of a live view keep their numbers as time passes.
        self._first = first
        self.live = keep_ns is not None
        if keep_ns is not None:
            # Leave out planned events.
            last = max(self._end("mac"), self._end("receptions"), first)
            first = max(first, last - keep_ns)
        self.span = (first, max(last, first + 1000))
        self._rows = {name: self._count(name) for name in _SPANS}
        self.length = _LONGEST_NS // 2 if self.live else self._length()

    def _length(self) -> int:
        """Length of a span: a round number."""
        wanted = (self.span[1] - self.span[0]) * _ROWS / max(sum(self._rows.values()), 1)
        wanted = min(max(wanted, _SHORTEST_NS), _LONGEST_NS)
        power = 10 ** math.floor(math.log10(wanted))
        return int(max(step for step in (1, 2, 5) if step * power <= wanted) * power)

    @property
    def count(self) -> int:
        """Number of spans."""
        return -(-(self.span[1] - self._first) // self.length)

    @property
    def bins(self) -> int:
        """Number of bins of the overview."""
        return min(_BINS, max(512, _CELLS // max(len(self._nodes.places), 1)))

    def span_of(self, number: int) -> tuple[int, int]:
        """Start and end of a span."""
        begin = self._first + number * self.length
        return begin, begin + self.length

    def names(self) -> list[str]:
        """The names of all pieces but `head`."""
        parts = [f"{name}-{at}" for at in range(self.count) for name in _SPANS]
        return ["tcp", "queues", "routes", "positions", "events", "overview", *parts]

    def get(self, name: str) -> bytes:
        """One piece; raises `KeyError` for an unknown name."""
        whole: dict[str, Callable[[], bytes]] = {
            "head": lambda: json.dumps(self.head(), separators=(",", ":")).encode(),
            "tcp": self._tcp,
            "queues": self._queues,
            "routes": self._routes,
            "positions": self._positions,
            "events": lambda: _arrow(events(self._tables, self._nodes, self._since_ns)),
            "overview": lambda: overview(self._tables, self._nodes, self.span, self.bins).tobytes(),
        }
        if name in whole:
            return whole[name]()
        part, _, at = name.rpartition("-")
        spans: dict[str, Callable[[int], bytes]] = {
            "frames": self._frames,
            "receptions": self._receptions,
            "mac": self._mac,
            "packets": self._packets,
        }
        if part not in spans or not at.isdecimal() or int(at) >= self.count:
            raise KeyError(name)
        return spans[part](int(at))

    def head(self) -> dict[str, Any]:
        """The data that the page needs before it reads a table."""
        meta = self._tables.meta
        each = max(sum(self._rows.values()) // max(self.count, 1), 1)
        kept = (self.span[0] - self._first) // self.length
        places = self._nodes.places
        return {
            "title": self._title,
            "profile": str(meta.get("profile") or ""),
            "seed": int(meta.get("seed") or 0),
            "live": self.live,
            "span": self.span,
            "opens": network.opening(self._tables, self._nodes, self.span),
            "ranges": {"receive": meta["ranges"]["reception_m"] or 0, "sense": meta["ranges"]["carrier_sense_m"] or 0},
            "nodes": [
                {
                    "name": each["name"] or str(each["node"]),
                    "x": each["x_m"],
                    "y": each["y_m"],
                    "radio": each["radio"],
                    "gateway": bool(each.get("gateway")),
                }
                for each in meta["nodes"]
            ],
            "links": network.links(meta),
            "flows": [
                {
                    "name": flow["name"] or f"flow {flow['flow']}",
                    "source": places.get(flow["src"], -1),
                    "destination": places.get(flow["dst"], -1),
                    "transport": flow["transport"] or "",
                }
                for flow in meta["flows"]
            ],
            "walls": [
                {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "loss_db": wall["loss_db"]}
                for wall in meta.get("walls") or []
                for (x1, y1), (x2, y2) in itertools.pairwise(wall["corners_m"])
            ],
            "names": {
                "kind": columns.KINDS,
                "content": columns.CONTENTS,
                "fate": columns.FATES,
                "state": columns.STATES,
                "event": columns.PACKET_EVENTS,
                "reason": columns.REASONS,
                "tcp": columns.TCP_EVENTS,
            },
            "chunks": {
                "first": self._first,
                "length": self.length,
                "rows": [0 if at < kept else each for at in range(self.count)],
            },
            "bins": self.bins,
            "counts": {"frames": self._rows["frames"], "copies": self._rows["receptions"]},
        }

    def _count(self, table: str) -> int:
        scan = self._tables.find(table)
        return 0 if scan is None else int(scan.select(pl.len()).collect().item())

    def _end(self, table: str) -> int:
        scan = self._tables.find(table)
        last = None if scan is None else scan.select(pl.col("end_ns").max()).collect().item()
        return 0 if last is None else int(last)

    @property
    def _since_ns(self) -> int:
        """Time from which rows of whole tables are shown."""
        return self.span[0] if self.live else self._first

    def _read(self, table: str, wanted: pl.Expr, found: list[pl.Expr], more: pl.DataFrame | None = None) -> bytes:
        scan = self._tables.find(table)
        if scan is None:
            names = [column.meta.output_name() for column in found]
            empty = pl.DataFrame({name: pl.Series([], dtype=pl.Int32) for name in names})
            return _arrow(empty if more is None else more)
        rows = columns.read(self._tables, table, scan.filter(wanted).select(found))
        return _arrow(
            rows if more is None else pl.concat([rows, more], how="vertical_relaxed").sort("time", maintain_order=True)
        )

    def _part(self, table: str, at: int, found: list[pl.Expr], late: int = 0) -> bytes:
        """The intervals that overlap a span, as rows."""
        begin, end = self.span_of(at)
        times = [since("start_ns", begin, "start"), since("end_ns", begin, "end")]
        return self._read(table, (pl.col("end_ns") > begin) & (pl.col("start_ns") < end + late), times + found)

    def _frames(self, at: int) -> bytes:
        found = [
            *(pl.col("frame").cast(pl.UInt32), self._nodes.column("node"), self._nodes.column("dst")),
            *(number("flow", kind=pl.Int16), number("packet"), number("bytes"), number("rate_bps", "rate", pl.Float32)),
            *(number("seq"), pl.col("retry").fill_null(False).cast(pl.Int8), number("nav_ns", "nav")),
            number("mpdus", kind=pl.Int8),
            *(code("kind", columns.KINDS), code("content", columns.CONTENTS)),
        ]
        return self._part("frames", at, found)

    def _receptions(self, at: int) -> bytes:
        power = pl.col("power_dbm").cast(pl.Float32).fill_null(math.nan).alias("power")
        node = self._nodes.column("node").cast(pl.Int16)
        found = [pl.col("frame").cast(pl.UInt32), node, power, code("fate", columns.FATES)]
        return self._part("receptions", at, found, late=_LAG_NS)

    def _mac(self, at: int) -> bytes:
        node = self._nodes.column("node").cast(pl.Int16)
        return self._part("mac", at, [node, code("state", columns.STATES), number("slots", kind=pl.Int16)])

    def _packets(self, at: int) -> bytes:
        begin, end = self.span_of(at)
        node, contents = self._nodes.column, code("kind", columns.CONTENTS, "content")
        found = [
            *(since("time_ns", begin, "time"), number("packet"), node("node"), code("event", columns.PACKET_EVENTS)),
            *(code("reason", columns.REASONS), number("flow", kind=pl.Int16), contents, node("peer"), node("src")),
            *(node("dst"), number("seq", kind=pl.Float64), number("ack", kind=pl.Float64), number("payload")),
            number("bytes"),
        ]
        return self._read("packets", (pl.col("time_ns") >= begin) & (pl.col("time_ns") < end), found)

    def _tcp(self) -> bytes:
        long = functools.partial(number, kind=pl.Float64)
        short = functools.partial(number, kind=pl.Float32)
        sender = (pl.col("end").cast(pl.String) == "sender").cast(pl.Int8).alias("sender")
        found = [
            *(time(), number("flow", kind=pl.Int16), sender, code("event", columns.TCP_EVENTS), number("packet")),
            *(long("seq"), long("ack"), number("payload"), long("window_bytes", "offered")),
            *(short("cwnd_segments", "cwnd"), short("ssthresh_segments", "ssthresh")),
            *(short("in_flight_bytes", "flight"), long("srtt_ns", "srtt"), long("rtt_ns", "rtt")),
            *(long("rto_ns", "rto"), long("interval_ns", "interval")),
        ]
        return self._read("tcp", pl.col("time_ns") >= self._since_ns, found)

    def _queues(self) -> bytes:
        wanted = columns.among("queue", "interface") & (pl.col("time_ns") >= self._since_ns)
        return self._read("queues", wanted, [time(), self._nodes.column("node").cast(pl.Int16), number("packets")])

    def _routes(self) -> bytes:
        node = self._nodes.column
        found = [time(), node("node"), node("destination", "dst"), node("next_hop", "next"), number("hops")]
        # All routes, even of a live trace: a route that is an hour old is still in use.
        found.append(pl.col("up").fill_null(False).cast(pl.Int8))
        wired = network.wired_routes(self._tables, self._nodes, [each.meta.output_name() for each in found])
        return self._read("routes", pl.lit(True), found, wired)

    def _positions(self) -> bytes:
        places = [pl.col(f"{axis}_m").cast(pl.Float64).alias(axis) for axis in "xy"]
        return self._read("positions", pl.lit(True), [time(), self._nodes.column("node"), *places])


def _arrow(rows: pl.DataFrame) -> bytes:
    """Rows as an Arrow stream of one batch."""
    out = io.BytesIO()
    rows.rechunk().write_ipc_stream(out, compression="uncompressed", compat_level=pl.CompatLevel.oldest())
    return out.getvalue()
