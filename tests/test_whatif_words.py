"""`fourhop whatif`: the sentences about today's network, and the effects for machines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from fourhop.study.estimate import Sample
from fourhop.whatif import Answer, words
from fourhop.whatif.answer import Effect, Group, Measure

ALL = Group("all", "all nodes", ("x", "y", "z"), (1, 4))
NEAR = Group("near", "the nearest third of nodes", ("x",), (1, 1))
MIDDLE = Group("middle", "the middle third of nodes", ("y",), (2, 2))
FAR = Group("far", "the farthest third of nodes", ("z",), (2, 4))


def said(groups: tuple[Group, ...], means: dict[str, float]) -> list[str]:
    """The report on a network of downloads with these means today."""
    network = SimpleNamespace(flows=[{"from": None, "to": 1}])
    answer = SimpleNamespace(
        groups=groups,
        measures=[SimpleNamespace(name=name) for name in means],
        today=lambda measure: SimpleNamespace(mean=means[measure.name]),
        tried=SimpleNamespace(network=network),
    )
    return words.today(cast("Answer", answer))


def test_each_group_is_reported_with_its_speed_and_hops() -> None:
    means = {"speed-all": 15.0, "speed-near": 12.0, "speed-middle": 2.5, "speed-far": 0.5}
    assert said((ALL, NEAR, FAR), means) == [
        "Downloads run at 12 Mbit/s at the nearest third of nodes (1 hop) and 500 kbit/s at the farthest third of "
        "nodes (2 to 4 hops), each on average; together 15 Mbit/s."
    ]
    (three,) = said((ALL, NEAR, MIDDLE, FAR), means)
    assert "(1 hop), 2.5 Mbit/s at the middle third of nodes (2 hops) and 500 kbit/s" in three


def test_a_network_of_one_group_is_reported_by_the_share_of_a_node() -> None:
    (sentence,) = said((ALL,), {"speed-all": 3.0})
    assert sentence == "Downloads run at 1 Mbit/s at all nodes (1 to 4 hops), each on average; together 3 Mbit/s."


@pytest.mark.parametrize(
    ("delay", "reported"), [(9.96, "10 ms"), (10.0, "10 ms"), (2.5, "2.5 ms"), (3.0, "3 ms"), (float("nan"), "")]
)
def test_a_round_trip_is_reported_if_one_was_measured(delay: float, reported: str) -> None:
    sentences = said((ALL,), {"speed-all": 3.0, "delay": delay})
    assert sentences[1:] == ([f"A round trip takes {reported}."] if reported else [])


@pytest.mark.parametrize(("starving", "reported"), [(0.4, False), (0.5, True), (1.5, True)])
def test_nodes_that_starve_are_reported_from_half_a_node_on(starving: float, reported: bool) -> None:
    sentences = said((ALL,), {"speed-all": 3.0, "starving": starving})
    assert sentences[1:] == ([f"{starving} of 3 nodes get less than a tenth of an equal share."] if reported else [])


def test_an_effect_for_machines_has_how_many_runs_it_holds_in() -> None:
    measure = Measure("x", "x", "Mbit/s", "more", lambda _: 0.0)
    seeds = (1, 2, 3, 4)
    effect = Effect(measure, Sample((2.0, 3.0, 0.5, 4.0), seeds), Sample((1.0, 1.0, 1.0, 4.0), seeds)).to_dict()
    assert (effect["holds"], effect["runs"]) == (2, 4)
    assert (effect["mean"], effect["today"]) == (2.375, 1.75)
