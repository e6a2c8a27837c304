"""`fourhop import`: rates, router models and given routes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import fourhop
from fourhop.community import Options, read, routers, tables, to_scenario
from fourhop.community.links import CARRIED
from fourhop.community.network import Network
from fourhop.errors import FourhopError
from tests.meshes import LINKS, imported, link, node, put, said


def test_a_list_of_rates_is_what_links_carry_in_each_direction(tmp_path: Path) -> None:
    places = put(
        tmp_path, "places.csv", "name,x,y,model,forwards\na,0,0,TP-Link TL-WDR3600 v1,yes\nb,9,0,,no\nc,18,0,,\n"
    )
    made = imported(put(tmp_path, "links.csv", LINKS), places, values="rate", pairs=[("a", "c")])
    document = tomllib.loads(made.toml)
    rates = {(x["from"], x["to"]): float(x["rate"].removesuffix("Mbps")) for x in document["losses"]}
    # A share of each rate, capped at the highest rate of two streams in 20 MHz.
    assert [rates[0, 1], rates[1, 0], rates[1, 2]] == pytest.approx(
        [CARRIED * x for x in (144.4, 136.5, 50.0)], abs=0.1
    )
    # c to a was not measured: it is no better than via b, and no better than the other direction.
    assert rates[2, 0] == pytest.approx(CARRIED / (1 / 40 + 1 / 136.5), abs=0.02)
    assert "other is no better than the best path around it: a-c" in said(made, "missing")
    radio = document["radio"]
    assert (radio["phy"], radio["width"], radio["streams"]) == ("ht", "20MHz", 2)
    assert [(x.get("packet_cost"), x.get("forwards", True)) for x in document["nodes"]] == [
        ("189us", True), (None, False), (None, True),
    ]  # fmt: skip
    assert document["link"]["packet_cost"] == "190us"
    assert [(x["from"], x["to"]) for x in document["flows"]] == [(0, 2)]
    assert "wired" not in document
    assert radio["unmeasured"] == "heard"


def test_kbit_of_batman_v_are_recognised(tmp_path: Path) -> None:
    matrix = "x,a,b\na,,54000\nb,11000,\n"
    network = read([put(tmp_path, "m.csv", matrix)], "rate")
    assert [(x.there, x.back) for x in network.links] == [(54.0, 11.0)]
    assert "rates are in kbit/s" in str(network.notes[0])
    listed = read([put(tmp_path, "l.csv", "from;to;kbps\na;b;900\n")])
    assert [(x.quality, x.there, x.back) for x in listed.links] == [("rate", 0.9, None)]


def test_kbit_of_batman_v_are_recognised_in_meshviewer_and_graph(tmp_path: Path) -> None:
    links = [link("a", "b", 54_000, 11_000), link("b", "c", 0.0, 6_500), link("a", "c", 1e6, 1e6, "other")]
    found = read([put(tmp_path, "m.json", {"nodes": [node(x) for x in "abc"], "links": links})])
    assert [(x.medium, x.quality, x.there, x.back) for x in found.links] == [
        ("radio", "rate", 54.0, 11.0), ("radio", "rate", None, 6.5), ("cable", "rate", 1e3, 1e3),
    ]  # fmt: skip
    assert "in kbit/s" in str(found.notes[0])
    read_back = read(
        [put(tmp_path, "m.json", {"nodes": [node("a"), node("b")], "links": [link("a", "b", 54_000, 1e9)]})]
    )
    assert [(x.there, x.back) for x in read_back.links] == [(54.0, None)]
    assert "1 throughput without a number in kbit/s: a-b" in str(read_back.notes[0])

    def graph(*tq: float) -> Network:
        ends = [(0, 1), (1, 2), (2, 0)]
        listed = [{"source": a, "target": b, "tq": x} for (a, b), x in zip(ends, tq, strict=True)]
        return read([put(tmp_path, "g.json", {"batadv": {"nodes": [{"node_id": x} for x in "abc"], "links": listed}})])

    assert [(x.quality, x.there) for x in graph(54_000, 500, 90_000).links] == [
        ("rate", 54.0), ("rate", 0.5), ("rate", 90.0),
    ]  # fmt: skip
    assert [(x.quality, x.there) for x in graph(1, 255, 4).links] == [("tq", 1.0), ("tq", 1 / 255), ("tq", 0.25)]


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
    # At least one of its own words finds each row: none comes after a more general row.
    assert all(any(routers.find(word) is each for word in each.words) for each in routers.models())


def test_models_choose_the_radio_and_unknown_ones_are_named(tmp_path: Path) -> None:
    nodes = [node("a", model="TP-Link CPE210 v1.1"), node("b", 50.001, model="Ubiquiti PicoStation M2"),
             node("c", 50.002, model="Commodore 64")]  # fmt: skip
    links = [link("a", "b"), link("b", "c")]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",))
    document = tomllib.loads(made.toml)
    assert (document["radio"]["phy"], document["radio"]["streams"]) == ("ht-2.4ghz", 1)
    assert [x.get("packet_cost") for x in document["nodes"]] == ["189us", "265us", None]
    assert "the radio of 1 router of an unknown model: Commodore 64" in said(made, "missing")
    older = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=("a",), radio="11g")
    assert "packet_cost" not in older.toml


def test_pairs_without_a_rate_are_heard_and_no_route_leads_over_them(tmp_path: Path) -> None:
    places = put(tmp_path, "p.csv", "name,x,y\na,0,0\nb,20,0\nc,40,0\n")
    rates = put(tmp_path, "l.csv", "from,to,mbps\na,b,100\nb,a,100\nb,c,100\nc,b,100\n")
    network = read([rates, places])
    made = to_scenario(network, Options(pairs=[("a", "c")]))
    assert tomllib.loads(made.toml)["radio"]["unmeasured"] == "heard"
    assert "hear each other by distance, but get no routes" in said(made, "assumed")
    run = fourhop.run(made.scenario.with_(duration="2s", warmup="1500ms"))
    assert run.flows["hops"].to_list() == [2]
    far = to_scenario(network, Options(pairs=[("a", "c")], unmeasured="path-loss"))
    assert fourhop.run(far.scenario.with_(duration="2s", warmup="1500ms")).flows["hops"].to_list() == [1]
