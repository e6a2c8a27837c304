"""`fourhop whatif`: the changes tried, the report on them, and the page, also in a real browser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop import Scenario
from fourhop.cli.whatif import report
from fourhop.errors import FourhopError
from fourhop.picture import Network
from fourhop.study.estimate import Sample
from fourhop.whatif import Answer, ask, page, to_dict, words
from fourhop.whatif.answer import Effect, Group, Measure
from fourhop.whatif.map import Tried, picture, tried_places
from fourhop.whatif.tries import tries
from fourhop.whatif.worlds import fitting
from tests.browser import CHROMIUM, Chromium
from tests.conftest import ROOT, Command, loaded
from tests.test_report import Tree

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

# A gateway at the end of four hops; node 5 is attached to node 2 and has no traffic.
MESH = """\
# Made by hand: "<b>" is no markup.
# assumed: nothing
name = "five & a half"
profile = "standard"
duration = "3s"
warmup = "1s"

[topology]
kind = "positions"
positions = [["0m", "0m"], ["200m", "0m"], ["400m", "0m"], ["600m", "0m"], ["800m", "0m"], ["400m", "150m"]]

[routing]
protocol = "static"

[wired]
gateways = [0]
nodes = ["internet"]

[[nodes]]
node = 5
name = "tower"

[[flows]]
name = "near"
from = "internet"
to = 1
transport = "cubic"

[[flows]]
name = "middle"
from = "internet"
to = 3
transport = "cubic"

[[flows]]
name = "far"
from = "internet"
to = 4
transport = "cubic"
"""


@pytest.fixture(scope="module")
def mesh() -> Scenario:
    return Scenario(MESH)


@pytest.fixture(scope="module")
def answer(mesh: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return ask(mesh, runs=3, places=1, out=tmp_path_factory.mktemp("store"), jobs=1)


@pytest.fixture(scope="module")
def written(answer: Answer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page.write(answer, tmp_path_factory.mktemp("page"), ['Made by hand: "<b>" is no markup.'])


def test_what_is_tried_fits_the_network(mesh: Scenario) -> None:
    tried = tries(mesh)
    today = tried.today.scenario.resolved
    assert today["gateway"]["kind"] == "fq-codel"
    assert {flow["transport"] for flow in today["flows"]} == {"cubic"}
    by_name = {each.name: each.scenario.resolved for each in tried.changes}
    assert by_name["paced"]["gateway"]["sojourn"] == "50ms"
    assert by_name["plain"]["gateway"]["kind"] == "plain"
    assert {flow["transport"] for flow in by_name["reno"]["flows"]} == {"reno"}
    # Node 5 is the only one without traffic; in the middle, it is nearer to all nodes but the first.
    assert by_name["further-gateway-5"]["wired"]["gateways"] == [0, 5]
    assert ("bbr" in by_name) == ("BBR" not in dict(tried.left_out))
    assert "some senders are on the Internet" in dict(tried.left_out)["TCP-AP"]
    assert "C3TCP" in dict(tried.left_out)


def test_what_is_tried_inside_a_mesh_and_out_of_it(mesh: Scenario) -> None:
    inside = tries(Scenario.chain(hops=2, profile="standard"))
    assert {"reno", "tcp-ap", "c3tcp"} <= {each.name for each in inside.changes}
    assert not any("gateway" in each.name or "paced" in each.name for each in inside.changes)
    up = mesh.with_(**{"flows[0].from": 1, "flows[0].to": "internet", "flows[1].from": 3, "flows[1].to": "internet",
                       "flows[2].from": 4, "flows[2].to": "internet"})  # fmt: skip
    made = {each.name: each.scenario.resolved for each in tries(up).changes}
    assert made["tcp-ap"]["gateway"]["kind"] == "gap"
    busy = tries(mesh.flow("internet", 2, transport="cubic").flow("internet", 5, transport="cubic"))
    assert "all nodes have their own traffic" in dict(busy.left_out)["other places for a gateway"]
    with pytest.raises(FourhopError, match="whatif: found no TCP flow"):
        tries(Scenario.chain(hops=2, transport="ping"))


def test_flows_are_grouped_by_their_hops(answer: Answer) -> None:
    assert [(group.name, group.flows, group.hops) for group in answer.groups] == [
        ("all", ("near", "middle", "far"), (1, 4)),
        ("near", ("near",), (1, 1)),
        ("middle", ("middle",), (3, 3)),
        ("far", ("far",), (4, 4)),
    ]
    assert [measure.name for measure in answer.measures] == [
        "speed-all", "speed-near", "speed-middle", "speed-far", "delay", "fairness", "starving",
    ]  # fmt: skip


def test_effects_are_those_of_runs_with_the_same_seeds(answer: Answer) -> None:
    rows = {(row["point"], row["seed"], row["flow"]): row for each in answer.results for row in each.flows.to_dicts()}
    names = list(answer.results[0].sweep.variants or {})
    point = names.index("plain")
    effect = next(each for each in answer.effects["plain"] if each.measure.name == "speed-far")
    mean = sum(1e-6 * rows[point, seed, "far"]["goodput_bps"] for seed in answer.seeds) / 3
    assert effect.ours.mean == pytest.approx(mean)
    assert effect.today.mean == pytest.approx(sum(1e-6 * rows[0, s, "far"]["goodput_bps"] for s in answer.seeds) / 3)
    assert effect.difference.method.endswith("paired")


def test_together_is_a_sum_and_starving_has_one_bound(answer: Answer) -> None:
    rows = {(row["point"], row["seed"], row["flow"]): 1e-6 * row["goodput_bps"]
            for each in answer.results for row in each.flows.to_dicts()}  # fmt: skip
    names = list(answer.results[0].sweep.variants or {})
    by_name = {each.measure.name: each for each in answer.effects["plain"]}
    flows, point = ("near", "middle", "far"), names.index("plain")
    together = sum(rows[point, seed, flow] for seed in answer.seeds for flow in flows) / len(answer.seeds)
    assert by_name["speed-all"].ours.mean == pytest.approx(together)
    share = sum(rows[0, seed, flow] for seed in answer.seeds for flow in flows) / (3 * len(answer.seeds))
    for effect_ in (by_name["starving"],):
        for sample, at in ((effect_.ours, point), (effect_.today, 0)):
            few = [sum(rows[at, seed, flow] < 0.1 * share for flow in flows) for seed in answer.seeds]
            assert sample.mean == pytest.approx(sum(few) / len(few))


def test_the_answer_begins_with_what_it_cannot_know(answer: Answer) -> None:
    lines = report(answer, ["missing: places of 3 nodes; they are drawn: a, b, c", "assumed: nothing"])
    text = " ".join(" ".join(lines).split())
    assert lines[0] == "What this model does not cover:"
    assert "Missing in the file: places of 3 nodes; they are drawn." in text
    assert text.index("as a forecast") < text.index(" ".join(words.headline(answer).split()))


def effect(name: str, ours: tuple[float, ...], today: tuple[float, ...], group: Group | None = None) -> Effect:
    measure = Measure(name, name, "Mbit/s", "less" if name == "delay" else "more", lambda _: 0.0, group)
    return Effect(measure, Sample(ours, (1, 2, 3)), Sample(today, (1, 2, 3)))


FAR, NEAR, ALL = (
    Group(name, label, ("x", "y", "z"), (1, 2))
    for name, label in (
        ("far", "the farthest third of nodes"),
        ("near", "the nearest third of nodes"),
        ("all", "all nodes"),
    )
)
SPEEDS = (10.0, 11.0, 12.0)


class Made:
    """An answer with made-up numbers."""

    def __init__(self, *effects: Effect) -> None:
        self.effects = {"change": effects}
        self.groups = (ALL, NEAR, FAR)
        self.worlds = type("Worlds", (), {"several": False})
        flows = [{"from": None, "to": 1}]
        self.tried = type("Tried", (), {"network": type("Net", (), {"flows": flows})})


def sentences(*effects: Effect) -> list[str]:
    return words.sentences(Made(*effects), type("Change", (), {"name": "change"}))  # type: ignore[arg-type]


def test_differences_are_written_as_people_say_them() -> None:
    faster = effect("speed-far", (20.0, 23.0, 26.0), SPEEDS, FAR)
    slower = effect("speed-near", (8.0, 9.0, 9.5), SPEEDS, NEAR)
    same = effect("speed-all", (10.0, 11.5, 11.8), SPEEDS, ALL)
    assert sentences(same, slower, faster, effect("delay", (100.0, 110.0, 120.0), (200.0, 220.0, 230.0))) == [
        "Downloads at the farthest third of nodes become 2.1 times [1.8, 2.3] as fast; "
        "the nearest third of nodes lose 20 % [16, 23].",
        "Total throughput shows no significant change (between -7 % and +10 %).",
        "Round trips are shorter: 110 ms instead of 217 ms.",
    ]
    assert words.verdict((same, slower, faster)) == "mixed"
    assert words.verdict((same, faster)) == "helps"
    assert words.verdict((same, slower)) == "hurts"
    later = effect("delay", (300.0, 310.0, 320.0), (200.0, 220.0, 230.0))
    assert words.verdict((same, faster, later)) == "mixed"
    assert words.verdict((same, later)) == "hurts"


def test_what_is_within_its_interval_is_no_difference() -> None:
    same = effect("speed-all", (10.0, 11.5, 11.8), SPEEDS, ALL)
    (sentence,) = sentences(same, effect("speed-far", (9.0, 12.0, 11.0), SPEEDS, FAR))
    assert sentence == "Downloads show no significant change (between -7 % and +10 %)."
    assert words.verdict((same,)) == "no difference"
    assert same.good is None
    # Where nothing arrived before, there is no ratio to report.
    nothing = effect("speed-far", (3.0, 3.1, 3.2), (0.0, 0.0, 0.0), FAR)
    assert (
        sentences(same, nothing)[0] == "Downloads at the farthest third of nodes have 3.1 Mbit/s instead of 0 kbit/s."
    )


def test_few_runs_are_not_written_as_shares() -> None:
    vague = effect("speed-all", (10.0, 1.0, 25.0), (12.0, 14.0, 1.0), ALL)
    assert sentences(vague) == ["Downloads show no significant change (there are too few runs to narrow it down)."]
    # The difference is beyond its interval, the ratio could be below nothing.
    steady = effect("speed-all", (1.0, 1.1, 0.9), (2.0, 12.0, 7.0), ALL)
    far = effect("speed-far", (0.1, 5.2, 2.7), (10.0, 15.0, 12.6), FAR)
    assert far.differs
    assert not steady.differs
    assert (
        sentences(steady, far)[0] == "Downloads at the farthest third of nodes have 2.67 Mbit/s instead of 12.5 Mbit/s."
    )


def test_the_answer_for_machines(answer: Answer) -> None:
    answered = json.loads(json.dumps(to_dict(answer), allow_nan=False))
    assert [each["name"] for each in answered["groups"]] == ["all", "near", "middle", "far"]
    assert {each["verdict"] for each in answered["changes"]} <= set(words.VERDICTS)
    assert all(len(each["effects"]) == len(answer.measures) for each in answered["changes"])
    assert answered["seeds"] == [1, 2, 3]
    assert answered["networks"] == 1, "the file gives every link, so all runs have the same"


def test_changes_are_sorted_by_the_gain_of_the_farthest_then_by_that_of_all(answer: Answer) -> None:
    same = {name: effect(f"speed-{name}", SPEEDS, SPEEDS) for name in ("all", "far")}
    faster, slower = (tuple(x * speed for speed in SPEEDS) for x in (3.0, 0.5))
    first, *others, last = (each.name for each in answer.tried.changes)
    effects = dict.fromkeys(others, (same["all"], same["far"]))
    effects |= {
        first: (effect("speed-all", slower, SPEEDS), same["far"]),
        last: (effect("speed-all", slower, SPEEDS), effect("speed-far", faster, SPEEDS)),
    }
    assert [each.name for each in replace(answer, effects=effects).ranked] == [last, *others, first]


def test_the_page_is_one_file_that_is_well_formed(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    tree = Tree()
    tree.feed(text)
    assert tree.open == []
    assert tree.outside == []
    assert "script" not in tree.tags
    assert "@import" not in text
    assert "five &amp; a half" in text
    assert "&lt;b&gt;" in text
    assert text.count('class="change"') == text.count("<article")


def test_the_map_shows_every_node_and_link_within_its_frame(answer: Answer) -> None:
    drawn = picture(answer.tried.network, {5: "tower"}, {1: 2.0}, {})
    assert len(drawn.nodes) == 6
    assert len(drawn.links) == len(answer.tried.network.pairs)
    assert all(0 <= node["x"] <= drawn.width and 0 <= node["y"] <= drawn.height for node in drawn.nodes)
    (tower,) = (node for node in drawn.nodes if node["title"] == "5 tower")
    (two,) = (node for node in drawn.nodes if node["title"] == "node 2")
    assert tower["y"] < two["y"], "north is up"
    assert [node["class"] for node in drawn.nodes].count("gateway") == 1


def test_the_map_is_to_scale_and_shows_how_good_links_are() -> None:
    # 700 m are 468 units, wherever the origin.
    places = [(1000.0, 500.0), (1100.0, 600.0), (1700.0, 550.0), (1350.0, 520.0)]
    links = {(1, 2): 20.0, (0, 3): -1.0, (1, 3): 4.9, (0, 2): 5.0, (0, 1): 10.0}
    drawn = picture(Network(1, places, links, [], [0], []), {}, {1: 2.0}, {})
    assert (drawn.width, drawn.height) == (520.0, 180.0)
    assert {node["label"]: (node["x"], node["y"]) for node in drawn.nodes} == {
        "0": (26.0, 123.4), "1": (92.9, 56.6), "2": (494.0, 90.0), "3": (260.0, 110.1),
    }  # fmt: skip
    assert [link["class"] for link in drawn.links] == ["weak", "weak", "fair", "good", "strong"]
    assert {node["title"]: node["class"] for node in drawn.nodes} == {
        "node 0, gateway": "gateway", "node 1, today 2 Mbit/s": "busy", "node 2": "idle", "node 3": "idle",
    }  # fmt: skip


def test_the_page_has_speeds_of_today_and_ratios_with_their_intervals(answer: Answer, written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    far = next(each for each in answer.effects["plain"] if each.measure.name == "speed-far")
    assert f"<title>node 4, today {far.today.mean:.3g} Mbit/s" in text
    faster = effect("speed-all", (20.0, 23.0, 26.0), SPEEDS, ALL)
    endless = effect("speed-far", SPEEDS, (0.0, 0.0, 0.0), FAR)
    made = page.html(replace(answer, effects=dict.fromkeys(answer.effects, (faster, endless))))
    shown = re.findall(r'<span class="number">(.+?) <span class="soft">(.*?)</span>', made)
    assert shown[:2] == [("2.09×", "[1.83, 2.26]"), ("-", "")]
    marks = re.findall(r'<span style="left:([\d.]+)%">([^<]+)</span>', text)
    assert marks[:7] == [
        ("0.0", "1/8"), ("16.67", "1/4"), ("33.33", "1/2"), ("50.0", "today"), ("66.67", "2×"), ("83.33", "4×"),
        ("100.0", "8×"),
    ]  # fmt: skip


def test_the_map_marks_the_place_that_the_answer_recommends(answer: Answer, written: Path) -> None:
    changes = {change.name: change for change in answer.tried.changes}
    tried = tried_places(answer)
    assert {f"further-gateway-{node}" for node in tried} <= set(changes)
    helping = [each for each in answer.ranked if words.verdict(answer.effects[each.name]) in ("helps", "mixed")]
    assert [place.best for place in tried.values()].count(True) == any("gateway-" in each.name for each in helping)
    text = written.read_text(encoding="utf-8")
    assert text.count(">best location</text>") == sum(place.best for place in tried.values())
    # Whatever these runs give: of two locations, the one that helps is marked, the one that hurts is shown as tried.
    names = {"helps": 5, "hurts": 4}
    marks = {node: Tried(name == "helps", f"further gateway at node {node}", name) for name, node in names.items()}
    drawn = picture(answer.tried.network, {}, {4: 1.0, 5: 1.0}, marks)
    kinds = {node["label"]: node["class"] for node in drawn.nodes}
    assert (kinds["5"], kinds["4"], kinds["0"]) == ("best", "tried", "gateway")


def test_numbers_on_the_map_leave_each_other_room(answer: Answer) -> None:
    crowded = replace(
        answer.tried.network, places=[(float(7 * n % 40), float(3 * n % 50)) for n in range(44)], links={}
    )
    drawn = picture(crowded, {}, {3: 1.0}, {7: Tried(True, "further gateway at node 7", "helps")})
    written = [(node["x"], node["y"]) for node in drawn.nodes if node["label"]]
    assert {"0", "7"} <= {node["label"] for node in drawn.nodes}, "the gateway and the best place keep theirs"
    assert all(math.dist(one, other) >= 19.0 for one, other in combinations(written, 2))


def test_the_command_goes_on_from_what_is_stored(fourhop: Command, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(MESH, encoding="utf-8")
    few = ["whatif", "mesh.toml", "--runs", "2", "--places", "0", "--jobs", "1"]
    done = fourhop(*few)
    assert done.returncode == 0, done.stderr
    assert "today's setup: CUBIC at all senders, FQ-CoDel at the gateway" in done.stdout
    assert "pacing gateway:" in done.stdout
    assert "page: whatif-mesh/index.html" in done.stdout
    assert "assumed: nothing" in (tmp_path / "whatif-mesh" / "index.html").read_text(encoding="utf-8")
    runs = {path: path.stat().st_mtime_ns for path in (tmp_path / "whatif-mesh" / "store").glob("runs/*/*.parquet")}
    again = fourhop(*few, "--json")
    assert {path: path.stat().st_mtime_ns for path in runs} == runs
    answered: dict[str, Any] = json.loads(again.stdout)
    assert answered["page"] == "whatif-mesh/index.html"
    refused = fourhop("whatif", "mesh.toml", "--runs", "1")
    assert refused.returncode == 2
    assert "runs: found 1, allowed:" in refused.stderr


def test_the_command_without_a_number_of_runs_takes_those_that_fit_into_its_time(
    fourhop: Command, tmp_path: Path
) -> None:
    (tmp_path / "mesh.toml").write_text(MESH, encoding="utf-8")
    done = fourhop("whatif", "mesh.toml", "--seconds", "1", "--places", "0", "--duration", "12s")
    assert done.returncode == 0, done.stderr
    assert "pacing gateway:" in done.stdout
    stored = list((tmp_path / "whatif-mesh" / "store").glob("runs/*/*.parquet"))
    # At least two for today's setup and for each change.
    assert len(stored) >= 4


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as opened:
        yield opened


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_is_legible_at_any_width_light_and_dark(
    browser: Chromium, written: Path, width: int, dark: bool
) -> None:
    browser.open(written, width=width, dark=dark)
    assert browser.js("document.documentElement.scrollWidth") <= width, "nothing is wider than the window"
    assert browser.complaints == []
    # For each element with its own text: ink against the nearest background that is not clear (WCAG 2.1, 1.4.3).
    contrast = browser.js(
        """(() => {
          const lum = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
          const rgb = text => text.match(/[\\d.]+/g).map(Number);
          const behind = el => { for (; el; el = el.parentElement) {
            const c = rgb(getComputedStyle(el).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
            return rgb(getComputedStyle(document.body).backgroundColor); };
          return Math.min(...[...document.querySelectorAll('main *:not(svg *)')]
            .filter(el => [...el.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && el.getClientRects().length)
            .map(el => { const [a, b] = [lum(rgb(getComputedStyle(el).color)), lum(behind(el))].sort((x, y) => y - x);
              return (a + .05) / (b + .05); }));
        })()"""
    )
    assert contrast >= 4.5
    letters = browser.js("Math.min(...[...document.querySelectorAll('figure .map text')].map(t => t.getBBox().height * "
                         "document.querySelector('figure .map').getBoundingClientRect().width / 520))")  # fmt: skip
    assert letters >= 9.0, "letters of the map in pixels"


def test_the_example_of_the_document_is_what_was_measured() -> None:
    script = loaded("scripts/mesh_example.py")
    kept = json.loads((ROOT / "docs" / "img" / "mesh.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "mesh.md").read_text(encoding="utf-8")
    shown = text.split("```text\n")[1].split("```")[0].splitlines()
    assert kept["words"] in " ".join(" ".join(shown).split())
    assert [line for line in shown if line not in (*kept["lines"], "...")] == []
    # The network is still the one measured, and its first run gives identical bits.
    made = script.imported()
    assert (len(made.network.nodes), kept["gateways"]) == (kept["nodes"], made.scenario.resolved["wired"]["gateways"])
    given = script.scenario(made)
    today = tries(given, places=0)
    keys = fitting(given, today.network, list(map(str, made.notes))).keys(kept["seeds"][0])
    again = fourhop.run(today.today.scenario.with_(**keys), runs=1)
    assert {row["flow"]: row["goodput_bps"] for row in again.flows.to_dicts()} == kept["today"]["first_run"]
