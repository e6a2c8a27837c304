"""Shared by the tests of studies: one tiny study, and two sweeps that run once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop import Scenario
from fourhop.sweeps.result import SweepResult

TINY = '''\
"""One and two hops."""

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, lines

study = Study("Tiny", source="nowhere, figure 1", assumed=["Everything <b>."])


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, duration="4s", warmup="1s", sample_every="1s")
    return Sweep(base, {"topology.hops": [1, 2]}, runs=3)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput, with intervals."""
    return lines(data.chain, x="hops")


@study.check("One hop carries more than two", paper="about twice as much")
def more(data: Data) -> Claim:
    return above(data.chain.goodput(hops=1) / data.chain.goodput(hops=2), 1.2)


@study.check(
    "Two hops carry nothing", paper="nothing", why={"standard": "because they do"}, because={"ns2": "something"}
)
def nothing(data: Data) -> Claim:
    return about(data.chain.goodput(hops=2), 0.001)


@study.cause("Two hops carry something")
def something(data: Data) -> Claim:
    return above(data.chain.goodput(hops=2), 1.0)


@study.cause("Two hops carry more than one")
def faster(data: Data) -> Claim:
    return above(data.chain.goodput(hops=2) / data.chain.goodput(hops=1), 1.0)


@study.check("One hop carries nothing", paper="nothing", why="never shown", because=["something", "faster"])
def empty(data: Data) -> Claim:
    return about(data.chain.goodput(hops=1), 0.001)
'''


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of papers with one tiny study."""
    folder = tmp_path / "papers"
    (folder / "some-paper").mkdir(parents=True)
    (folder / "some-paper" / "tiny.py").write_text(TINY, encoding="utf-8")
    return folder


@pytest.fixture(scope="package")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """Two flows, two transports, three runs, time series."""
    # Closer chains would starve the second flow from the start.
    base = Scenario.parallel_chains(hops=2, separation="600m", duration="6s", warmup="2s", sample_every="1s")
    return fourhop.sweep(
        base,
        {"transport": ["newreno", "vegas"], "radio.rate": ["2Mbps"]},
        runs=3,
        out=tmp_path_factory.mktemp("parallel"),
    )


@pytest.fixture(scope="package")
def single(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """One run, divided by packets."""
    base = Scenario.parallel_chains(hops=1, packets=330, duration="60s")
    return fourhop.sweep(base, {"transport": ["vegas"]}, out=tmp_path_factory.mktemp("single"))


def record(out: Path, name: str = "some-paper/tiny") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "figures" / f"{name}.json").read_text(encoding="utf-8"))
    return found
