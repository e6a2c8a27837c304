"""A small handmade trace in the format of docs/trace.md, with a mix of events that a real one rarely has.

Four nodes in a line, the last one moving, and a host on a wire. A packet crosses two hops, the first at the second
attempt. There are a timeout, a drop, a route change and a wall.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

END_NS = 2_500_000_000
MS = 1_000_000
_U, _I, _S, _F = pl.UInt32, pl.Int64, pl.String, pl.Float64

SCHEMAS: dict[str, dict[str, Any]] = {
    "frames": {
        "frame": _U,
        "node": _U,
        "start_ns": _I,
        "end_ns": _I,
        "kind": _S,
        "dst": _U,
        "rate_bps": _I,
        "bytes": _U,
        "nav_ns": _I,
        "seq": pl.UInt16,
        "retry": pl.Boolean,
        "mpdus": pl.UInt16,
        "packet": _U,
        "flow": _U,
        "content": _S,
    },
    "receptions": {"frame": _U, "node": _U, "start_ns": _I, "end_ns": _I, "power_dbm": pl.Float32, "fate": _S},
    "mac": {"node": _U, "start_ns": _I, "end_ns": _I, "state": _S, "slots": _U},
    "packets": {
        "packet": _U,
        "time_ns": _I,
        "node": _U,
        "event": _S,
        "reason": _S,
        "peer": _U,
        "flow": _U,
        "kind": _S,
        "src": _U,
        "dst": _U,
        "seq": _U,
        "ack": _U,
        "payload": _U,
        "bytes": _U,
    },
    "queues": {"node": _U, "time_ns": _I, "queue": _S, "to": _U, "packets": _U},
    "tcp": {
        "flow": _U,
        "node": _U,
        "end": _S,
        "time_ns": _I,
        "event": _S,
        "packet": _U,
        "seq": _I,
        "ack": _I,
        "payload": _U,
        "window_bytes": _I,
        "cwnd_segments": _U,
        "ssthresh_segments": _U,
        "in_flight_bytes": _I,
        "srtt_ns": _I,
        "rtt_ns": _I,
        "rto_ns": _I,
        "interval_ns": _I,
        "timeouts": _U,
        "fast_retransmits": _U,
        "retransmitted": _U,
    },
    "routes": {"node": _U, "time_ns": _I, "destination": _U, "next_hop": _U, "hops": _U, "up": pl.Boolean},
    "positions": {"node": _U, "time_ns": _I, "x_m": _F, "y_m": _F},
}


def _frame(number: int, node: int, start_ms: float, dst: int | None, *, retry: bool = False) -> tuple[Any, ...]:
    start = int(start_ms * MS)
    return (
        number,
        node,
        start,
        start + 6 * MS,
        "data",
        dst,
        2_000_000,
        1536,
        300_000,
        7,
        retry,
        None,
        1,
        0,
        "tcp-data",
    )


def _event(
    ms: float, node: int, event: str, peer: int | None = None, reason: str | None = None, packet: int = 1
) -> tuple[Any, ...]:
    return (packet, int(ms * MS), node, event, reason, peer, 0, "tcp-data", 0, 2, 1, 1, 1460, 1500)


def _tcp(ms: float, end: str, event: str, ack: int | None, cwnd: int | None = None) -> tuple[Any, ...]:
    return (0, 0 if end == "sender" else 2, end, int(ms * MS), event, None, None, ack, None, None, cwnd, *[None] * 9)


ROWS: dict[str, list[tuple[Any, ...]]] = {
    "frames": [_frame(1, 0, 10, 1), _frame(2, 0, 20, 1, retry=True), _frame(3, 1, 30, 2), _frame(4, 3, 1001, None)],
    "receptions": [
        (1, 2, 10 * MS + 1300, 16 * MS + 1300, -80.0, "undecodable"),
        (1, 1, 10 * MS + 667, 16 * MS + 667, -60.0, "collision"),
        (2, 1, 20 * MS + 667, 26 * MS + 667, -60.0, "received"),
        (3, 0, 30 * MS + 667, 36 * MS + 667, -60.0, "overheard"),
        (3, 2, 30 * MS + 667, 36 * MS + 667, -60.0, "received"),
        (4, 2, 1001 * MS + 667, 1007 * MS + 667, -60.0, "received"),
    ],
    "mac": [
        (0, 9 * MS, 10 * MS, "counting", 31),
        (0, 10 * MS, 16 * MS, "transmitting", None),
        (1, 10 * MS, 16 * MS, "receiving", None),
        (0, 20 * MS, 26 * MS, "transmitting", None),
        (1, 30 * MS, 36 * MS, "transmitting", None),
        (3, 1001 * MS, 1007 * MS, "transmitting", None),
        (2, 40 * MS, 2400 * MS, "nav", None),
    ],
    "packets": [
        _event(8, 0, "created"),
        _event(8, 0, "queued", 1),
        _event(9, 0, "head", 1),
        _event(26.5, 0, "sent", 1),
        _event(26.5, 1, "received", 0),
        _event(26.5, 1, "queued", 2),
        _event(29, 1, "head", 2),
        _event(36.5, 1, "sent", 2),
        _event(36.5, 2, "received", 1),
        _event(36.5, 2, "delivered"),
        _event(1500, 1, "created", packet=2),
        _event(1600, 1, "dropped", reason="data-retry-limit", packet=2),
    ],
    "queues": [(0, 8 * MS, "interface", None, 1), (0, 9 * MS, "interface", None, 0), (0, 10 * MS, "routing", None, 5)],
    "tcp": [
        _tcp(8, "sender", "sent", 1, 2),
        _tcp(8.5, "receiver", "sent", 1),
        _tcp(36.5, "receiver", "sent", 1461),
        _tcp(2000, "sender", "timeout", None, 1),
    ],
    "routes": [(0, 0, 2, 1, 2, True), (1, 0, 2, 2, 1, True), (0, 1700 * MS, 2, None, None, False)],
    "positions": [
        (0, 0, 0.0, 0.0),
        (1, 0, 200.0, 0.0),
        (2, 0, 400.0, 0.0),
        (3, 0, 500.0, 0.0),
        (3, 1000 * MS, 500.0, 100.0),
    ],
}

META: dict[str, Any] = {
    "format": 1,
    "fourhop": "0",
    "complete": True,
    "kind": "simulated",
    "seed": 7,
    "profile": "ns2",
    "scenario": {},
    "start_ns": 0,
    "end_ns": END_NS,
    "filter": {"from_ns": None, "to_ns": None, "nodes": None, "flows": None},
    "nodes": [
        *(
            {"node": at, "name": f"node-{at}", "address": "", "radio": True, "gateway": False, "x_m": x, "y_m": 0.0}
            for at, x in enumerate((0.0, 200.0, 400.0, 500.0))
        ),
        {"node": 1_000_000, "name": "R1", "address": "", "radio": False, "gateway": False, "x_m": None, "y_m": None},
    ],
    "ranges": {"reception_m": 250.0, "carrier_sense_m": 550.0},
    "flows": [
        {
            "flow": 0,
            "name": "file </script>",
            "src": 0,
            "dst": 2,
            "transport": "newreno",
            "app": "ftp",
            "src_port": 1,
            "dst_port": 2,
        }
    ],
    "walls": [{"corners_m": [[100.0, 50.0], [300.0, 50.0]], "loss_db": 12.0}],
    "tables": {},
    "result": {},
}


def write(
    folder: Path, *, numbered: str = "", since_ns: int = -1, until_ns: int = END_NS, complete: bool = True
) -> Path:
    """Write the trace, or the part of it between two times, as a folder or one of several."""
    folder.mkdir(parents=True, exist_ok=True)
    into = folder / f"{numbered}.part" if numbered else folder
    into.mkdir(exist_ok=True)
    for name, schema in SCHEMAS.items():
        time = "end_ns" if "end_ns" in schema else "time_ns"
        rows = pl.DataFrame(ROWS[name], schema=schema, orient="row").filter(
            (pl.col(time) > since_ns) & (pl.col(time) <= until_ns)
        )
        rows.write_parquet(into / f"{name}.parquet")
    (folder / "meta.json").write_text(json.dumps(META | {"complete": complete}), encoding="utf-8")
    if numbered:
        into.rename(folder / numbered)
    return folder
