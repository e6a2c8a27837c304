#!/usr/bin/env python3
"""Write the Grafana dashboards of the Linux programs, packaging/*-grafana.json, from one line per graph below."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PACKAGING = Path(__file__).resolve().parent.parent / "packaging"

Graph = tuple[str, str, dict[str, str]]
"""Title, unit, and the legend of each query."""


def rate(figure: str, times: str = "") -> str:
    """Rate of a counter per second."""
    return f"rate({figure}[1m]){times}"


G, A, C, E = "fourhop_gateway_", "fourhop_aodv_", "fourhop_cc_", "fourhop_"
CONNECTION = "{{local}} {{remote}} {{algorithm}}"

BOARDS: dict[str, tuple[str, list[Graph]]] = {
    "gateway": (
        "fourhop-gateway",
        [
            ("Into the mesh, by node", "bps", {rate(f'{G}node_bytes_total{{class="into"}}', " * 8"): "{{node}}"}),
            ("Out of the mesh, by node", "bps", {rate(f'{G}node_bytes_total{{class="out"}}', " * 8"): "{{node}}"}),
            (
                "Waiting in the gateway: median and 99 %",
                "s",
                {
                    f'{G}sojourn_seconds{{node="all",quantile="{q}"}}': name
                    for q, name in [("0.5", "p50"), ("0.99", "p99")]
                },
            ),
            ("Interval between packets, by node", "s", {f'{G}interval_seconds{{class="into"}}': "{{node}}"}),
            ("Round trip over the mesh", "s", {f'{G}wireless_rtt_seconds{{class="into"}}': "{{node}}"}),
            ("Round trip beyond the gateway", "s", {f"{G}wired_rtt_seconds": "{{node}} {{class}}"}),
            ("Hops", "none", {f"{G}hops": "{{node}}"}),
            (
                "Waiting packets and flows",
                "none",
                {f"{G}waiting": "packets", f"{G}flows": "flows", f"{G}throttled_flows": "throttled {{node}}"},
            ),
            (
                "Not paced, by reason",
                "pps",
                {
                    rate(f"{G}{name}_total"): words
                    for name, words in {
                        "unknown": "hops unknown",
                        "early": "left early",
                        "buffer_full": "buffer full",
                        "table_full": "table full",
                        "overload": "overload",
                        "no_tcp": "no TCP",
                    }.items()
                },
            ),
            (
                "Changes to packets",
                "pps",
                {rate(f"{G}windows_reduced_total"): "windows", rate(f"{G}options_total"): "options"},
            ),
        ],
    ),
    "aodvd": (
        "fourhop-aodvd",
        [
            ("Routes and neighbours", "none", {f"{A}routes": "valid routes", f"{A}neighbours": "neighbours"}),
            ("Signal of neighbours", "dBm", {f"{A}signal_dbm": "{{neighbour}}"}),
            ("AODV events", "ops", {rate(f"{A}events_total"): "{{event}}"}),
            ("Messages refused, by reason", "ops", {rate(f"{A}refused_total"): "{{reason}}"}),
            ("Packets lost without a route", "pps", {rate(f"{A}lost_total"): "{{reason}}"}),
            ("Changes for the kernel", "ops", {rate(f"{A}daemon_total"): "{{event}}"}),
            ("Processor", "percentunit", {rate(f"{A}processor_seconds_total"): "of one core"}),
            ("Uptime", "s", {f"{A}uptime_seconds": "uptime"}),
        ],
    ),
    "cc": (
        "fourhop-cc",
        [
            ("Paced connections", "none", {f"{C}connections": "connections"}),
            ("Acknowledged", "bps", {rate(f"{C}acked_bytes_total", " * 8"): CONNECTION}),
            ("Interval between segments", "s", {f"{C}interval_seconds": CONNECTION}),
            ("Round trip", "s", {f"{C}rtt_seconds": CONNECTION}),
            ("Smoothed delay over the hops", "s", {f"{C}delay_seconds": CONNECTION}),
            ("Variation of round trips", "none", {f"{C}variation": CONNECTION}),
            ("Hops", "none", {f"{C}hops": CONNECTION}),
            ("Retransmissions", "pps", {rate(f"{C}retransmissions_total"): CONNECTION}),
        ],
    ),
    "emulate": (
        "fourhop-emulate",
        [
            (
                "Packets of programs",
                "pps",
                {rate(f"{E}packets_taken_total"): "sent", rate(f"{E}packets_delivered_total"): "delivered"},
            ),
            ("Packets lost, by reason", "pps", {rate(f"{E}packets_lost_total"): "{{layer}} {{reason}}"}),
            (
                "Goodput of flows, with headers",
                "bps",
                {rate(f"{E}flow_bytes_total", " * 8"): "{{src}} {{dst}} {{dst_port}}"},
            ),
            ("Frames on the air", "pps", {rate(f"{E}frames_total"): "frames"}),
            ("Lateness of deliveries", "s", {f"{E}lateness_seconds": "quantile {{quantile}}"}),
            ("Events of the simulated network", "ops", {rate(f"{E}events_total"): "events"}),
        ],
    ),
}


def panel(number: int, graph: Graph) -> dict[str, Any]:
    """One graph of a two-column layout."""
    title, unit, queries = graph
    return {
        "id": number + 1,
        "title": title,
        "type": "timeseries",
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"h": 8, "w": 12, "x": number % 2 * 12, "y": number // 2 * 8},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {"expr": expr, "legendFormat": legend, "refId": chr(ord("A") + place)}
            for place, (expr, legend) in enumerate(queries.items())
        ],
    }


def board(name: str) -> str:
    """A dashboard in Grafana's import format."""
    title, graphs = BOARDS[name]
    whole = {
        "title": title,
        "uid": title,
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "5s",
        "time": {"from": "now-30m", "to": "now"},
        "tags": ["fourhop"],
        "templating": {
            "list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}]
        },
        "panels": [panel(number, graph) for number, graph in enumerate(graphs)],
    }
    return json.dumps(whole, indent=1) + "\n"


def main() -> None:
    """The command."""
    for name in BOARDS:
        (PACKAGING / f"{name}-grafana.json").write_text(board(name), encoding="utf-8")


if __name__ == "__main__":
    main()
