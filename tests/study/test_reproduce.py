"""`fourhop reproduce` from a study's file to the verdict, with networks small enough for a test."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from fourhop.errors import FourhopError
from fourhop.study import (
    execute,
    find,
)
from tests.conftest import ROOT, Command, environment
from tests.study.conftest import TINY, record
from tests.test_sweep_runs import kept


def test_reproduce_runs_judges_and_computes_nothing_twice(papers: Path, fourhop: Command) -> None:
    out = papers.parent / "report"
    first = fourhop("reproduce", "--jobs", "2")
    assert first.returncode == 0, first.stderr
    assert "1 figure, 12 runs" in first.stderr
    assert re.search(
        r"some-paper/tiny +One hop carries more than two +about twice as much .*reproduced +reproduced", first.stdout
    )
    made = record(out)
    assert made["quick"] is False
    for profile in ("ns2", "standard"):
        more, nothing, empty = made["profiles"][profile]["outcomes"]
        assert (empty["verdict"], empty["because"], empty["why"]) == ("not reproduced", ["something"], "")
        assert [each["verdict"] for each in made["profiles"][profile]["causes"]] == ["reproduced", "not reproduced"]
        assert (more["verdict"], nothing["verdict"]) == ("reproduced", "not reproduced")
        assert more["low"] > 1.2
        assert nothing["why"] == ("because they do" if profile == "standard" else "")
        assert nothing["because"] == (["something"] if profile == "ns2" else [])
        assert nothing["reason"].startswith("criterion: 0.001 ± 15%; the interval says otherwise")
        assert made["profiles"][profile]["verdict"] == "partly"
        (sweep,) = made["profiles"][profile]["sweeps"]
        assert (sweep["runs"], sweep["seeds"], sweep["reused"]) == (6, [1, 3], 0)
        for file in sweep["files"]:
            path = out / "data" / "some-paper" / "tiny" / file
            frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
            assert frame.height == 6
        drawn = pl.read_csv(out / "data" / "some-paper" / "tiny" / f"{profile}-goodput.csv")
        assert drawn.columns == ["line", "hops", "goodput (kbit/s)", "low", "high"]
        pdf = out / "data" / "some-paper" / "tiny" / f"{profile}-goodput.pdf"
        assert pdf.read_bytes().startswith(b"%PDF")
    assert (out / "index.html").is_file()
    again = fourhop("reproduce", "some-paper/tiny", "--strict")
    assert again.returncode == 1
    assert "not reproduced: some-paper/tiny" in again.stderr
    repeated = record(out)
    assert [each["sweeps"][0]["reused"] for each in repeated["profiles"].values()] == [6, 6]
    assert repeated["profiles"]["ns2"]["outcomes"] == made["profiles"]["ns2"]["outcomes"]


def test_reproduce_quick_judges_nothing_and_draws_in_the_report_alone(papers: Path, fourhop: Command) -> None:
    done = fourhop("reproduce", "--quick", "--strict", "--papers", papers)
    assert done.returncode == 0, done.stderr
    assert "8 runs, quick" in done.stderr
    report = papers.parent / "report-quick"
    verdicts = {each["verdict"] for each in record(report)["profiles"]["ns2"]["outcomes"]}
    assert verdicts == {"not judged"}
    assert "<svg" in (report / "paper-some-paper.html").read_text(encoding="utf-8")
    assert not list(report.rglob("*.pdf"))


def test_studies_of_other_profiles_stand_in_one_table(papers: Path, fourhop: Command) -> None:
    standard = TINY.replace('Study("Tiny", ', 'Study("Tiny", profiles=("standard",), ', 1)
    assert standard != TINY
    (papers / "some-paper" / "radio.py").write_text(standard, encoding="utf-8")
    done = fourhop("reproduce", "--quick", "--papers", papers)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^some-paper/radio .* - +not judged$", done.stdout, re.M), done.stdout
    assert re.search(r"^some-paper/tiny .*not judged +not judged$", done.stdout, re.M), done.stdout


def test_reproduce_lists(papers: Path, fourhop: Command) -> None:
    done = fourhop("reproduce", "--list")
    assert done.returncode == 0
    assert re.search(r"some-paper/tiny +3 +ns2, standard +Tiny", done.stdout)
    assert not (papers.parent / "report").exists()
    unknown = fourhop("reproduce", "other-paper")
    assert unknown.returncode == 2
    assert "error: study: found 'other-paper', allowed: some-paper" in unknown.stderr


def test_an_unknown_figure_lists_those_of_its_paper() -> None:
    with pytest.raises(FourhopError) as raised:
        find.chosen(ROOT / "papers", "tcp-ap/f10_responsivenes")
    message = str(raised.value)
    assert message.endswith("(did you mean 'tcp-ap/f10_responsiveness'?)")
    listed = message.split("allowed: ")[1].split(" (")[0].split(", ")
    assert len(listed) > 10
    assert all(name.startswith("tcp-ap/") for name in listed)
    with pytest.raises(FourhopError, match=r"'tcp-ap/nope', allowed: (tcp-ap/\w+(, )?)+ \(did you mean 'tcp-ap/"):
        find.chosen(ROOT / "papers", "tcp-ap/nope")


def test_a_killed_reproduction_goes_on(papers: Path, fourhop: Command) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('"4s"', '"1000s"').replace("runs=3", "runs=4"), encoding="utf-8")
    command = [sys.executable, "-m", "fourhop.cli", "reproduce", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=papers.parent, env=environment(), stderr=subprocess.PIPE, text=True)
    store = papers.parent / "report" / "store"
    deadline = time.monotonic() + 60.0
    while len(kept(store)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command to continue" in errors
    stored = len(kept(store))
    assert 2 <= stored < 16
    again = fourhop("reproduce")
    assert again.returncode == 0, again.stderr
    reused = sum(each["sweeps"][0]["reused"] for each in record(papers.parent / "report")["profiles"].values())
    assert reused == stored


def test_the_recipe_works_word_by_word(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "papers" / "_template", tmp_path / "papers" / "_template")
    text = (ROOT / "docs" / "add-a-figure.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.S | re.M)
    assert len(commands) >= 3
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "set -e\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**environment(), "PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "mine/goodput" in done.stdout
    made = record(tmp_path / "report-quick", "mine/goodput")
    assert made["quick"]
    # The bigger example on the same page is a study, too.
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    (tmp_path / "papers" / "mine" / "parallel.py").write_text(example, encoding="utf-8")
    found = find.load(tmp_path / "papers", "mine/parallel")
    jobs = execute.jobs(found, quick=True)
    results = {(job.world.name, job.name): execute.run(job, tmp_path / "out") for job in jobs}
    made = execute.record(found, results, tmp_path / "out", quick=True)
    assert [chart["kind"] for chart in made["profiles"]["ns2"]["charts"]] == ["bars", "series", "table"]


def test_one_failing_study_does_not_stop_the_others(papers: Path, fourhop: Command) -> None:
    broken = TINY.replace("return above(", "return above(1 / 0 * ", 1)
    (papers / "some-paper" / "broken.py").write_text(broken, encoding="utf-8")
    done = fourhop("reproduce")
    assert done.returncode == 2
    assert "error: some-paper/broken: check more, profile ns2: ZeroDivisionError" in done.stderr
    assert "failed: some-paper/broken" in done.stderr
    assert "some-paper/tiny" in done.stdout
    assert (papers.parent / "report" / "index.html").is_file()
