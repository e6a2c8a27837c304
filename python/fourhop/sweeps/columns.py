"""What each column of the tables means, with its unit: goes into the metadata of every Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

_IDENTITY = {
    "point": "number of the point in the sweep, from 0",
    "variant": "name of the scenario the point is made of",
    "seed": "seed of the run",
}

_FLOW = {
    "flow": "name of the flow",
    "src": "number of the sending node",
    "dst": "number of the receiving node",
    "hops": "length of a shortest path",
    "transport": "congestion control of the flow, or udp or ping",
    "flow_transport": "the flow's own transport, beside the one that was varied",
    "app": "what the flow sends",
    "goodput_bps": "payload delivered in order to the receiving application, each byte once, bit/s",
    "throughput_bps": "payload that arrived at the receiving transport, repeated bytes included, bit/s",
    "delivered_bytes": "payload bytes behind goodput_bps",
    "active_s": "measured time in which data was on its way (files: without the pauses), s",
    "averaged_goodput_bps": "delivered_bytes over active_s, bit/s",
    "file_goodput_bps": "mean over the completed files of size over time, bit/s; none for what sends none",
    "files": "files completed over the whole run; none for what sends none",
    "sent_packets": "segments, datagrams or requests sent over the whole run, repeated ones included",
    "retransmitted_packets": "of those, segments sent again",
    "timeouts": "retransmission time-outs",
    "fast_retransmits": "losses found by duplicate acknowledgements",
    "rtt_mean_s": "mean round trip of the samples taken, s",
    "rtt_min_s": "least round trip of ping, s",
    "rtt_median_s": "median round trip of ping, s",
    "rtt_max_s": "largest round trip of ping, s",
    "rtt_std_s": "standard deviation of the round trips of ping, s",
    "age_mean_s": "mean age of the bytes delivered (tcp.delivery_ages), since each became the next to be sent, s",
    "age_median_s": "age that half of the bytes delivered did not exceed, s",
    "age_p95_s": "age that 95 % of the bytes delivered did not exceed, s",
    "age_p99_s": "age that 99 % of the bytes delivered did not exceed, s",
    "route_changes": "how often a packet left its source through another neighbour than the one before it",
    "route_discoveries": "searches of the source for the receiver that a route reply ended",
    "discovery_first_s": "time of the first of them, from its first request to the reply, s",
    "discovery_mean_s": "their mean time, s",
    "discovery_max_s": "the longest of them, s",
    "batch_goodput_bps": "goodput in each of the equal parts of the measured time, bit/s",
    "batch": "number of the part of the measured time, from 0",
}

_RUN = {
    "simulated_s": "simulated time, s",
    "ended_by": "what ended the run: duration, or packets once so many were delivered",
    "events": "events handled",
    "frames": "frames radiated",
    "receptions": "copies of frames that ended at a receiver",
    "aggregate_goodput_bps": "goodput of all flows together, bit/s",
    "jain": "Jain's fairness index of the goodputs; none with one flow, or if nothing arrived",
    "dropped_packets": "packets dropped above the radio, all reasons together",
    "wall_s": "time the simulation took, s; the only column that differs from run to run of the same seed",
    "key": "hash of scenario, seed and engine: the name of the run's file",
}

_COUNTS = {
    "layer": "layer that counted",
    "link": "link that counted, from-to: numbers of nodes with radios, names of those without",
    "name": "what was counted",
    "reason": "why it was dropped",
    "count": "how many, over the whole run",
}

_SERIES = {
    "time_s": "end of the time step, s",
    "node": "number of the node",
    "to": "number of the node that a wired queue leads to; none for the interface queue of a radio",
    "queue_packets": "packets in the queue",
}

_SUMMARY = {
    "runs": "runs behind the row",
    "interval": "over what the intervals of goodput are: replications, batch means, none",
    "goodput_bps_mean": "mean goodput, bit/s",
    "throughput_bps_mean": "mean throughput, bit/s",
    "aggregate_goodput_bps_mean": "mean goodput of all flows together, bit/s",
    "jain_mean": "mean of Jain's index over the runs that have one",
    "precision_met": "whether the precision asked for was reached; none if none was",
}

COLUMNS: Mapping[str, str] = {**_IDENTITY, **_FLOW, **_RUN, **_COUNTS, **_SERIES, **_SUMMARY}

RUN_COLUMNS: Mapping[str, str] = {
    "key": _RUN["key"],
    "engine": "version of the simulator and fingerprint of its sources",
    "scenario": "the scenario with every default written out, as JSON, without its name and its seed",
    "seed": _IDENTITY["seed"],
    **{name: text for name, text in _RUN.items() if name not in ("key", "dropped_packets")},
    "flows": "one entry a flow: " + "; ".join(f"{name}: {text}" for name, text in _FLOW.items()),
    "drops": "packets dropped, one entry a layer and reason",
    "counters": "what the layers counted",
    "conservation": "balance of each layer at the end: in = out + dropped + held",
    "link_drops": "packets the MAC gave up, one entry a radio link and kind of packet",
    "wires": "what each direction of a wired link did, one entry a direction and count",
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
