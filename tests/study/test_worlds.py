"""`fourhop reproduce --world`: the same checks in each world, on tiny studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fourhop import Scenario, Sweep
from fourhop.errors import FourhopError
from fourhop.study import worlds
from fourhop.study.worlds import AUTHORS_CODE, HELLO, STATIC_ROUTES, TIMERS_2003, WORLDS, World
from tests.conftest import ROOT, Command

STUDY = '''\
"""A chain of six hops."""

from fourhop import Scenario, Sweep
from fourhop.study import OUR_OWN, Claim, Data, Profile, Study, above, below

study = Study("Worlds", source="nowhere, figure 1")


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=6, transport="newreno", profile=profile, duration="30s", warmup="5s")
    return Sweep(variants={"newreno": base, "static": base.with_(**{"routing.protocol": "static"})}, runs=3)


@study.check("AODV costs goodput", paper="a lot")
def costs(data: Data) -> Claim:
    return below(data.chain.goodput(variant="newreno") / data.chain.goodput(variant="static"), 0.97)


@study.check("There is goodput", paper="some")
def some(data: Data) -> Claim:
    return above(data.chain.goodput(variant="newreno"), 1.0)


@study.check("There is none", paper=OUR_OWN)
def none(data: Data) -> Claim:
    return below(data.chain.goodput(variant="newreno"), 1.0)
'''


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "p").mkdir(parents=True)
    (folder / "p" / "six.py").write_text(STUDY, encoding="utf-8")
    return folder


def verdicts(of: dict[str, Any]) -> list[str]:
    return [check["verdict"] for check in of["checks"].values()]


def test_every_statement_is_judged_in_every_world(papers: Path, fourhop: Command) -> None:
    out = papers.parent / "report"
    done = fourhop("reproduce", "p", "--world", "static-routes", "--world", "timers-2003+authors-code", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "worlds" / "p" / "six.json").read_text(encoding="utf-8"))
    here = record["worlds"]
    assert list(here) == ["ns2", "static-routes", "timers-2003+authors-code"]
    assert verdicts(here["ns2"]) == ["reproduced", "reproduced", "not reproduced"]
    # Both variants are one network there.
    assert verdicts(here["static-routes"]) == ["not reproduced", "reproduced", "not reproduced"]
    assert here["static-routes"]["keys"] == {"routing.protocol": "static"}
    # Nothing is paced, so only the other part is left.
    assert here["timers-2003+authors-code"]["same_as"] == "timers-2003"
    assert here["timers-2003+authors-code"]["lacks"] == {"authors-code": "no flow or gateway uses this arithmetic"}
    summary = json.loads((out / "worlds.json").read_text(encoding="utf-8"))["p"]
    # Our own question does not count.
    assert [summary["worlds"][name]["statements"] for name in here] == [2, 2, 2]
    assert [summary["worlds"][name]["reproduced"] for name in ("ns2", "static-routes")] == [2, 1]
    assert summary["most"] == ["ns2"]
    assert summary["tried"] == 3
    page = (out / "worlds.html").read_text(encoding="utf-8")
    assert all(
        text in page for text in ("static routes", "AODV costs goodput", "no flow or gateway uses this arithmetic")
    )
    assert not (out / "index.html").exists()
    # Runs are shared with the reproduction, whose overview leads to the page.
    again = fourhop("reproduce", "p")
    assert again.returncode == 0, again.stderr
    assert 'href="worlds.html"' in (out / "index.html").read_text(encoding="utf-8")
    assert (
        json.loads((out / "figures" / "p" / "six.json").read_text(encoding="utf-8"))["profiles"]["ns2"]["sweeps"][0][
            "reused"
        ]
        == 6
    )


@pytest.mark.usefixtures("papers")
def test_an_unknown_world_lists_those_there_are(fourhop: Command) -> None:
    done = fourhop("reproduce", "p", "--world", "routes")
    assert done.returncode == 2
    assert "--world: found 'routes', allowed: all, ns2, static-routes, timers-2003, authors-code, hello" in done.stderr


def test_worlds_are_singles_and_pairs_and_the_first_is_plain() -> None:
    names = [world.name for world in WORLDS]
    assert (len(names), len(set(names)), names[0]) == (10, 10, "ns2")
    assert "static-routes+hello" not in names
    assert worlds.chosen(["all"]) == WORLDS
    assert [world.name for world in worlds.chosen(["hello"])] == ["ns2", "hello"]


def test_every_key_of_a_world_is_one() -> None:
    base = Scenario.chain(hops=2, transport="tcp-ap", profile="ns2")
    for world in WORLDS:
        (point,) = world.of(Sweep(base)).points
        assert (point.scenario.resolved == base.resolved) == (world.name == "ns2")
        point.scenario.check()


def test_a_world_keeps_what_a_study_varies() -> None:
    sweep = Sweep(Scenario.chain(hops=2, profile="ns2"), {"routing.protocol": ["aodv", "static"]})
    (world, lacks) = World("ns2", (HELLO,)).within([sweep])
    assert (world.name, lacks) == ("hello", {})
    made = [point.scenario.resolved["routing"] for point in world.of(sweep).points]
    assert [(each["protocol"], each["hello"], each["link_layer_detection"]) for each in made] == [
        ("aodv", True, False), ("static", True, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "scenario", "why"),
    [
        (STATIC_ROUTES, "random-waypoint", "nodes move"),
        (STATIC_ROUTES, "chain", None),
        (AUTHORS_CODE, "chain", "no flow or gateway uses this arithmetic"),
        (AUTHORS_CODE, "gateway-chain", "no flow or gateway uses this arithmetic"),
        (AUTHORS_CODE, "contention", None),
        (TIMERS_2003, "random-waypoint", None),
    ],
)
def test_a_part_without_meaning_is_left_out(part: worlds.Part, scenario: str, why: str | None) -> None:
    sweep = Sweep(Scenario.from_toml(Path(__file__).parents[2] / "scenarios" / f"{scenario}.toml"))
    world, lacks = World("ns2", (part,)).within([sweep])
    assert lacks == ({part.name: why} if why else {})
    assert world.name == ("ns2" if why else part.name)


def test_a_gateway_of_tcp_gap_has_the_arithmetic() -> None:
    plain = Scenario.from_toml(Path(__file__).parents[2] / "scenarios" / "gateway-chain.toml")
    world, _ = World("ns2", (AUTHORS_CODE,)).within([Sweep(plain.with_(**{"gateway.kind": "gap"}))])
    assert world.name == "authors-code"


def test_a_figure_that_was_not_in_all_worlds_is_left_out() -> None:
    def figure(name: str, **verdicts: str) -> dict[str, Any]:
        return {
            "paper": "p",
            "figure": name,
            "worlds": {
                world: {"label": world, "same_as": world, "checks": {"c": {"verdict": verdict, "paper": "yes"}}}
                for world, verdict in verdicts.items()
            },
        }

    made = worlds.summary([figure("a", ns2="partly", hello="reproduced"), figure("b", ns2="reproduced")])["p"]
    assert (made["figures"], made["left_out"], made["tried"], made["most"]) == (["a"], ["b"], 2, ["hello"])


def test_a_world_that_is_another_here_was_not_tried() -> None:
    def here(same_as: str) -> dict[str, Any]:
        return {"label": "", "same_as": same_as, "checks": {"c": {"verdict": "reproduced", "paper": "yes"}}}

    record = {"paper": "p", "figure": "a", "worlds": {"ns2": here("ns2"), "authors-code": here("ns2")}}
    made = worlds.summary([record])["p"]
    assert (made["tried"], made["most"], made["worlds"]["authors-code"]["reproduced"]) == (1, ["ns2"], 1)


def test_a_pair_is_listed_only_if_neither_of_its_parts_is_enough() -> None:
    verdicts = {"ns2": "no", "hello": "yes", "static-routes": "no", "timers-2003": "no", "hello+static-routes": "yes"}
    verdicts |= {"static-routes+timers-2003": "yes"}
    of = {
        name: {
            "label": name,
            "same_as": name,
            "checks": {"c": {"paper": "", "verdict": "reproduced" if verdict == "yes" else "partly"}},
        }
        for name, verdict in verdicts.items()
    }
    [(figure, first, others)] = worlds.elsewhere([{"figure": "f1", "worlds": of}])
    assert (figure, first["verdict"]) == ("f1", "partly")
    assert [label for label, _ in others] == ["hello", "static-routes+timers-2003"]


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "worlds" / "p").mkdir(parents=True)
    (tmp_path / "worlds" / "p" / "f.json").write_text("{", encoding="utf-8")
    with pytest.raises(FourhopError, match=r"f\.json: found no record of worlds"):
        worlds.load(tmp_path)


def test_the_document_has_the_keys_of_every_world() -> None:
    text = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    for part in worlds.PARTS:
        keys = ", ".join(f"`{key} = {json.dumps(value)}`" for key, value in part.keys.items())
        assert f"| {part.label} | {keys} |" in text
