"""The network as a picture: its contents, its sources, and the command."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from fourhop import FourhopError, Scenario
from fourhop.picture import Network
from fourhop.size import SIZES
from tests.conftest import ROOT, Command

FLAT = Scenario.from_toml(ROOT / "scenarios" / "flat.toml")
NEWRENO = {"transport": "newreno"}


def test_the_links_of_a_chain_are_those_of_its_neighbours_with_what_250_m_leave() -> None:
    network = Network.of(Scenario.chain(hops=3).resolved_json)
    assert network.places == [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)]
    assert sorted(network.pairs) == [(0, 1), (1, 2), (2, 3)]
    for margin, both in network.pairs.values():
        # The fourth power of distance: 40 log10(250.01 / 200) dB.
        assert margin == pytest.approx(3.88, abs=0.01)
        assert both
    assert network.describe() == "4 nodes, 3 links, 1 flow; seed 1"


def test_a_link_in_one_direction_is_marked() -> None:
    network = Network.of(Scenario.chain(hops=2, nodes=[{"node": 2, "tx_power": "20dBm"}]).resolved_json)
    assert {pair: both for pair, (_, both) in network.pairs.items()} == {(0, 1): True, (1, 2): False}
    assert network.describe() == "3 nodes, 2 links, 1 of them one-way, 1 flow; seed 1"
    assert "one way" in network.figure().axes[1].get_ylabel()


def test_walls_and_their_losses_are_drawn_where_they_are() -> None:
    axes = FLAT.draw().axes[0]
    drawn = [[(float(x), float(y)) for x, y in np.asarray(line.get_xydata())] for line in axes.lines]
    assert [(6.0, 0.0), (6.0, 4.0)] in drawn
    assert len(drawn) == 4
    words = [text.get_text() for text in axes.texts]
    assert words.count("8dB") == 3
    assert words.count("10dB") == 1
    assert [word for word in words if word.isdigit()] == ["0", "1", "2", "3", "4"]


def test_a_picture_takes_the_size_and_the_axes_it_is_given() -> None:
    from matplotlib.figure import Figure

    scenario = Scenario.chain(hops=2)
    assert tuple(scenario.draw(size=(5.0, 3.0)).get_size_inches()) == (5.0, 3.0)
    assert tuple(scenario.draw(size="column").get_size_inches()) == SIZES["column"][:2]
    with pytest.raises(FourhopError, match="size: found 'poster'"):
        scenario.draw(size="poster")  # type: ignore[arg-type]
    mine = Figure(layout="constrained")
    left, right = mine.subplots(1, 2)
    assert scenario.draw(ax=right) is mine
    assert (left.get_xlabel(), right.get_xlabel()) == ("", "x (m)")
    legend = right.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["flow-1: 0 to 2, newreno"]


def test_every_run_of_a_random_network_has_its_own_picture() -> None:
    scenario = Scenario.random(nodes=20, width="600m", height="600m")
    assert Network.of(scenario.resolved_json, 1).places != Network.of(scenario.resolved_json, 2).places
    assert Network.of(scenario.resolved_json).places == Network.of(scenario.resolved_json, 1).places
    assert Network.of(scenario.resolved_json, 2).places == [
        (x, y) for x, y in scenario.places([0.0], seed=2).select("x_m", "y_m").iter_rows()
    ]


def test_flows_to_wired_hosts_end_at_a_gateway() -> None:
    scenario = Scenario.from_toml(ROOT / "scenarios" / "gateway-chain.toml")
    network = Network.of(scenario.resolved_json)
    assert network.gateways
    made = network.figure()
    labels = [text.get_text() for text in made.legends[0].get_texts()]
    assert any("wired" in label for label in labels)
    assert len(made.axes[0].patches) == len(network.flows)


def test_a_network_without_links_and_one_with_hundreds_of_flows_are_drawn() -> None:
    apart = Scenario.positions([("0m", "0m"), ("5km", "0m")], flows=[{"from": 0, "to": 1, **NEWRENO}])
    assert len(apart.draw().axes) == 1
    crowded = Scenario.random(nodes=80, width="1km", height="1km", pairs=200)
    labels = [text.get_text() for text in crowded.draw().legends[0].get_texts()]
    assert all(label.startswith("flows ") for label in labels)
    assert sum(int(label[label.index("(") + 1 : -1]) for label in labels) == 200, "the legend counts them all"


def test_the_picture_of_an_imported_mesh_has_names_and_its_whole_legend(fourhop: Command, tmp_path: Path) -> None:
    done = fourhop("import", ROOT / "scenarios" / "community" / "meshviewer.json", "--out", "mesh.toml")
    assert done.returncode == 0, done.stderr
    scenario = Scenario.from_toml(tmp_path / "mesh.toml")
    for shown in (scenario, scenario.with_(flows=scenario.resolved["flows"][:7])):
        network = Network.of(shown.resolved_json)
        made = network.figure()
        made.draw_without_rendering()
        names = [text for text in made.axes[0].texts if not text.get_text().isdigit()]
        written = {text.get_text() for text in names}
        assert network.names[network.gateways[0]] in written
        assert len(written) >= 15, "as many as have room"
        boxes = [text.get_window_extent() for text in names]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
        legend = made.legends[0].get_window_extent()
        assert legend.x0 >= 0
        assert legend.x1 <= made.bbox.x1, "the legend is not cut"
        labels = [text.get_text() for text in made.legends[0].get_texts()]
        assert len(labels) == (7 if shown is not scenario else len(set(labels)))


def test_flows_of_the_same_hops_share_a_colour_where_there_are_many() -> None:
    flows = [{"from": a, "to": b, **NEWRENO} for a in range(4) for b in range(5) if a < b]
    network = Network.of(Scenario.positions([(f"{200 * n}m", "0m") for n in range(5)], flows=flows).resolved_json)
    made = network.figure()
    labels = [text.get_text() for text in made.legends[0].get_texts()]
    assert labels == ["flows of 1 hop (4)", "flows of 2 hops (3)", "flows of 3 hops (2)", "flows of 4 hops (1)"]
    assert len({patch.get_facecolor() for patch in made.axes[0].patches}) == 4


@pytest.mark.parametrize(("kind", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_command_writes_the_same_file_each_time(fourhop: Command, tmp_path: Path, kind: str, magic: bytes) -> None:
    pictures = []
    for name in ("a", "b"):
        done = fourhop("draw", ROOT / "scenarios" / "flat.toml", "-o", tmp_path / name / f"flat.{kind}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("5 nodes, ")
        pictures.append((tmp_path / name / f"flat.{kind}").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(magic)


def test_what_cannot_be_drawn_is_said(fourhop: Command, tmp_path: Path) -> None:
    refused = fourhop("draw", ROOT / "scenarios" / "chain.toml", "-o", tmp_path / "chain.gif")
    assert refused.returncode == 2
    assert refused.stderr == "error: figure: found 'chain.gif', allowed: a name that ends in .png, .svg or .pdf\n"
