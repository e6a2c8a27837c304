"""`fourhop whatif`: several networks that fit one file, its law of path loss, and when runs stop."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourhop import Scenario
from fourhop.community.links import LEAST_FULL_SNR_DB
from fourhop.picture import Network
from fourhop.study.estimate import Sample
from fourhop.whatif import Answer, ask, to_dict, words
from fourhop.whatif.answer import Effect, Measure
from fourhop.whatif.tries import tries
from fourhop.whatif.worlds import USUAL_EXPONENT, fitting, law, others
from tests.meshes import imported, link, node, put

NOTE = "assumed: 3 links on which 98% and more arrive: as good as the distance says"


def network(margins: dict[tuple[int, int], float], places: list[tuple[float, float]]) -> Network:
    return Network(1, places, margins, [], [], [])


def test_the_law_of_path_loss_is_found_with_its_interval() -> None:
    draw = random.Random(4)
    places = [(draw.uniform(0.0, 300.0), draw.uniform(0.0, 300.0)) for _ in range(12)]
    pairs = [(a, b) for a in range(12) for b in range(a)]
    margins = {
        (a, b): 90.0 - 35.0 * math.log10(math.dist(places[a], places[b])) + draw.gauss(0.0, 5.0) for a, b in pairs
    }
    losses = [{"from": a, "to": b, "both_ways": False} for a, b in pairs]
    found = law(network(margins, places), losses)
    assert found.links == 66
    assert found.low < 3.5 < found.high < found.low + 1.5
    assert 4.0 < found.spread_db < 6.0
    # Qualities that do not fall with distance reflect other causes.
    flat = law(network(dict.fromkeys(pairs, 10.0) | {(1, 0): 11.0}, places), losses)
    assert flat.links == 0
    assert flat.refused is not None
    assert flat.refused < 1.0
    # Nothing can be fitted to few links, or to many of equal length.
    assert law(network(margins, places), losses[:10]).links == 0
    ring = [(100.0 * math.cos(i), 100.0 * math.sin(i)) for i in range(6)]
    alike = {(a, 6): 10.0 for a in range(6)} | {(6, a): 12.0 for a in range(6)}
    usual = law(network(alike, [*ring, (0.0, 0.0)]), [{"from": a, "to": 6} for a in range(6)])
    assert (usual.low, usual.high) == USUAL_EXPONENT


def mesh(folder: Path, quality: float) -> tuple[Scenario, list[str]]:
    nodes = [node("a", is_gateway=True), node("b", 50.0005), node("c", 50.001), node("d", 50.0015)]
    links = [link(a, b, quality, quality) for a, b in ("ab", "bc", "cd")]
    made = imported(put(folder, "m.json", {"nodes": nodes, "links": links}))
    return made.scenario.with_(duration="3s", warmup="1s"), [str(note) for note in made.notes]


def test_links_that_are_only_good_are_drawn_and_measured_ones_are_not(tmp_path: Path) -> None:
    scenario, notes = mesh(tmp_path, 1.0)
    survey = Network.of(scenario.resolved_json)
    worlds = fitting(scenario, survey, notes)
    assert len(worlds.vague) == 3
    keys = [worlds.keys(seed) for seed in range(1, 30)]
    assert worlds.keys(5) == keys[4], "the same seed is the same network"
    drawn = [float(str(each["losses[0].snr"]).removesuffix("dB")) for each in keys]
    assert len(set(drawn)) > 20
    assert min(drawn) >= LEAST_FULL_SNR_DB, "no link is weaker than the file allows"
    low, high = USUAL_EXPONENT
    exponents = [each["radio.exponent"] for each in keys]
    assert low < sum(exponents) / len(exponents) < high
    assert min(exponents) < 2.9, "what is usual is their 95 % interval"
    assert max(exponents) > 3.3
    assert scenario.with_(**keys[0]).resolved["losses"][0]["snr"] == keys[0]["losses[0].snr"]
    measured, about = mesh(tmp_path, 0.7)
    assert not fitting(measured, Network.of(measured.resolved_json), about).several
    assert not fitting(scenario, survey, ["assumed: nothing"]).several, "an SNR that was measured stays"


def test_a_statement_is_followed_by_the_networks_in_which_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, notes = mesh(tmp_path, 1.0)
    early_answers: list[int] = []
    shares: list[float] = []
    begun, passed = time.monotonic(), [0.1]
    monkeypatch.setitem(ask.__globals__, "time", SimpleNamespace(monotonic=lambda: begun + passed[0]))

    def stop(early: Answer) -> None:
        early_answers.append(len(early.results))
        passed[0] = 1.9

    answer = ask(
        scenario, seconds=0.0, places=0, notes=notes, jobs=1, out=tmp_path / "store",
        first=stop, progress=lambda share, _: shares.append(share),
    )  # fmt: skip
    assert early_answers == [2], "a first answer after two runs"
    assert len(answer.results) == 4, "no time is left, but fewer say nothing"
    assert (shares[0] <= 0.1, shares[-1]) == (True, 1.0), "the least time is a second"
    assert to_dict(answer)["networks"] == 4
    assert "Each run therefore draws another network that fits the file" in " ".join(words.unknown(answer))
    assert {each.label for each in answer.otherwise} >= {"transfers the other way"}
    assert all(answer.ranked[0].label in sentence for sentence in words.otherwise(answer))
    first = [result.sweep.variants["today"].resolved["losses"][0]["snr"] for result in answer.results]  # type: ignore[index]
    assert len(set(first)) == 4
    said = [sentence for each in answer.ranked for sentence in words.sentences(answer, each)]
    speeds = [sentence for sentence in said if "lose" in sentence or "as fast" in sentence or "gain" in sentence]
    assert all(" of 4 networks" in sentence for sentence in speeds)


def test_a_statement_holds_where_the_sign_is_that_of_the_mean() -> None:
    measure = Measure("x", "x", "Mbit/s", "more", lambda _: 0.0)
    seeds = (1, 2, 3, 4)
    up = Effect(measure, Sample((2.0, 3.0, 0.5, 4.0), seeds), Sample((1.0, 1.0, 1.0, 4.0), seeds))
    assert up.holds == (2, 4)
    down = Effect(measure, Sample((0.5, 0.5, 2.0, 0.5), seeds), Sample((1.0, 1.0, 1.0, 1.0), seeds))
    assert down.holds == (3, 4)


def test_other_radios_and_traffic_fit_the_scenario(tmp_path: Path) -> None:
    scenario, _ = mesh(tmp_path, 0.8)
    base = tries(scenario, 0).today.scenario
    made = {label: base.with_(**keys).resolved for label, keys in others(scenario)}
    assert made["radios of 802.11n"]["radio"]["phy"] == "ht-2.4ghz"
    assert made["transfers the other way"]["flows"][0]["to"] == "internet"
    assert {flow["app"] for flow in made["files of 500 kB with pauses in place of endless transfers"]["flows"]} == {
        "files"
    }


@pytest.mark.parametrize("streams", [1, 2])
def test_of_radios_with_streams_others_have_more_or_fewer(tmp_path: Path, streams: int) -> None:
    nodes = [node("a", is_gateway=True), node("b", 50.002)]
    path = put(tmp_path, "m.json", {"nodes": nodes, "links": [link("a", "b")]})
    made = imported(path, radio="11n", overrides=(f"radio.streams={streams}",))
    keys = dict(others(made.scenario))[f"radios with {'one stream' if streams == 2 else 'two streams'}"]
    assert made.scenario.with_(**keys).resolved["radio"]["streams"] == 3 - streams
