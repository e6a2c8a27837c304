"""Studies: how they are found, how they describe themselves, and their verdicts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop import Scenario
from fourhop.errors import FourhopError
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Sample,
    Study,
    Variants,
    above,
    execute,
    find,
    lines,
    table,
)
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.result import SweepResult
from tests.conftest import ROOT
from tests.study.conftest import TINY


def test_a_study_is_found_by_being_there(papers: Path) -> None:
    (papers / "some-paper" / "_common.py").write_text("HOPS = [1]\n", encoding="utf-8")
    shared = TINY.replace("from fourhop import", "from ._common import HOPS\nfrom fourhop import").replace(
        "[1, 2]", "HOPS"
    )
    (papers / "some-paper" / "other.py").write_text(shared, encoding="utf-8")
    assert find.names(papers) == ["some-paper/other", "some-paper/tiny"]
    assert find.chosen(papers, "some-paper") == find.chosen(papers, None) == find.names(papers)
    assert find.chosen(papers, "some-paper/tiny") == ["some-paper/tiny"]
    other = find.load(papers, "some-paper/other")
    assert len(other.study.made("ns2")["chain"].points) == 1
    assert other.text == "One and two hops."
    # A template is found by its full name only.
    (papers / "_template").mkdir()
    (papers / "_template" / "figure.py").write_text(TINY, encoding="utf-8")
    assert find.names(papers) == ["some-paper/other", "some-paper/tiny"]
    assert find.chosen(papers, "_template/figure.py") == ["_template/figure"]
    for missing in ("_template", "_template/other"):
        with pytest.raises(FourhopError, match="allowed: some-paper"):
            find.chosen(papers, missing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_there", "line 1: ModuleNotFoundError"),
        ("x = 1\nx(", "line 2: SyntaxError"),
        ("x = 1", "found no study; define study = Study"),
        ("from fourhop.study import Study\nstudy = Study('t', source='s')", "found a study without a sweep"),
        (TINY.replace("def nothing", "def more"), "found two checks named 'more'"),
    ],
)
def test_a_broken_study_is_named(papers: Path, text: str, message: str) -> None:
    (papers / "some-paper" / "tiny.py").write_text(text, encoding="utf-8")
    with pytest.raises(FourhopError, match=re.escape(message)) as caught:
        find.load(papers, "some-paper/tiny")
    assert str(papers / "some-paper" / "tiny.py") in str(caught.value)


def test_an_unknown_study_is_named_with_those_there_are(papers: Path) -> None:
    with pytest.raises(FourhopError, match=r"found 'some-papr', allowed: some-paper \(did you mean 'some-paper'\?\)"):
        find.chosen(papers, "some-papr")
    with pytest.raises(FourhopError, match="allowed: some-paper/tiny"):
        find.chosen(papers, "some-paper/huge")


def test_a_profile_that_cannot_be_is_named(papers: Path) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('"4s"', '"4"'), encoding="utf-8")
    with pytest.raises(FourhopError, match=r"tiny\.py: profile ns2: <scenario>: .*the unit is missing\)$"):
        execute.jobs(find.load(papers, "some-paper/tiny"), quick=False)
    # An error of Python is named with its line.
    path.write_text(TINY.replace("hops=1, profile", "hops=1 // 0, profile"), encoding="utf-8")
    with pytest.raises(FourhopError, match=r"ns2: ZeroDivisionError: .*\(tiny\.py, line 11\)$"):
        execute.jobs(find.load(papers, "some-paper/tiny"), quick=False)


def test_progress_names_a_sweep_if_its_study_has_several(papers: Path) -> None:
    path = papers / "some-paper" / "tiny.py"
    title = execute.jobs(find.load(papers, "some-paper/tiny"), quick=False)[0].title
    assert title == "some-paper/tiny, ns2"
    second = "@study.sweep\ndef second(profile: Profile) -> Sweep:\n    return chain(profile)\n\n\n@study.chart\n"
    path.write_text(TINY.replace("@study.chart\n", second, 1), encoding="utf-8")
    titles = [job.title for job in execute.jobs(find.load(papers, "some-paper/tiny"), quick=False)]
    assert titles[:2] == ["some-paper/tiny, ns2, chain", "some-paper/tiny, ns2, second"]


def test_a_record_says_which_commit_it_is_from(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        author = ["-c", "user.name=n", "-c", "user.email=e"]
        done = subprocess.run(["git", *author, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    file = tmp_path / "file"
    file.write_text("first", encoding="utf-8")
    git("init", "-q")
    assert execute.commit(file) == "unknown", "nothing is committed"
    git("add", "file")
    git("commit", "-q", "-m", "m")
    assert execute.commit(file) == git("rev-parse", "--short=12", "HEAD")
    file.write_text("second", encoding="utf-8")
    assert execute.commit(file) == git("rev-parse", "--short=12", "HEAD") + "+"


def test_quick_studies_are_short_and_keep_what_they_are_about() -> None:
    study = Study("t", source="s", quick={"radio.rate": "11Mbps"})

    @study.sweep
    def steady(profile: str) -> Sweep:
        return Sweep(Scenario.chain(hops=2, profile=profile, **STEADY), {"topology.hops": [1, 2]}, precision="1%")

    @study.sweep
    def later(profile: str) -> Sweep:
        base = Scenario.chain(hops=2, profile=profile, duration="300s")
        late = base.flow(0, 2, transport="newreno", start="30s", stop="60s")
        return Sweep(variants={"late": late, "usual": base}, runs=20)

    @study.sweep
    def many(profile: str) -> Sweep:
        return Sweep(Scenario.chain(hops=1, profile=profile), {"topology.hops": range(1, 10)}, runs=20)

    made = study.made("ns2", quick=True)
    point = made["steady"].points[1].scenario.resolved
    assert (point["packets"], point["duration"], point["radio"]["rate"]) == (110, "10s", "11Mbps")
    assert (made["steady"].runs, made["steady"].target) == (1, None)
    late, usual = (point.scenario.resolved for point in made["later"].points)
    assert (late["duration"], late["warmup"], usual["duration"]) == ("75s", "7500ms", "10s")
    assert (usual["warmup"], made["later"].runs, made["many"].runs) == ("1s", 2, 1)
    assert study.made("ns2")["steady"].points[1].scenario.packets == 55_000


def test_what_differs_in_one_thing_is_registered_in_one_place() -> None:
    study = Study("t", source="s")

    @study.sweep_each({"short": 1, "long": 8})
    def chains(profile: str, hops: int) -> Sweep:
        return Sweep(Scenario.chain(hops=hops, profile=profile))

    @study.chart_each({"first": (1, "One."), "second": (2, "Two.")})
    def drawn(data: Data, place: int) -> Chart:
        return table([data.profile], [(place,)])

    @study.check_each(
        {"ap": "TCP-AP", "ap-code": "the code"}, "{} is fair", paper="p", why="a", why_of={"ap-code": "b"}, main=True
    )
    def fair(data: Data, name: str) -> Claim:
        return above(Sample((float(len(name)), float(len(data.profile))), (1, 2)), 1.0)

    assert [made.base.resolved["topology"]["hops"] for made in study.made("ns2").values() if made.base] == [1, 8]
    assert list(study.sweeps) == ["short", "long"]
    data = Data("ns2", {})
    assert [(name, caption, draw(data).rows) for name, (caption, draw) in study.charts.items()] == [
        ("first", "One.", (("1",),)),
        ("second", "Two.", (("2",),)),
    ]
    said = [(check.name, check.statement, check.why, check.main) for check in study.checks.values()]
    assert said == [("fair_ap", "TCP-AP is fair", "a", True), ("fair_ap_code", "the code is fair", "b", False)]
    assert [check.evaluate(data).value for check in study.checks.values()] == [2.5, 5.0]
    with pytest.raises(FourhopError, match="found two charts named 'first'"):
        study.chart_each({"first": (1, "")})(lambda _, place: table([], [(place,)]))


def test_variants_are_the_same_network_with_another_transport() -> None:
    variants = Variants({"reno": ("Reno", "reno", {}), "limit": ("limit", "newreno", {"tcp.window": 1})})
    assert variants.labels == {"reno": "Reno", "limit": "limit"}
    base = (
        Scenario.parallel_chains(hops=2)
        .flow(0, 2, transport="vegas")
        .flow(3, 5, transport="udp", app="cbr", rate="1Mbps")
    )
    flows = {name: [flow["transport"] for flow in of.resolved["flows"]] for name, of in variants.compared(base).items()}
    assert flows == {"reno": ["reno", "udp"], "limit": ["newreno", "udp"]}
    assert list(variants.compared(base, "limit")) == ["limit"]
    two = base.flow(0, 2, transport="vegas")
    assert [flow["transport"] for flow in variants.of(two, "reno", 2).resolved["flows"]] == ["vegas", "udp", "reno"]
    assert variants.of(Scenario.chain(hops=1), "reno").resolved["traffic"]["transport"] == "reno"
    assert variants.of(Scenario.chain(hops=1), "limit").resolved["tcp"]["window"] == 1


def test_data_names_its_sweeps(parallel: SweepResult) -> None:
    data = Data("ns2", {"parallel": Cells.of(parallel)})
    assert len(data.parallel) == 2
    with pytest.raises(FourhopError, match="found no sweep 'chain', allowed: parallel"):
        _ = data.chain


def test_a_check_that_fails_to_answer_is_an_error_unless_quick(parallel: SweepResult) -> None:
    study = Study("t", source="s")

    @study.check("x", paper="y")
    def broken(data: Data) -> Any:
        return data.parallel.goodput(transport="none")

    @study.check("x", paper="y")
    def no_claim(data: Data) -> Any:
        return data.parallel.goodput(transport="vegas")

    data = Data("ns2", {"parallel": Cells.of(parallel)})
    with pytest.raises(FourhopError, match=r"check broken, profile ns2: .*found no point"):
        execute.outcome(study.checks["broken"], data)
    with pytest.raises(FourhopError, match="found a Sample; return a claim"):
        execute.outcome(study.checks["no_claim"], data)
    assert execute.outcome(study.checks["broken"], data, quick=True)["verdict"] == "not judged"


def test_captions_say_what_was_run(parallel: SweepResult, single: SweepResult) -> None:
    assert execute.ran(parallel) == "Each point: 3 runs of 6 s, seeds 1–3."
    assert execute.ran(single) == "Each point: 1 run until 330 packets arrived, seed 1."
    study = Study("t", source="s")

    @study.chart
    def both(data: Data) -> Chart:
        """A chart."""
        data.single.goodput()
        return lines(data["parallel"], x="transport", y="fairness")

    @study.chart
    def one(data: Data) -> Chart:
        return table(["a"], [(data.parallel.goodput(transport="vegas"),)])

    results = {"parallel": parallel, "single": single}
    data = Data("ns2", {name: Cells.of(result) for name, result in results.items()})
    found = find.Found("paper", "figure", Path("figure.py"), study, "")
    captions = [
        execute._chart(name, draw, caption, data, results, found).caption
        for name, (caption, draw) in study.charts.items()
    ]
    assert captions == [
        "A chart. Each point: 1 run until 330 packets arrived, seed 1. Each point: 3 runs of 6 s, seeds 1–3.",
        "Each point: 3 runs of 6 s, seeds 1–3.",
    ]


def test_a_cause_that_no_study_has_is_named(papers: Path) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('because=["something", "faster"]', 'because="smth"'), encoding="utf-8")
    found = find.load(papers, "some-paper/tiny")
    with pytest.raises(FourhopError, match="check empty: because: found no cause 'smth', allowed: something, faster"):
        execute.jobs(found, quick=False)


def test_the_verdict_on_a_figure() -> None:
    assert execute.overall([]) is None
    assert execute.overall(["reproduced", "reproduced"]) == "reproduced"
    assert execute.overall(["reproduced", "not reproduced"]) == "partly"
    assert execute.overall(["not reproduced"]) == "not reproduced"


def test_the_papers_of_this_repository_load_and_name_their_sources() -> None:
    papers = ROOT / "papers"
    for found in find.load_all(papers, find.names(papers)):
        assert found.text, found.path
        assert found.study.charts, found.path
        for check in found.study.checks.values():
            assert check.paper, f"{found.path}: {check.name}"


def test_runs_that_ended_before_their_packets_had_arrived_are_counted() -> None:
    base = Scenario.chain(hops=1, **STEADY).with_(duration="6s")
    found = execute._cut_short(fourhop.sweep(base, {"packets": [110, 100_000, 200_000]}, runs=2))
    assert found == 4
    timed = fourhop.sweep(Scenario.chain(hops=1, duration="2s"), {"topology.hops": [1]}, runs=1)
    assert execute._cut_short(timed) == 0, "its end is its duration"
