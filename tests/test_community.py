"""`fourhop import`: every format by a small file, what is wrong with others, what comes back of what was written."""

from __future__ import annotations

import importlib.util
import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fourhop
from fourhop import Scenario
from fourhop.community import Imported, Options, read, routers, tables, to_scenario
from fourhop.community.choose import Part
from fourhop.community.links import Budget
from fourhop.community.network import Network, components, hops_from
from fourhop.errors import FourhopError
from fourhop.picture import Network as Survey
from tests.conftest import ROOT, Command

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


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def imported(*files: Path, values: Any = None, **options: Any) -> Imported:
    return to_scenario(read(files, values), Options(**options), "files")


def said(made: Imported, kind: str) -> str:
    return "\n".join(str(note) for note in made.notes if note.kind == kind)


def test_a_meshviewer_file_becomes_a_scenario(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP))
    document = tomllib.loads(made.toml)
    assert [each["name"] for each in document["nodes"]] == ["host a", "host b", "host c", "host d"]
    assert document["topology"]["coordinates"][:2] == [[50.0, 7.0], [50.001, 7.0]]
    assert document["wired"]["gateways"] == [0]
    assert document["radio"]["unmeasured"] == "no-link"
    # The first link is as good as can be: its distance of 111 m decides. The next has two directions, the last but one.
    (full, there, back, one) = document["losses"]
    budget = Budget.of(made.scenario.resolved["radio"])
    assert float(full["snr"].removesuffix("dB")) == pytest.approx(budget.snr_db(111.2), abs=0.1)
    assert (there["delivery"], back["delivery"], there["both_ways"], back["from"]) == ("90.0%", "50.0%", False, 2)
    assert (one["delivery"], "both_ways" in one) == ("70.0%", False)
    assert [(flow["from"], flow["to"]) for flow in document["flows"]] == [
        ("internet", 1),
        ("internet", 2),
        ("internet", 3),
    ]
    left, missing, assumed = (said(made, kind) for kind in ("left out", "missing", "assumed"))
    assert "1 nodes that are offline: host off" in left
    assert "1 links whose ends are not among the nodes: b-nobody" in left
    assert "nodes without a link to another node of the mesh: host alone, host server" in left
    assert "2 nodes in other parts" in left
    assert "places of 1 nodes; they are drawn amid their neighbours: host d" in missing
    assert "1 links measured in one direction; the other is taken as alike: host c-host d" in missing
    assert "2 nodes that are joined by cable are 1 nodes: host a" in assumed
    assert "1 links whose directions differ by more than 20 % stay so: host b-host c" in assumed
    # All of it stands in the file, too.
    assert all(f"# {note}" in made.toml for note in made.notes)
    # Clients of what is joined by cable are added up, those of the gateway have no way over the air.
    assert made.network.nodes["a"].clients == 5


def test_distances_in_the_simulator_are_those_on_the_ground(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP))
    places = Survey.of(made.scenario.resolved_json).places
    far = made.network.distance_m("a", "b")
    assert far == pytest.approx(111.195, abs=0.01)
    assert math.dist(places[0], places[1]) == pytest.approx(far, rel=0.003)


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


def test_the_pair_of_older_files_says_the_same(tmp_path: Path) -> None:
    listed = put(tmp_path, "nodes.json", NODES_2)
    graph = put(tmp_path, "graph.json", GRAPH)
    by_id = {each["nodeinfo"]["node_id"]: each for each in NODES_2["nodes"]}  # type: ignore[attr-defined]
    older = put(tmp_path, "older.json", {"version": 1, "nodes": by_id})
    two, one = read([listed, graph]), read([older, graph])
    assert two == one
    assert [(node.name, node.online, node.uplink, node.clients) for node in two.nodes.values()] == [
        ("X", True, True, 0), ("Y", True, False, 1), ("Z", False, False, 2), ("W", True, False, 3),
    ]  # fmt: skip
    assert [(x.source, x.target, x.medium, x.there, x.back) for x in two.links] == [
        ("x", "y", "radio", 0.8, 0.8), ("y", "w", "radio", 1.0, 1.0), ("x", "w", "tunnel", 1.0, 1.0),
    ]  # fmt: skip
    assert [note.text for note in two.notes] == ["1 links of devices that are no nodes"]
    made = to_scenario(two)
    assert [made.network.nodes[id_].name for id_ in made.gateways] == ["X", "W"]


@pytest.mark.parametrize(
    ("found", "made"),
    [
        ("Bücherei-Köln", "Bücherei-Köln"),
        ("Кухня", "Кухня"),
        ("屋上 #3 (仮)", "屋上 #3 (仮)"),
        ("a,b\tc\n", "a b c"),
        ("\x00", "node-0"),
        ("n7", "node-n7"),
        ("gateway-1", "node-gateway-1"),
        ("x" * 99, "x" * 52),
    ],
)
def test_names_are_kept_but_for_what_no_name_can_have(tmp_path: Path, found: str, made: str) -> None:
    nodes = [node("a", hostname=found), node("b", 50.001, hostname=found, is_gateway=True)]
    scenario = imported(put(tmp_path, "meshviewer.json", {"nodes": nodes, "links": [link("a", "b")]})).scenario
    assert [each["name"] for each in scenario.resolved["nodes"]] == [
        made,
        f"{made}-2" if made != "node-0" else "node-1",
    ]
    assert scenario.resolved["flows"][0]["name"] == made


@pytest.mark.parametrize("radio", ["11g", "11n"])
def test_an_imported_mesh_can_be_viewed(tmp_path: Path, fourhop: Command, radio: str) -> None:
    put(tmp_path, "mesh.json", MAP)
    assert fourhop("import", "mesh.json", "--radio", radio, "--flows", "2").returncode == 0
    shown = fourhop("view", "mesh.toml", "--html", "page.html")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert (tmp_path / "page.html").is_file()


@pytest.mark.parametrize("name", ["nodes.json", "points.geojson", "places.csv", "mesh"])
@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_called_empty(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(FourhopError, match=rf"{name}: found an empty file, allowed: meshviewer.json"):
        read([put(tmp_path, name, text)], None)


@pytest.mark.parametrize("text", ["null", '"a,b"', "roof;0;0"])
def test_what_a_json_file_holds_is_read_as_json(tmp_path: Path, text: str) -> None:
    with pytest.raises(FourhopError, match=r"nodes.json: found (no )?JSON"):
        read([put(tmp_path, "nodes.json", text)], None)


def test_points_of_geojson_are_linked_by_distance(tmp_path: Path) -> None:
    def point(name: str | None, longitude: float, **more: Any) -> dict[str, Any]:
        geometry = {"type": "Point", "coordinates": [longitude, 50.0, 12.0]}
        return {"type": "Feature", "geometry": geometry, "properties": None if name is None else {"name": name, **more}}

    line = {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[7, 50], [8, 50]]}, "properties": {}}
    features = [point("one", 7.0, gateway=True), point("two", 7.002), point(None, 7.004), point("far", 7.5), line]
    made = imported(put(tmp_path, "points.geojson", {"type": "FeatureCollection", "features": features}))
    assert [node.name for node in made.network.nodes.values()] == ["one", "two", "point-3"]
    assert "losses" not in tomllib.loads(made.toml)
    assert "1 features that are no points" in said(made, "left out")
    assert "1 nodes out of reach of the others" in said(made, "left out")
    assert "no links were measured" in said(made, "assumed")
    assert made.scenario.flows_without_path() == []


def test_a_table_of_places(tmp_path: Path) -> None:
    text = (
        "name;x;y;gateway;channel;antenna;colour\nroof;0;0;yes;6+1;8;red\nshop;150;0;;6;;blue\n"
        "barn;300;20;no;;;\nkiosk;10;80;;1;;\n"
    )
    made = imported(put(tmp_path, "places.csv", text))
    document = tomllib.loads(made.toml)
    places = [["0.0m", "0.0m"], ["150.0m", "0.0m"], ["300.0m", "20.0m"], ["10.0m", "80.0m"]]
    assert document["topology"] == {"kind": "positions", "positions": places}
    assert document["nodes"][0] == {"node": 0, "name": "roof", "antenna_gain": "8dB"}
    assert document["wired"]["gateways"] == [0]
    assert "columns that mean nothing here: colour" in said(made, "left out")
    assert document["radios"] == [{"channel": 1, "nodes": [0, 3]}, {"channel": 6, "nodes": [0, 1, 2]}]
    assert "channels of 1 nodes; they have 6, as most: barn" in said(made, "missing")
    assert "links between nodes on different channels" in said(made, "left out")
    assert made.scenario.flows_without_path() == []


def test_a_matrix_of_measurements(tmp_path: Path) -> None:
    snr = put(tmp_path, "snr.csv", "to,a,b,c\na,,25,\nb,20,,9.5\nc,-,9.5,\n")
    made = imported(snr, values="snr", gateways=["a"])
    document = tomllib.loads(made.toml)
    assert [(x["from"], x["to"], x["snr"], x.get("both_ways", True)) for x in document["losses"]] == [
        (0, 1, "25.0dB", False), (1, 0, "20.0dB", False), (1, 2, "9.5dB", True),
    ]  # fmt: skip
    assert document["radio"]["unmeasured"] == "silent"
    assert "places of all nodes" in said(made, "missing")
    etx = put(tmp_path, "etx.csv", "x,a,b\na,,2\nb,3,\n")
    (entry,) = tomllib.loads(imported(etx, values="etx").toml)["losses"]
    assert entry == {"from": 0, "to": 1, "etx": 2.5}
    assert "a gateway; the node with the fewest hops" in said(imported(etx, values="etx"), "missing")


def test_places_and_a_matrix_are_put_together(tmp_path: Path) -> None:
    places = put(tmp_path, "places.csv", "name,x,y\nb,100,0\na,0,0\n")
    loss = put(tmp_path, "loss.csv", "from,a,b\na,,80\nb,82,\n")
    made = imported(places, loss, values="loss")
    document = tomllib.loads(made.toml)
    assert [(x["from"], x["to"], x["loss"]) for x in document["losses"]] == [(1, 0, "80.0dB"), (0, 1, "82.0dB")]
    assert document["topology"]["positions"] == [["100.0m", "0.0m"], ["0.0m", "0.0m"]]


def test_a_part_can_be_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)

    def names(**part: Any) -> list[str]:
        return [node.id for node in imported(path, part=Part(**part)).network.nodes.values()]

    assert names() == ["a", "b", "c", "d"]
    assert names(near="b", hops=1) == ["a", "b", "c"]
    assert names(near="host c", hops=1, component=None) == ["b", "c", "d"]
    assert names(box=(49.9995, 6.9, 50.0015, 7.1)) == ["a", "b"]
    assert names(component=None) == ["a", "b", "c", "d", "e", "f"]
    # A second way to the Internet makes the other part one that people use.
    made = imported(path, part=Part(component=2), gateways=["e"])
    assert list(made.network.nodes) == ["e", "f"]


@pytest.mark.parametrize("traffic", ["downloads", "uploads", "web"])
def test_traffic(tmp_path: Path, traffic: Any) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP), traffic=traffic, flows=2)
    flows = made.scenario.resolved["flows"]
    assert len(flows) == 2
    assert all((flow["to"] if traffic == "uploads" else flow["from"]) == "internet" for flow in flows)
    assert all(flow["app"] == ("files" if traffic == "web" else "bulk") for flow in flows)


def test_options_reach_the_file(tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)
    made = imported(path, radio="11a", overrides=["radio.exponent=2.5", "duration=20s"], unmeasured="path-loss")
    resolved = made.scenario.resolved
    assert (resolved["radio"]["phy"], resolved["radio"]["exponent"], resolved["duration"]) == ("ofdm", "2.5", "20s")
    assert "unmeasured" not in tomllib.loads(made.toml)["radio"]
    # With another exponent the links that are as good as can be are better.
    first = float(tomllib.loads(made.toml)["losses"][0]["snr"].removesuffix("dB"))
    assert first > float(tomllib.loads(imported(path, radio="11a").toml)["losses"][0]["snr"].removesuffix("dB"))


@pytest.mark.parametrize(
    ("radio", "phy", "width", "noise_dbm"),
    [("11n", "ht-2.4ghz", "20MHz", -93.97), ("11n-5ghz", "ht", "40MHz", -90.96), ("11ac", "vht", "80MHz", -87.95)],
)
def test_radios_of_today(tmp_path: Path, radio: str, phy: str, width: str, noise_dbm: float) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP), radio=radio)
    resolved = made.scenario.resolved
    assert (resolved["radio"]["phy"], resolved["radio"]["width"], resolved["radio"]["streams"]) == (phy, width, 2)
    assert (resolved["mac"]["rate_control"], resolved["link"]["queue"]) == ("minstrel", "fq-codel")
    assert Budget.of(resolved["radio"]).noise_dbm == pytest.approx(noise_dbm, abs=0.01)
    assumed = said(made, "assumed")
    assert f"in {width.removesuffix('MHz')} MHz, two streams, aggregates" in assumed
    assert "Minstrel-HT" in assumed
    # Everybody with traffic reaches a gateway, and something arrives.
    shortened = made.scenario.with_(duration="3s", warmup="1s")
    flows = fourhop.run(shortened, runs=1).flows.to_dicts()
    assert [row["hops"] for row in flows] == [1, 2, 3]
    assert sum(row["goodput_bps"] for row in flows) > 1e6


WRONG: list[tuple[str, Any, str]] = [
    ("m.json", {"nodes": 7, "links": []}, "m.json: nodes: found 7, allowed: a list of nodes"),
    ("m.json", "{]", "m.json: found no JSON ("),
    ("m.json", {"version": 1}, "m.json: found JSON with version, allowed: meshviewer.json, nodes.json"),
    ("n.json", {"version": 3, "nodes": []}, "n.json: version: found 3, allowed: 1 or 2"),
    ("t.csv", "a,b\n1,2\n", "t.csv: line 1: found a, b, allowed: columns `name` and `x`, `y` or `lat`, `lon`; or"),
    ("t.csv", "name,x,y\na,0\n", "t.csv: line 2: found 2 fields, allowed: 3, as in line 1"),
    ("t.csv", "name,x,y\na,0,zero\n", "t.csv: line 2, y: found 'zero', allowed: a number from -1e+06 to 1e+06 m"),
    ("t.csv", "name,x,y\na,0,\n", "t.csv: line 2, y: found nothing, allowed: both of x and y, or none"),
    ("t.csv", "name,x,y\na,0,0\na,1,1\n", "t.csv: line 3, name: found 'a' for the second time, allowed: each"),
    ("s.csv", "x,a,b\na,,200\nb,3,\n", "s.csv: line 2, column b: found '200', allowed: a number from -30 to 100 dB"),
    ("s.csv", "x,a,a\na,,2\na,3,\n", "s.csv: line 1: found 'a' twice, allowed: each name once"),
    ("e.csv", "", "e.csv: found an empty file, allowed: meshviewer.json"),
]  # fmt: skip


POINT_AT = {"type": "Point", "coordinates": [200, 0]}
GOOD = [node("a"), node("b", 50.001)]

NOTED: list[tuple[Any, str]] = [
    ({"nodes": [*GOOD, {"hostname": "x"}], "links": []}, "1 nodes without an id: nodes[2]"),
    ({"nodes": [*GOOD, node("c", "north")], "links": []}, "1 positions that are no degrees (WGS 84): host c"),
    ({"nodes": [*GOOD, node("c", 50.0, 12986035)], "links": []}, "1 positions that are no degrees (WGS 84): host c"),
    ({"nodes": [*GOOD, node("c", location=[1, 2])], "links": []}, "1 positions that are no degrees (WGS 84): host c"),
    ({"nodes": [*GOOD, node("a")], "links": []}, "1 entries of nodes that are there already: host a"),
    ({"nodes": [*GOOD, node("c", clients=-1)], "links": []}, "1 numbers of clients that are none: host c"),
    ({"nodes": GOOD, "links": [link("a", "b", 1.5)]}, "1 qualities of links that are no number from 0 to 1: a-b"),
    ({"nodes": GOOD, "links": [link("a", "b", kind="fibre")]}, "1 types of links other than wifi, vpn, other; they"),
    ({"nodes": GOOD, "links": [link("a", "a")]}, "1 links without two ends: links[0]"),
    ({"nodes": [{"flags": {}}, {"nodeinfo": {"node_id": "a"}}]}, "1 nodes without an id: nodes[0]"),
    ({"nodes": [{"nodeinfo": {"node_id": "a", "location": {"latitude": 91, "longitude": 0}}}]}, "1 positions"),
    ({"batadv": {"nodes": [{"node_id": "a"}], "links": [{"source": 0, "target": 4}]}}, "1 links without two ends"),
    ({"type": "Feature", "geometry": POINT_AT, "properties": {"name": "a"}}, "1 positions that are no degrees"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "note"), NOTED, ids=range(len(NOTED)))
def test_one_wrong_value_costs_no_more_than_itself(content: Any, note: str, tmp_path: Path) -> None:
    network = read([put(tmp_path, "m.json", content)])
    assert network.nodes
    assert next(str(each) for each in network.notes).startswith(f"left out: {note}")


def test_an_empty_position_is_none(tmp_path: Path) -> None:
    content = {"nodes": [node("a", location={}, model="")], "links": []}
    found = read([put(tmp_path, "m.json", content)])
    assert (found.nodes["a"].place, found.nodes["a"].model, found.notes) == (None, None, ())


def test_other_is_a_cable_only_where_it_is_as_good_as_one(tmp_path: Path) -> None:
    nodes = [node(id_, 50.0 + n / 1000) for n, id_ in enumerate("abcd")]
    links = [link("a", "b", 1, 1, "other"), link("b", "c", 0.4, 0.5, "other"), link("c", "d", 1, 0.7, "other")]
    network = read([put(tmp_path, "m.json", {"nodes": nodes, "links": links})])
    assert [each.medium for each in network.links] == ["cable", "radio", "radio"]


def test_places_that_radio_does_not_reach_are_dropped(tmp_path: Path) -> None:
    # b is typed wrong by 100 km, its links are measured. e has no place, and of its neighbours d is far off.
    nodes = [node("a"), node("b", 51.0), node("c", 50.001), node("d", 48.0), node("e", None)]
    links = [link("a", "b"), link("b", "c"), link("a", "c"), link("a", "e"), link("e", "d")]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",))
    places = tomllib.loads(made.toml)["topology"]["coordinates"]
    assert all(abs(latitude - 50.0) < 0.01 for latitude, _ in places)
    left = said(made, "left out")
    assert (
        "positions of 1 nodes that are up to 111 km from what they have a link to, and radio reaches 8 km: host b"
        in left
    )
    assert "farther than 8 km from the neighbours of its neighbours: host d" in left
    assert "places of 3 nodes" in said(made, "missing")
    assert len(tomllib.loads(made.toml)["losses"]) == 5


def test_points_without_a_place_are_left_out_where_places_alone_decide(tmp_path: Path) -> None:
    at = [{"type": "Point", "coordinates": [7.0 + n / 1000, 50.0]} for n in range(3)]
    points = [{"type": "Feature", "geometry": each, "properties": {}} for each in at]
    points.append({"type": "Feature", "geometry": POINT_AT, "properties": {"name": "lost"}})
    made = imported(put(tmp_path, "p.json", {"type": "FeatureCollection", "features": points}))
    assert "1 nodes without a place: no links were measured: lost" in said(made, "left out")
    assert len(made.network.nodes) == 3


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


def test_what_hopglass_publishes_of_berlin(tmp_path: Path) -> None:
    network = read([put(tmp_path, "h.json", HOPGLASS)])
    assert {id_: (n.name, n.place, n.uplink) for id_, n in network.nodes.items()} == {
        "a.olsr": ("a", (52.5, 13.4), True), "b.olsr": ("b", (52.501, 13.4), False), "c.olsr": ("c", None, False),
    }  # fmt: skip
    # A node tells what it receives: a of b one half, b of a a quarter. As good as a cable and no Wi-Fi: one.
    radio, cable = network.links
    assert (radio.source, radio.target, radio.medium, radio.there, radio.back) == (
        "b.olsr",
        "a.olsr",
        "radio",
        0.5,
        0.25,
    )
    assert (cable.medium, cable.ends) == ("cable", frozenset(("a.olsr", "c.olsr")))
    assert [str(note) for note in network.notes] == [
        "left out: 1 links without two ends: JSON.rows[1].value.links[1]",
        "left out: 1 links whose ends are not among the nodes: nobody.olsr-b.olsr",
    ]


@pytest.mark.parametrize(("name", "content", "message"), WRONG, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(WRONG)])
def test_what_is_wrong_is_said_with_file_and_key(name: str, content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(FourhopError) as caught:
        read([put(tmp_path, name, content)], "snr")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(message)


def test_what_cannot_be_chosen_is_said(tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)

    def refused(**options: Any) -> str:
        with pytest.raises(FourhopError) as caught:
            imported(path, **options)
        return str(caught.value)

    assert refused(part=Part(near="mars")).startswith("--near: found 'mars', allowed: the name or id of one node")
    assert refused(gateways=["off"]).startswith("--gateway: found 'off'")
    assert refused(part=Part(component=2)) == "--component: found 2, allowed: a whole number from 1 to 1"
    assert refused(part=Part(box=(0.0, 0.0, 1.0, 1.0))) == "what was chosen: found 0 nodes, allowed: at least two"
    assert refused(overrides=["exponent"]).startswith("--set: found 'exponent', allowed: SECTION.KEY=VALUE")
    assert 'radio.doppler: found a key that does not belong to "threshold"' in refused(
        overrides=["radio.model=threshold"]
    )
    matrix = put(tmp_path, "matrix.csv", "x,a,b\na,,2\nb,3,\n")
    with pytest.raises(FourhopError, match=r"matrix\.csv: found a matrix, allowed: with --values"):
        read([matrix])
    with pytest.raises(FourhopError, match=r"found no links, and no place of a"):
        imported(put(tmp_path, "bare.csv", "name,x,y\na,,\nb,1,1\n"))
    with pytest.raises(FourhopError, match=r"cannot be read: No such file"):
        read([tmp_path / "none.json"])


names = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=2, max_size=7, unique=True)


def written(network: Network) -> dict[str, Any]:
    """A network as a meshviewer file has it."""
    nodes = [
        {
            "node_id": node.id, "hostname": node.name, "is_online": node.online, "is_gateway": node.uplink,
            "clients": node.clients,
            **({} if node.place is None else {"location": {"latitude": node.place[0], "longitude": node.place[1]}}),
        }
        for node in network.nodes.values()
    ]  # fmt: skip
    kinds = {"radio": "wifi", "tunnel": "vpn", "cable": "other"}
    links = [
        {
            "type": kinds[x.medium], "source": x.source, "target": x.target,
            "source_tq": x.there or 0, "target_tq": x.back or 0,
        }
        for x in network.links
    ]  # fmt: skip
    return {"nodes": nodes, "links": links}


@settings(max_examples=12)
@given(data=st.data())
def test_what_was_written_reads_back_and_every_network_becomes_a_sound_scenario(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ids = data.draw(names)
    share = st.sampled_from([0.0, 0.05, 0.4, 0.9, 0.99, 1.0])
    pairs = [(a, b) for i, a in enumerate(ids) for b in ids[:i]]
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    links = [
        link(a, b, data.draw(share), data.draw(share), data.draw(st.sampled_from(["wifi", "wifi", "vpn", "other"])))
        for a, b in chosen
    ]
    nodes = [
        node(id_, data.draw(st.sampled_from([None, 50.0 + i / 2000])), is_gateway=data.draw(st.booleans()))
        for i, id_ in enumerate(ids)
    ]
    folder = tmp_path_factory.getbasetemp()
    network = read([put(folder, "a.json", {"nodes": nodes, "links": links})])
    assert read([put(folder, "b.json", written(network))]) == network
    made, refused = None, ""
    try:
        made = to_scenario(network)
    except FourhopError as error:
        refused = str(error)
    if made is None:
        # Too little is left: nodes without radio links, or gateways alone.
        assert refused.startswith("what was chosen: found")
        return
    document = tomllib.loads(made.toml)
    assert Scenario(made.toml) == made.scenario
    assert len(document["topology"].get("coordinates", document["topology"].get("positions"))) == len(
        made.network.nodes
    )
    # Every measured link is there in both directions, and everybody with traffic reaches a gateway.
    assert ("losses" in document) != any("no links were measured" in note.text for note in made.notes)
    if losses := document.get("losses"):
        directions = {(x["from"], x["to"]) for x in losses}
        directions |= {(x["to"], x["from"]) for x in losses if x.get("both_ways", True)}
        numbers = {id_: n for n, id_ in enumerate(made.network.nodes)}
        for each in made.network.links:
            here, there = numbers[each.source], numbers[each.target]
            assert {(here, there), (there, here)} <= directions
    hops = hops_from(made.network.neighbours(), made.gateways)
    ends = [flow["to"] for flow in document["flows"]]
    assert ends
    assert all(hops[list(made.network.nodes)[end]] > 0 for end in ends)


POINT = {"type": "Point", "coordinates": [7.0, 50.0]}
POINTS = {
    "type": "FeatureCollection",
    "features": [{"type": "Feature", "geometry": POINT, "properties": {"name": "a"}}],
}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@settings(max_examples=150)
@given(data=st.data())
def test_whatever_stands_in_a_file_it_is_a_network_or_a_message(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = json.loads(json.dumps(data.draw(st.sampled_from([MAP, NODES_2, GRAPH, POINTS, HOPGLASS]))))
    at: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not (isinstance(at[key], dict | list) and at[key]) or data.draw(st.integers(0, 4)) == 0:
            break
        at = at[key]
    if isinstance(at, dict) and data.draw(st.booleans()):
        del at[key]
    else:
        at[key] = data.draw(anything)
    path = put(tmp_path_factory.getbasetemp(), "any.json", document)
    try:
        found: object = read([path])
    except FourhopError as error:
        found = str(error)
    assert isinstance(found, Network) or "found" in str(found)


def test_parts_and_hops_are_found() -> None:
    neighbours = {"a": ["b"], "b": ["a", "c"], "c": ["b"], "x": ["y"], "y": ["x"], "z": []}
    assert components(neighbours) == [["a", "b", "c"], ["x", "y"], ["z"]]
    assert hops_from(neighbours, ["a"]) == {"a": 0, "b": 1, "c": 2}


def test_the_example_is_what_its_script_draws_and_says_that_it_is_synthetic() -> None:
    spec = importlib.util.spec_from_file_location("synthetic_mesh", ROOT / "scripts" / "synthetic_mesh.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert EXAMPLE.read_text(encoding="utf-8") == script.text()
    assert "no such network exists" in json.loads(EXAMPLE.read_text(encoding="utf-8"))["synthetic"]
    assert EXAMPLE.stat().st_size < 40_000


def test_the_command(fourhop: Command, tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)
    done = fourhop("import", path)
    assert done.returncode == 0, done.stderr
    assert "left out: 1 nodes that are offline: host off" in done.stdout
    assert "4 nodes, 3 links, gateways: host a" in done.stdout
    assert fourhop("check", "meshviewer.toml").returncode == 0
    machine = fourhop("import", path, "--json", "--out", "other.toml", "--near", "b", "--hops", "1")
    told = json.loads(machine.stdout)
    assert (told["scenario"], told["nodes"], told["gateways"]) == (
        "other.toml",
        ["host a", "host b", "host c"],
        ["host a"],
    )
    assert {"kind": "left out", "text": "1 nodes that are offline", "nodes": ["host off"]} in told["notes"]
    for wrong, message in (
        (["--component", "0"], "--component: found '0', allowed: a whole number from 1 on, or all"),
        (["--box", "1,2,3"], "--box: found '1,2,3', allowed: four numbers, south,west,north,east"),
        (["--box", "3,2,1,4"], "allowed: south below north and west below east"),
        (["--traffic", "mail"], "--traffic: found 'mail', allowed: downloads, uploads, web"),
        (["--values", "rssi"], "--values: found 'rssi', allowed: snr, etx, loss, tq"),
        (["--radio", "wimax"], "--radio: found 'wimax', allowed: 11g, 11a, 11n, 11n-5ghz, 11ac"),
        (["--flows", "0"], "--flows: found 0, allowed: a whole number from 1 to 1000"),
        (["--hops", "0"], "--hops: found 0, allowed: a whole number from 1 on"),
        (["--unmeasured", "x"], "--unmeasured: found 'x', allowed: no-link, path-loss, silent"),
    ):
        refused = fourhop("import", path, *wrong)
        assert refused.returncode == 2, wrong
        assert message in refused.stderr


LINKS = """from,to,dat_cost,mbps_median
a,b,14,146.3
b,a,15,136.5
b,c,40,50
c,b,50,40
a,c,80,45
"""


def test_a_list_of_rates_is_what_links_carry_in_each_direction(tmp_path: Path) -> None:
    places = put(
        tmp_path, "places.csv", "name,x,y,model,forwards\na,0,0,TP-Link TL-WDR3600 v1,yes\nb,9,0,,no\nc,18,0,,\n"
    )
    made = imported(put(tmp_path, "links.csv", LINKS), places, values="rate", pairs=[("a", "c")])
    document = tomllib.loads(made.toml)
    rates = {(x["from"], x["to"]): float(x["rate"].removesuffix("Mbps")) for x in document["losses"]}
    # Six tenths of each, at most of the highest rate of two streams in 20 MHz.
    assert [rates[0, 1], rates[1, 0], rates[1, 2]] == pytest.approx([0.6 * 144.4, 0.6 * 136.5, 30.0], abs=0.1)
    # c to a was not measured: it is no better than by b, and no better than the other direction.
    assert rates[2, 0] == pytest.approx(0.6 / (1 / 40 + 1 / 136.5), abs=0.02)
    assert "other is no better than the best path that there is instead: a-c" in said(made, "missing")
    radio = document["radio"]
    assert (radio["phy"], radio["width"], radio["streams"]) == ("ht", "20MHz", 2)
    assert [(x.get("packet_cost"), x.get("forwards", True)) for x in document["nodes"]] == [
        ("189us", True), (None, False), (None, True),
    ]  # fmt: skip
    assert document["link"]["packet_cost"] == "190us"
    assert [(x["from"], x["to"]) for x in document["flows"]] == [(0, 2)]
    assert "wired" not in document


def test_kbit_of_batman_v_are_recognised(tmp_path: Path) -> None:
    matrix = "x,a,b\na,,54000\nb,11000,\n"
    network = read([put(tmp_path, "m.csv", matrix)], "rate")
    assert [(x.there, x.back) for x in network.links] == [(54.0, 11.0)]
    assert "rates are in kbit/s" in str(network.notes[0])
    listed = read([put(tmp_path, "l.csv", "from;to;kbps\na;b;900\n")])
    assert [(x.quality, x.there, x.back) for x in listed.links] == [("rate", 0.9, None)]


def test_routes_and_the_rate_of_broadcasts_can_be_given(tmp_path: Path) -> None:
    routes = tables.read_routes("r.csv", "node,to,via\na,c,c\nlost,c,a\n")
    made = imported(
        put(tmp_path, "links.csv", LINKS), values="rate", gateways=("b",), routes=routes, mcast_rate="12Mbps"
    )
    document = tomllib.loads(made.toml)
    assert document["routes"] == [{"node": 0, "to": 2, "via": 2}]
    assert document["radio"]["basic_rate"] == "12Mbps"
    with pytest.raises(FourhopError, match="found node, to, allowed: columns `node`"):
        tables.read_routes("r.csv", "node,to\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("from,to,quality\na,b,1\n", "line 1: found from, to, quality, allowed: a column that begins with one of snr"),
        ("from,to,rate\na,b\n", "line 2: found 2 fields, allowed: 3, as in line 1"),
        ("from,to,rate\na,b,fast\n", "line 2, rate: found 'fast', allowed: a number from 0 to 1e+07 Mbit/s"),
    ],
)
def test_a_list_that_cannot_be_read_is_said(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FourhopError) as caught:
        read([put(tmp_path, "l.csv", content)])
    assert message in str(caught.value)


def test_models_are_known_by_what_routers_call_themselves() -> None:
    known = {
        "TP-Link TL-WDR3600 v1": (2, 2, 560), "TP-Link TL-WDR4300 v1": (2, 3, 560), "TP-LINK Archer C7 v5": (3, 3, 750),
        "TP-Link CPE210 v1.1": (2, None, 560), "Ubiquiti NanoStation loco M2": (2, None, 400),
        "Ubiquiti UniFi-AC-LITE/MESH": (2, 2, 775), "AVM FRITZ!Box 4040": (2, 2, 716),
    }  # fmt: skip
    for model, expected in known.items():
        router = routers.find(model)
        assert router is not None
        assert (router.streams_24, router.streams_5, router.mhz) == expected
    assert routers.find("Commodore 64") is None
    # Each row is reached by at least one of its own words: none stands behind a more general one.
    assert all(any(routers.find(word) is each for word in each.words) for each in routers.models())


def test_models_choose_the_radio_and_unknown_ones_are_named(tmp_path: Path) -> None:
    nodes = [node("a", model="TP-Link CPE210 v1.1"), node("b", 50.001, model="Ubiquiti PicoStation M2"),
             node("c", 50.002, model="Commodore 64")]  # fmt: skip
    links = [link("a", "b"), link("b", "c")]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",))
    document = tomllib.loads(made.toml)
    assert (document["radio"]["phy"], document["radio"]["streams"]) == ("ht-2.4ghz", 1)
    assert [x.get("packet_cost") for x in document["nodes"]] == ["189us", "265us", None]
    assert "1 models of routers that are not known: Commodore 64" in said(made, "missing")
    older = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",), radio="11g")
    assert "packet_cost" not in older.toml


def test_what_is_said_of_the_air_is_what_the_file_has(tmp_path: Path) -> None:
    path = put(tmp_path, "m.json", MAP)
    made = imported(path, radio="11n", overrides=("radio.width=40MHz", "radio.tx_power=10dBm", "radio.fading=none"))
    assert "in 40 MHz, two streams, aggregates with 10dBm" in said(made, "assumed")
    assert made.scenario.resolved["radio"].get("fading", "none") == "none"
    made.scenario.check()
