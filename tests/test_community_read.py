"""`fourhop import`: a small file in every format, and the errors for others."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fourhop.community import read, to_scenario
from fourhop.community.links import Budget
from fourhop.errors import FourhopError
from tests.meshes import GRAPH, HOPGLASS, MAP, NODES_2, imported, link, node, put, said


def test_a_meshviewer_file_becomes_a_scenario(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP))
    document = tomllib.loads(made.toml)
    assert [each["name"] for each in document["nodes"]] == ["host a", "host b", "host c", "host d"]
    assert document["topology"]["coordinates"][:2] == [[50.0, 7.0], [50.001, 7.0]]
    assert document["wired"]["gateways"] == [0]
    assert document["radio"]["unmeasured"] == "no-link"
    # The first link has the best quality, so its 111 m decide. The next has two directions, the last only one.
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
    assert "1 node that is offline: host off" in left
    assert "1 link whose ends are not among the nodes: b-nobody" in left
    assert "nodes without a link to another node of the mesh: host alone, host server" in left
    assert "2 nodes in other components" in left
    assert "positions of 1 node, drawn between the neighbours: host d" in missing
    assert "1 link measured in one direction; the other is assumed equal: host c-host d" in missing
    assert "2 nodes joined by cable count as 1 node: host a" in assumed
    assert "1 link with directions that differ by more than 20 %: host b-host c" in assumed
    # The file has all notes, too.
    assert all(f"# {note}" in made.toml for note in made.notes)
    # Clients of nodes joined by cable are added up; the gateway's clients have no path over the air.
    assert made.network.nodes["a"].clients == 5


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
    assert [note.text for note in two.notes] == ["1 link of an unknown device"]
    made = to_scenario(two)
    assert [made.network.nodes[id_].name for id_ in made.gateways] == ["X", "W"]


@pytest.mark.parametrize("name", ["nodes.json", "points.geojson", "places.csv", "mesh"])
@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_called_empty(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(FourhopError, match=rf"{name}: found an empty file, allowed: meshviewer.json"):
        read([put(tmp_path, name, text)], None)


@pytest.mark.parametrize("text", ["null", '"a,b"', "roof;0;0"])
def test_what_a_json_file_holds_is_read_as_json(tmp_path: Path, text: str) -> None:
    with pytest.raises(FourhopError, match=r"nodes.json: found (invalid )?JSON"):
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
    assert "1 feature other than a point" in said(made, "left out")
    assert "1 node out of reach of the others" in said(made, "left out")
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
    assert "unknown columns: colour" in said(made, "left out")
    assert document["radios"] == [{"channel": 1, "nodes": [0, 3]}, {"channel": 6, "nodes": [0, 1, 2]}]
    assert "channels of 1 node; 6, the most common, is assumed: barn" in said(made, "missing")
    assert "1 link between nodes on different channels" in said(made, "left out")
    assert made.scenario.flows_without_path() == []


def test_a_matrix_of_measurements(tmp_path: Path) -> None:
    snr = put(tmp_path, "snr.csv", "to,a,b,c\na,,25,\nb,20,,9.5\nc,-,9.5,\n")
    made = imported(snr, values="snr", gateways=["a"])
    document = tomllib.loads(made.toml)
    assert [(x["from"], x["to"], x["snr"], x.get("both_ways", True)) for x in document["losses"]] == [
        (0, 1, "25.0dB", False), (1, 0, "20.0dB", False), (1, 2, "9.5dB", True),
    ]  # fmt: skip
    assert document["radio"]["unmeasured"] == "silent"
    assert "positions of all nodes" in said(made, "missing")
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


BAD: list[tuple[str, Any, str]] = [
    ("m.json", {"nodes": 7, "links": []}, "m.json: nodes: found 7, allowed: a list of nodes"),
    ("m.json", "{]", "m.json: found invalid JSON ("),
    ("m.json", {"version": 1}, "m.json: found JSON with version, allowed: meshviewer.json, nodes.json"),
    ("n.json", {"version": 3, "nodes": []}, "n.json: version: found 3, allowed: 1 or 2"),
    ("n.json", {"version": 20261124, "nodes": []}, "n.json: version: found 20261124, allowed: 1 or 2"),
    ("n.json", {"version": "new", "nodes": []}, "n.json: version: found 'new', allowed: 1 or 2"),
    ("t.csv", "a,b\n1,2\n", "t.csv: line 1: found a, b, allowed: columns `name` and `x`, `y` or `lat`, `lon`; or"),
    ("t.csv", "name,x,y\na,0\n", "t.csv: line 2: found 2 fields, allowed: 3, as in line 1"),
    ("t.csv", "name,x,y\na,0,zero\n", "t.csv: line 2, y: found 'zero', allowed: a number from -1e+06 to 1e+06 m"),
    ("t.csv", "name,x,y\na,0,\n", "t.csv: line 2, y: found nothing, allowed: both x and y, or neither"),
    ("t.csv", "name,x,y\na,0,0\na,1,1\n", "t.csv: line 3, name: found 'a' for the second time, allowed: each"),
    ("s.csv", "x,a,b\na,,200\nb,3,\n", "s.csv: line 2, column b: found '200', allowed: a number from -30 to 100 dB"),
    ("s.csv", "x,a,a\na,,2\na,3,\n", "s.csv: line 1: found 'a' twice, allowed: each name once"),
    ("e.csv", "", "e.csv: found an empty file, allowed: meshviewer.json"),
]  # fmt: skip


POINT_AT = {"type": "Point", "coordinates": [200, 0]}
GOOD = [node("a"), node("b", 50.001)]

NOTED: list[tuple[Any, str]] = [
    ({"nodes": [*GOOD, {"hostname": "x"}], "links": []}, "1 node without an id: nodes[2]"),
    ({"nodes": [*GOOD, node("c", "north")], "links": []}, "1 position outside WGS 84 degrees: host c"),
    ({"nodes": [*GOOD, node("c", 50.0, 12986035)], "links": []}, "1 position outside WGS 84 degrees: host c"),
    ({"nodes": [*GOOD, node("c", location=[1, 2])], "links": []}, "1 position outside WGS 84 degrees: host c"),
    ({"nodes": [*GOOD, node("a")], "links": []}, "1 entry repeated for a node: host a"),
    ({"nodes": [*GOOD, node("c", clients=-1)], "links": []}, "1 number of clients out of range: host c"),
    ({"nodes": GOOD, "links": [link("a", "b", 1.5)]}, "1 quality outside 0 to 1: a-b"),
    ({"nodes": GOOD, "links": [link("a", "b", kind="fibre")]}, "1 type of links other than wifi, vpn, other; they"),
    ({"nodes": GOOD, "links": [link("a", "a")]}, "1 link without two ends: links[0]"),
    ({"nodes": [{"flags": {}}, {"nodeinfo": {"node_id": "a"}}]}, "1 node without an id: nodes[0]"),
    ({"nodes": [{"nodeinfo": {"node_id": "a", "location": {"latitude": 91, "longitude": 0}}}]}, "1 position"),
    ({"batadv": {"nodes": [{"node_id": "a"}], "links": [{"source": 0, "target": 4}]}}, "1 link without two ends"),
    ({"type": "Feature", "geometry": POINT_AT, "properties": {"name": "a"}}, "1 position outside WGS 84 degrees"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "note"), NOTED, ids=range(len(NOTED)))
def test_one_bad_value_costs_no_more_than_itself(content: Any, note: str, tmp_path: Path) -> None:
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
    # b's position is 100 km off, but its links are measured. e has no position, and one neighbour, d, is far off.
    nodes = [node("a"), node("b", 51.0), node("c", 50.001), node("d", 48.0), node("e", None)]
    links = [link("a", "b"), link("b", "c"), link("a", "c"), link("a", "e"), link("e", "d")]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",))
    places = tomllib.loads(made.toml)["topology"]["coordinates"]
    assert all(abs(latitude - 50.0) < 0.01 for latitude, _ in places)
    left = said(made, "left out")
    assert "positions of 1 node, up to 111 km from a neighbour; radio reaches 8 km: host b" in left
    assert "farther than 8 km from the neighbours of its neighbours: host d" in left
    assert "positions of 3 nodes" in said(made, "missing")
    assert len(tomllib.loads(made.toml)["losses"]) == 5


def test_points_without_a_place_are_left_out_where_places_alone_decide(tmp_path: Path) -> None:
    at = [{"type": "Point", "coordinates": [7.0 + n / 1000, 50.0]} for n in range(3)]
    points = [{"type": "Feature", "geometry": each, "properties": {}} for each in at]
    points.append({"type": "Feature", "geometry": POINT_AT, "properties": {"name": "lost"}})
    made = imported(put(tmp_path, "p.json", {"type": "FeatureCollection", "features": points}))
    assert "1 node without a position: no links were measured: lost" in said(made, "left out")
    assert len(made.network.nodes) == 3


def test_what_hopglass_publishes_of_berlin(tmp_path: Path) -> None:
    network = read([put(tmp_path, "h.json", HOPGLASS)])
    assert {id_: (n.name, n.place, n.uplink) for id_, n in network.nodes.items()} == {
        "a.olsr": ("a", (52.5, 13.4), True), "b.olsr": ("b", (52.501, 13.4), False), "c.olsr": ("c", None, False),
    }  # fmt: skip
    # A node reports what it receives: a one half from b, b a quarter from a. As good as a cable and not Wi-Fi: one.
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
        "left out: 1 link without two ends: JSON.rows[1].value.links[1]",
        "left out: 1 link whose ends are not among the nodes: nobody.olsr-b.olsr",
    ]


@pytest.mark.parametrize(
    ("latlng", "place"),
    [
        ([90, 180], (90.0, 180.0)),
        ([-90, -180], (-90.0, -180.0)),
        ([90.5, 0], None),
        ([-90.5, 0], None),
        ([0, 180.5], None),
        ([0, -180.5], None),
        ([1, 2, 3], None),
    ],
)
def test_positions_of_hopglass_are_degrees_of_wgs_84(
    latlng: list[float], place: tuple[float, float] | None, tmp_path: Path
) -> None:
    rows = [{"id": id_, "value": {"latlng": at}} for id_, at in (("a.olsr", [52.5, 13.4]), ("b.olsr", latlng))]
    network = read([put(tmp_path, "h.json", {"JSON": {"rows": rows}})])
    assert network.nodes["b.olsr"].place == place
    noted = any("position outside WGS 84 degrees" in str(note) for note in network.notes)
    assert noted == (place is None)


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(BAD)])
def test_errors_name_file_and_key(name: str, content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(FourhopError) as caught:
        read([put(tmp_path, name, content)], "snr")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(message)
