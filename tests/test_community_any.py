"""`fourhop import`: written networks come back, and arbitrary files are refused."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhop import Scenario
from fourhop.community import read, to_scenario
from fourhop.community.network import Network, hops_from
from fourhop.errors import FourhopError
from tests.meshes import GRAPH, HOPGLASS, MAP, NODES_2, link, node, put

names = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=2, max_size=7, unique=True)


def written(network: Network) -> dict[str, Any]:
    """A network in the format of a meshviewer file."""
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
        assert refused.startswith("selection: found")
        return
    document = tomllib.loads(made.toml)
    assert Scenario(made.toml) == made.scenario
    assert len(document["topology"].get("coordinates", document["topology"].get("positions"))) == len(
        made.network.nodes
    )
    # Every measured link exists in both directions, and every node with traffic reaches a gateway.
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
