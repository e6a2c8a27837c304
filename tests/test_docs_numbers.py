"""Numbers and pictures in the documents are those that the commands beside them produce."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib import image

import fourhop
from fourhop import Result, Scenario
from tests.conftest import ROOT, Command

DOCS = ROOT / "docs"

# The picture of the README that `fourhop demo` draws.
DEMO = "goodput-and-delay-over-hops.png"


def text_of(name: str) -> str:
    """A document as one line of words."""
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


def stated(name: str, pattern: str) -> tuple[str, ...]:
    """The numbers of a statement: the groups of a pattern that must occur exactly once."""
    (found,) = re.finditer(pattern, text_of(name))
    return found.groups()


def scenario_named(name: str, file: str) -> Scenario:
    """The scenario that a document shows right after naming its file."""
    text = (DOCS / name).read_text(encoding="utf-8")
    found = re.search(rf"`{re.escape(file)}`[^`]*```toml\n(.*?)```", text, re.S)
    assert found is not None
    return Scenario(found[1], file)


def kbps(result: Result) -> float:
    return result.aggregate.mean / 1e3


def test_a_small_window_brings_what_the_quickstart_says() -> None:
    chain = scenario_named("quickstart.md", "chain.toml")
    three, unlimited = map(int, stated("quickstart.md", r"more than twice .*?, (\d+) against (\d+) kbit/s"))
    with_three, without = (fourhop.run(each, runs=10) for each in (chain.with_(**{"tcp.window": 3}), chain))
    assert (round(kbps(with_three)), round(kbps(without))) == (three, unlimited)
    assert three > 2 * unlimited


def test_two_chains_share_as_the_quickstart_says() -> None:
    result = fourhop.run(scenario_named("quickstart.md", "parallel.toml"), runs=10)
    assert result.jain is not None
    mean, half = stated("quickstart.md", r"Jain's index, here ([\d.]+) ± ([\d.]+)")
    assert (f"{result.jain.mean:.2f}", f"{result.jain.half_width:.2f}") == (mean, half)
    assert "in four of the ten runs one of the two flows gets ten times what the other does" in text_of("quickstart.md")
    runs = [rows["goodput_bps"].to_list() for _, rows in result.flows.group_by("seed", maintain_order=True)]
    unequal = [upper > lower for upper, lower in runs if max(upper, lower) > 10 * min(upper, lower)]
    assert len(unequal) == 4
    assert sum(runs_upper := [upper > lower for upper, lower in runs]) not in (0, len(runs_upper)), (
        "not always the same"
    )


def test_a_precision_of_the_quickstart_is_met() -> None:
    (share,) = stated("quickstart.md", r"`--precision (\d+)%` adds runs")
    result = fourhop.run(scenario_named("quickstart.md", "chain.toml"), precision=f"{share}%")
    assert result.note is None
    assert result.aggregate.half_width is not None
    assert result.aggregate.half_width <= int(share) / 100 * result.aggregate.mean


def test_contention_slows_tcp_ap_as_its_page_says() -> None:
    series = fourhop.explain(ROOT / "scenarios" / "contention.toml").series

    def median_ms(column: str, since: float, until: float) -> float:
        value = series.filter(pl.col("time_s").is_between(since, until))[column].median()
        assert isinstance(value, float)
        return 1e3 * value

    rtt, delay = stated("tcp-ap.md", r"nearly all round trips take (\d+) ms, which makes (\d+) ms over four hops")
    slow, usual = stated("tcp-ap.md", r"the interval stays near (\d+) ms instead of (\d+) ms")
    alone, beside = (5.0, 30.0), (32.0, 60.0)
    assert f"{median_ms('rtt_s', *alone):.0f}" == rtt
    assert f"{median_ms('delay_s', *alone):.0f}" == delay
    assert f"{median_ms('pacing_interval_s', *alone):.0f}" == usual
    assert f"{median_ms('pacing_interval_s', *beside):.0f}" == slow


@pytest.mark.parametrize(
    ("picture", "command", "made"),
    [
        ("tcp-ap-contention.png", ["explain", ROOT / "scenarios" / "contention.toml"], "explain.png"),
        (DEMO, ["demo", "--out", "."], DEMO),
    ],
)
def test_pictures_are_those_that_commands_draw(
    picture: str, command: list[str | Path], made: str, fourhop: Command, tmp_path: Path
) -> None:
    done = fourhop(*command)
    assert done.returncode == 0, done.stderr
    kept, drawn = (image.imread(path)[..., :3] for path in (DOCS / "img" / picture, tmp_path / made))
    assert kept.shape == drawn.shape
    # Letters may be drawn slightly differently elsewhere; a curve that has moved differs by hundreds of pixels.
    assert np.mean(np.abs(kept - drawn) > 0.2) < 5e-4


def test_the_targets_of_the_performance_page_follow_from_its_runs() -> None:
    asked = "import json; from compare import *; kept = json.loads(REPORT.with_suffix('.json').read_text())['runs']; "
    asked += "print('\\n'.join(f'- {line}' for line in targets([Run(**run) for run in kept])))"
    lines = subprocess.run(
        [sys.executable, "-c", asked], cwd=DOCS.parent / "benches", capture_output=True, text=True, check=True
    ).stdout
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert len(lines.splitlines()) == 5
    assert lines in page
