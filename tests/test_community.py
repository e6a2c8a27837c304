"""`fourhop import`: the resulting network, and the options."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop.community import read
from fourhop.community.choose import Part
from fourhop.community.links import Budget
from fourhop.community.network import components, hops_from
from fourhop.errors import FourhopError
from fourhop.picture import Network as Survey
from tests.conftest import Command, loaded
from tests.meshes import EXAMPLE, MAP, imported, link, node, put, said


def test_distances_in_the_simulator_are_those_on_the_ground(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "meshviewer.json", MAP))
    places = Survey.of(made.scenario.resolved_json).places
    far = made.network.distance_m("a", "b")
    assert far == pytest.approx(111.195, abs=0.01)
    assert math.dist(places[0], places[1]) == pytest.approx(far, rel=0.003)


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


def test_a_part_can_be_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)

    def names(**part: Any) -> list[str]:
        return [node.id for node in imported(path, part=Part(**part)).network.nodes.values()]

    assert names() == ["a", "b", "c", "d"]
    assert names(near="b", hops=1) == ["a", "b", "c"]
    assert names(near="host c", hops=1, component=None) == ["b", "c", "d"]
    assert names(box=(49.9995, 6.9, 50.0015, 7.1)) == ["a", "b"]
    assert names(component=None) == ["a", "b", "c", "d", "e", "f"]
    # A second gateway makes the other part one that people use.
    made = imported(path, part=Part(component=2), gateways=["e"])
    assert list(made.network.nodes) == ["e", "f"]
    # Measurements between the chosen nodes stay.
    (chosen,) = imported(path, part=Part(box=(49.9995, 6.9, 50.0015, 7.1))).network.links
    assert (chosen.source, chosen.target, chosen.there, chosen.back) == ("a", "b", 1.0, 1.0)


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
    # With another exponent, links of the best quality have a higher SNR.
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


def test_what_cannot_be_chosen_is_said(tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)

    def refused(**options: Any) -> str:
        with pytest.raises(FourhopError) as caught:
            imported(path, **options)
        return str(caught.value)

    assert refused(part=Part(near="mars")).startswith("--near: found 'mars', allowed: the name or id of one node")
    assert refused(gateways=["off"]).startswith("--gateway: found 'off'")
    assert refused(part=Part(component=2)) == "--component: found 2, allowed: a whole number from 1 to 1"
    assert (
        refused(part=Part(box=(0.0, 0.0, 1.0, 1.0)))
        == "selection: found 0 nodes, allowed: at least two; choose a larger part"
    )
    assert refused(overrides=["exponent"]).startswith("--set: found 'exponent', allowed: SECTION.KEY=VALUE")
    assert 'radio.doppler: found a key that does not belong to "threshold"' in refused(
        overrides=["radio.model=threshold"]
    )
    matrix = put(tmp_path, "matrix.csv", "x,a,b\na,,2\nb,3,\n")
    with pytest.raises(FourhopError, match=r"matrix\.csv: found a matrix; name its values with --values"):
        read([matrix])
    with pytest.raises(FourhopError, match=r"found neither links nor a position for a"):
        imported(put(tmp_path, "bare.csv", "name,x,y\na,,\nb,1,1\n"))
    with pytest.raises(FourhopError, match=r"cannot be read: No such file"):
        read([tmp_path / "none.json"])


def test_parts_and_hops_are_found() -> None:
    neighbours = {"a": ["b"], "b": ["a", "c"], "c": ["b"], "x": ["y"], "y": ["x"], "z": []}
    assert components(neighbours) == [["a", "b", "c"], ["x", "y"], ["z"]]
    assert hops_from(neighbours, ["a"]) == {"a": 0, "b": 1, "c": 2}


def test_the_example_is_what_its_script_draws_and_says_that_it_is_synthetic() -> None:
    script = loaded("scripts/synthetic_mesh.py")
    assert EXAMPLE.read_text(encoding="utf-8") == script.text()
    assert "no such network exists" in json.loads(EXAMPLE.read_text(encoding="utf-8"))["synthetic"]
    assert EXAMPLE.stat().st_size < 40_000


def test_the_command(fourhop: Command, tmp_path: Path) -> None:
    path = put(tmp_path, "meshviewer.json", MAP)
    done = fourhop("import", path)
    assert done.returncode == 0, done.stderr
    assert "left out: 1 node that is offline: host off" in done.stdout
    assert "4 nodes, 3 links, gateways: host a" in done.stdout
    assert fourhop("check", "meshviewer.toml").returncode == 0
    machine = fourhop("import", path, "--json", "--out", "other.toml", "--near", "b", "--hops", "1")
    answer = json.loads(machine.stdout)
    assert (answer["scenario"], answer["nodes"], answer["gateways"]) == (
        "other.toml",
        ["host a", "host b", "host c"],
        ["host a"],
    )
    assert {"kind": "left out", "text": "1 node that is offline", "nodes": ["host off"]} in answer["notes"]
    for arguments, message in (
        (["--component", "0"], "--component: found '0', allowed: a whole number from 1 on, or all"),
        (["--box", "1,2,3"], "--box: found '1,2,3', allowed: four numbers, south,west,north,east"),
        (["--box", "3,2,1,4"], "allowed: south below north and west below east"),
        (["--traffic", "mail"], "--traffic: found 'mail', allowed: downloads, uploads, web"),
        (["--values", "rssi"], "--values: found 'rssi', allowed: snr, etx, loss, tq"),
        (["--radio", "wimax"], "--radio: found 'wimax', allowed: 11g, 11a, 11n, 11n-5ghz, 11ac"),
        (["--flows", "0"], "--flows: found 0, allowed: a whole number from 1 to 1000"),
        (["--hops", "0"], "--hops: found 0, allowed: a whole number from 1 on"),
        (["--unmeasured", "x"], "--unmeasured: found 'x', allowed: no-link, heard, path-loss, silent"),
    ):
        refused = fourhop("import", path, *arguments)
        assert refused.returncode == 2, arguments
        assert message in refused.stderr


def test_what_is_said_of_the_air_is_what_the_file_has(tmp_path: Path) -> None:
    path = put(tmp_path, "m.json", MAP)
    made = imported(path, radio="11n", overrides=("radio.width=40MHz", "radio.tx_power=10dBm", "radio.fading=none"))
    assert "in 40 MHz, two streams, aggregates with 10dBm" in said(made, "assumed")
    assert made.scenario.resolved["radio"].get("fading", "none") == "none"
    made.scenario.check()
