"""Small networks in the forms that communities publish, for tests of `fourhop import`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fourhop.community import Imported, Options, read, to_scenario
from tests.conftest import ROOT

EXAMPLE = ROOT / "scenarios" / "community" / "meshviewer.json"


def node(id_: str, latitude: Any = 50.0, longitude: float = 7.0, **more: Any) -> dict[str, Any]:
    place = {} if latitude is None else {"location": {"latitude": latitude, "longitude": longitude}}
    return {
        "node_id": id_,
        "hostname": f"host {id_}",
        "is_online": True,
        "is_gateway": False,
        "clients": 2,
        **place,
        **more,
    }


def link(a: str, b: str, there: float = 0.8, back: float = 0.8, kind: str = "wifi") -> dict[str, Any]:
    return {"type": kind, "source": a, "target": b, "source_tq": there, "target_tq": back}


MAP: dict[str, Any] = {
    "timestamp": "2026-01-01T00:00:00+0000",
    "nodes": [
        node("a"),
        node("b", 50.001),
        node("c", 50.002),
        node("d", None),
        node("twin", 50.0, 7.00001, clients=3),
        node("off", 50.0001, is_online=False),
        node("alone", 51.0),
        node("server", None, is_gateway=True),
        node("e", 52.0),
        node("f", 52.001),
    ],
    "links": [
        link("a", "b", 1.0, 1.0),
        link("b", "c", 0.9, 0.5),
        link("c", "d", 0.7, 0.0),
        link("a", "off"),
        link("a", "twin", 1.0, 1.0, "other"),
        link("a", "server", 1.0, 1.0, "vpn"),
        link("alone", "server", 1.0, 1.0, "vpn"),
        link("e", "f"),
        link("b", "nobody"),
    ],
}


NODES_2 = {
    "version": 2,
    "nodes": [
        {
            "nodeinfo": {
                "node_id": id_,
                "hostname": id_.upper(),
                "location": {"latitude": 50.0 + i / 1000, "longitude": 7.0},
            },
            "flags": {"online": id_ != "z", "gateway": id_ == "x"},
            "statistics": {"clients": i},
        }
        for i, id_ in enumerate(("x", "y", "z", "w"))
    ],
}
GRAPH = {
    "version": 1,
    "batadv": {
        "directed": False,
        "nodes": [{"id": "02:0" + str(i), "node_id": id_} for i, id_ in enumerate(("x", "y", "w"))] + [{"id": "02:ff"}],
        "links": [
            {"source": 0, "target": 1, "tq": 1.25, "vpn": False, "bidirect": True},
            {"source": 1, "target": 2, "tq": 1.0, "type": "wireless"},
            {"source": 0, "target": 2, "tq": 1.0, "vpn": True},
            {"source": 3, "target": 0, "tq": 1.0, "vpn": False},
        ],
    },
}


HOPGLASS = {"JSON": {"rows": [
    {"id": "a.olsr", "value": {"hostname": "a", "latlng": [52.5, 13.4], "links": [
        {"id": "b.olsr", "quality": 0.5, "ifname": "wlan0-adhoc-2", "wifi": {"signal": -80, "noise": -95}},
        {"id": "c.olsr", "quality": "1.000"},
        {"id": "gate.bbb-vpn.olsr", "quality": 1, "ifname": "bbbdigger"}]}},
    {"id": "b.olsr", "value": {"hostname": "b", "latlng": [52.501, 13.4], "links": [
        {"id": "a.olsr", "quality": 0.25, "ifname": "wlan0-adhoc-2"},
        {"id": "b.olsr", "quality": 1}, {"id": "nobody.olsr", "quality": 1}]}},
    {"id": "c.olsr", "value": {"hostname": "c", "latlng": [0, 0], "links": [{"id": "a.olsr", "quality": 1}]}},
]}}  # fmt: skip


LINKS = """from,to,dat_cost,mbps_median
a,b,14,146.3
b,a,15,136.5
b,c,40,50
c,b,50,40
a,c,80,45
"""


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def imported(*files: Path, values: Any = None, **options: Any) -> Imported:
    return to_scenario(read(files, values), Options(**options), "files")


def said(made: Imported, kind: str) -> str:
    return "\n".join(str(note) for note in made.notes if note.kind == kind)
