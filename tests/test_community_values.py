"""`fourhop import`: limits of values in files, and constants."""

from __future__ import annotations

import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from fourhop.community import read
from fourhop.community.links import Budget
from fourhop.community.radio import top_mbps
from fourhop.errors import FourhopError
from tests.meshes import MAP, imported, link, node, put, said


def test_channels_of_points_are_those_of_802_11(tmp_path: Path) -> None:
    # IEEE Std 802.11-2020 table E-4: the 6 GHz band ends at 233.
    geometry = {"type": "Point", "coordinates": [7.0, 50.0]}

    def channels(channel: int) -> tuple[int, ...]:
        point = {"type": "Feature", "geometry": geometry, "properties": {"name": "a", "channel": channel}}
        return read([put(tmp_path, "p.json", {"type": "FeatureCollection", "features": [point]})]).nodes["a"].channels

    assert (channels(1), channels(233)) == ((1,), (233,))
    for beyond in (0, 234):
        with pytest.raises(FourhopError, match=f"found '{beyond}', allowed: a number from 1 to 233"):
            channels(beyond)


@pytest.mark.parametrize(("metres", "margin"), [(500, None), (900, "4us"), (1_700, "6us")])
def test_answers_are_awaited_as_long_as_light_takes(tmp_path: Path, metres: float, margin: str | None) -> None:
    # The standard's aAirPropagationTime allows for 300 m; 2 us allow for 600.
    nodes = [node("a"), node("b", 50.0 + metres / 111_195.0)]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": [link("a", "b")]}), gateways=["a"])
    assert tomllib.loads(made.toml)["mac"].get("propagation_margin") == margin


def test_the_budget_is_that_of_the_radio(tmp_path: Path) -> None:
    resolved = imported(put(tmp_path, "m.json", MAP), radio="11g").scenario.resolved["radio"]
    assert top_mbps(resolved) == 54.0
    budget = Budget.of(resolved)
    # 100 mW; free space at 2.437 GHz over a metre is 20 log10(4 pi / 0.123).
    assert budget.tx_dbm == pytest.approx(20.0)
    assert budget.at_one_metre_db == pytest.approx(40.18, abs=0.01)


def test_links_that_are_only_known_to_exist_and_perfect_ones_without_places(tmp_path: Path) -> None:
    nodes = [node(id_, None) for id_ in "abc"]
    links = [link("a", "b", 0.0, 0.0), link("b", "c", 1.0, 1.0)]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": links}), gateways=["a"])
    assert [entry["snr"] for entry in tomllib.loads(made.toml)["losses"]] == ["12.0dB", "20.0dB"]
    assert "positions of all nodes" in said(made, "missing")


def test_a_link_that_is_as_good_as_can_be_has_12_db_however_long_it_is(tmp_path: Path) -> None:
    nodes = [node("a"), node("b", 50.03)]
    made = imported(put(tmp_path, "m.json", {"nodes": nodes, "links": [link("a", "b", 1.0, 1.0)]}), gateways=["a"])
    assert [entry["snr"] for entry in tomllib.loads(made.toml)["losses"]] == ["12.0dB"]
    assert "as good as the distance says, and at least 12 dB above noise" in said(made, "assumed")


def test_pairs_that_were_not_measured_follow_set(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "m.json", MAP), overrides=["radio.unmeasured=silent"])
    assert made.scenario.resolved["radio"]["unmeasured"] == "silent"


def test_two_points_with_places_are_enough(tmp_path: Path) -> None:
    at = [[7.0, 50.0], [7.001, 50.0], [200, 0]]
    features = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": {"name": name}}
        for place, name in zip(at, ("a", "b", "lost"), strict=True)
    ]
    made = imported(put(tmp_path, "p.json", {"type": "FeatureCollection", "features": features}))
    assert list(made.network.nodes) == ["a", "b"]
    with pytest.raises(FourhopError, match="found neither links nor a position for lost"):
        imported(put(tmp_path, "p.json", {"type": "FeatureCollection", "features": features[1:]}))


def test_a_key_has_one_section(tmp_path: Path) -> None:
    with pytest.raises(FourhopError, match=r"--set: found 'radio\.path\.exponent=2', allowed: SECTION\.KEY=VALUE"):
        imported(put(tmp_path, "m.json", MAP), overrides=["radio.path.exponent=2"])


def test_what_was_imported_does_not_change(tmp_path: Path) -> None:
    made = imported(put(tmp_path, "m.json", MAP))
    with pytest.raises(FrozenInstanceError):
        made.toml = ""  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        made.network.links = ()  # type: ignore[misc]
