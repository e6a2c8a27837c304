"""Meaning and unit of each column of the tables, for the metadata of every Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from fourhop.columns import table

_IDENTITY = {
    "point": "number of the point in the sweep, from 0",
    "variant": "name of the point's scenario",
    "seed": "seed of the run",
}

_FLOW = {
    **{column.name: column.meaning for column in table("flows")},
    "flow_transport": "the flow's own transport, if `transport` is a varied key",
    "batch": "number of the batch of the measured time, from 0",
}

_RUN = {
    **{column.name: column.meaning for column in table("runs")},
    "dropped_packets": "packets dropped above the radio, all reasons together",
    "key": "hash of scenario, seed and engine: the name of the run's file",
}

_COUNTS = {
    "layer": "layer that counted",
    "link": "link that counted, from-to: numbers of nodes with radios, names of those without",
    "name": "what was counted",
    "reason": "why it was dropped",
    "count": "number over the whole run",
}

_SERIES = {column.name: column.meaning for name in ("series", "queues") for column in table(name)}

_SUMMARY = {
    "runs": "runs behind the row",
    "interval": "source of the goodput intervals: replications, batch means, none",
    "goodput_bps_mean": "mean goodput, bit/s",
    "throughput_bps_mean": "mean throughput, bit/s",
    "aggregate_goodput_bps_mean": "mean goodput of all flows together, bit/s",
    "jain_mean": "mean of Jain's index over the runs that have one",
    "precision_met": "whether the requested precision was reached; null if none was requested",
}

COLUMNS: Mapping[str, str] = {**_IDENTITY, **_FLOW, **_RUN, **_COUNTS, **_SERIES, **_SUMMARY}

RUN_COLUMNS: Mapping[str, str] = {
    "key": _RUN["key"],
    "engine": "version of the simulator and fingerprint of its sources",
    "scenario": "the scenario with every default written out, as JSON, without its name and its seed",
    "seed": _IDENTITY["seed"],
    **{name: text for name, text in _RUN.items() if name not in ("key", "dropped_packets")},
    "flows": "one entry per flow: " + "; ".join(f"{name}: {text}" for name, text in _FLOW.items()),
    "drops": "packets dropped, one entry per layer and reason",
    "counters": "counters of the layers",
    "conservation": "balance of each layer at the end: `in` = `out` + `dropped` + `held`",
    "link_drops": "packets the MAC gave up, one entry per radio link and kind of packet",
    "wires": "counters of each direction of a wired link, one entry per direction and count",
}


def describe(columns: Iterable[str], parameters: Iterable[str]) -> str:
    """The meaning of each column as a JSON object, for the metadata of a file."""
    varied = set(parameters)
    return json.dumps({name: _meaning(name, varied) for name in columns})


def _meaning(name: str, varied: set[str]) -> str:
    if name in varied:
        return "varied key of the scenario, see docs/scenario.md"
    if name in COLUMNS:
        return COLUMNS[name]
    stem = name.removesuffix("_half_width")
    if stem != name:
        return f"half-width of the 95 % interval of {stem}_mean"
    stem = name.removesuffix("_mean")
    if stem != name:
        return f"mean of {stem} over the runs"
    return name
