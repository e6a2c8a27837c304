"""The pictures of the README: its statements about the first are true, and the second marks non-differences."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image

import fourhop
from fourhop import Scenario
from fourhop.cli import demo
from fourhop.study.cells import Cells
from fourhop.study.estimate import Sample
from fourhop.study.measures import MEASURES
from tests.conftest import ROOT, loaded


@pytest.fixture(scope="module")
def cells() -> Cells:
    """The ends of the demo's picture and the points that the README names, as the demo measures them."""
    chain = Scenario.chain(hops=1, duration="40s", tcp={"delivery_ages": True})
    over: dict[str, list[Any]] = {"transport": ["newreno", "vegas", "tcp-ap"], "topology.hops": [3, 5, 8]}
    return Cells.of(fourhop.sweep(chain, over, runs=10))


def test_what_the_readme_says_of_the_demo(cells: Cells) -> None:
    assert set(cells.values("transport")) == set(demo.TRANSPORTS)
    goodput, delay = (
        {(t, h): MEASURES[what].of(cells.where(transport=t, hops=h)) for t in demo.TRANSPORTS for h in (3, 5, 8)}
        for what in ("goodput", "delay")
    )

    def low(estimate: object) -> float:
        found = getattr(estimate, "low", None)
        assert found is not None
        return float(found)

    for hops in (5, 8):
        assert low(goodput["tcp-ap", hops] - goodput["newreno", hops]) > 0.0
        assert low(delay["newreno", hops] / delay["tcp-ap", hops]) > 2.0
        assert low(delay["newreno", hops] / delay["vegas", hops]) > 1.2
    assert low(goodput["newreno", 3] - goodput["tcp-ap", 3]) > 0.0


@pytest.fixture(scope="module")
def picture() -> types.ModuleType:
    """Load the script as a module."""
    return loaded("scripts/comparison_picture.py")


def sample(*values: float) -> Sample:
    return Sample(values, tuple(range(len(values))))


def test_a_difference_within_its_interval_has_no_colour(picture: types.ModuleType) -> None:
    more, less = picture.PANELS[0], picture.PANELS[2]
    base = sample(100.0, 120.0, 140.0)
    assert more.shade(base, base) is None
    assert more.shade(sample(110.0, 115.0, 145.0), base) is None
    # Twice the goodput has the full colour, and an eighth of the age has the same blue.
    assert more.shade(sample(200.0, 240.0, 281.0), base) == 1.0
    assert more.shade(sample(50.0, 60.0, 69.0), base) == 0.0
    assert less.shade(sample(12.0, 15.0, 17.0), base) == 1.0
    # The pairs all differ by the same: certain, and pale.
    assert 0.5 < more.shade(sample(104.0, 124.1, 144.0), base) < 0.6


def test_the_picture_has_a_scale_for_each_table(picture: types.ModuleType, cells: Cells) -> None:
    of = {("chain", t): cells.where(transport=t, hops=8) for t in ("newreno", "tcp-ap")}
    figure = picture.draw(picture.tables(of), {"chain": "Chain, 8 hops"}, {"newreno": "NewReno", "tcp-ap": "TCP-AP"})
    tables, scales = figure.axes[::2], figure.axes[1::2]
    assert len(tables) == len(scales) == 4
    assert [label.get_text() for label in scales[0].get_yticklabels()] == ["÷ 2\nworse", "NewReno", "× 2\nbetter"]
    assert [label.get_text() for label in scales[2].get_yticklabels()] == ["× 8\nworse", "NewReno", "÷ 8\nbetter"]
    # One flow has no fairness; both ages are shown, and TCP-AP's is far smaller.
    newreno, tcp_ap = (float(text.get_text()) for text in tables[2].texts)
    assert tcp_ap < newreno / 2
    assert [text.get_text() for text in tables[1].texts] == ["", ""]


@pytest.mark.parametrize(
    ("name", "study"),
    [("comparison-ns2", "side_by_side"), ("comparison-standard", "side_by_side"), ("modern-mesh", "modern_mesh")],
)
def test_the_comparison_is_drawn_from_the_numbers_beside_it(
    picture: types.ModuleType, name: str, study: str, tmp_path: Path
) -> None:
    kept, subject = ROOT / "docs" / "img" / f"{name}.png", picture.SUBJECTS[study]
    made = picture.read(json.loads(kept.with_suffix(".json").read_text(encoding="utf-8")))
    assert list(made[0]) == [(network, transport) for network in subject.networks for transport in subject.labels]
    picture.save(made, tmp_path / "drawn.png", subject)
    ours, drawn = (image.imread(path)[..., :3] for path in (kept, tmp_path / "drawn.png"))
    assert ours.shape == drawn.shape
    # Letters may be drawn slightly differently elsewhere; another number differs by hundreds of pixels.
    assert np.mean(np.abs(ours - drawn) > 0.2) < 5e-4


def test_predictions_of_battlemesh_are_drawn_from_the_numbers_beside_them(tmp_path: Path) -> None:
    script = loaded("scripts/mesh_picture.py")
    kept = ROOT / "docs" / "img" / "battlemesh-v11.png"
    dots = json.loads(kept.with_suffix(".json").read_text(encoding="utf-8"))
    script.save(dots, tmp_path / "drawn.png")
    ours, drawn = (image.imread(path)[..., :3] for path in (kept, tmp_path / "drawn.png"))
    assert ours.shape == drawn.shape
    assert np.mean(np.abs(ours - drawn) > 0.2) < 5e-4
