"""Figures of any sweep: the position of values, intervals, and refused input."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb

import fourhop
from fourhop import FourhopError, plots, stats, style
from fourhop import look as looks
from fourhop.study import sweepchart
from fourhop.study.cells import Cells
from fourhop.study.chart import Chart, Line
from fourhop.study.drawing import describe
from fourhop.study.measures import MEASURES, named
from fourhop.sweeps.result import SweepResult
from tests.conftest import Command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over transports, lengths and windows, two flows each."""
    made = tmp_path_factory.mktemp("swept")
    base = fourhop.Scenario.parallel_chains(hops=1, duration="3s")
    over: dict[str, list[Any]] = {
        "transport": ["newreno", "tcp-ap"],
        "topology.hops": [1, 2, 3],
        "topology.spacing": ["100m", "200m"],
    }
    fourhop.sweep(base, over, runs=2, out=made)
    return made


@pytest.fixture(scope="module")
def swept(folder: Path) -> SweepResult:
    return SweepResult.load(folder)


def test_lines_are_means_with_intervals_over_the_runs(swept: SweepResult) -> None:
    cells = Cells.of(swept).where(spacing="200m")
    chart = sweepchart.chart(cells)
    assert (chart.kind, chart.x_label, chart.y_label) == ("lines", "hops", "goodput (kbit/s)")
    assert [line.label for line in chart.lines] == ["NewReno", "TCP-AP"]
    runs = swept.runs.filter((swept.runs["transport"] == "tcp-ap") & (swept.runs["topology.spacing"] == "200m"))
    for place, hops in enumerate((1, 2, 3)):
        goodputs = runs.filter(runs["topology.hops"] == hops)["aggregate_goodput_bps"].to_list()
        expected = stats.student_interval([value / 1e3 for value in goodputs])
        line = chart.lines[1]
        assert line.x[place] == hops
        assert (line.y[place], line.low[place]) == pytest.approx((expected.mean, expected.low))


def test_axes_can_be_chosen_and_have_units(swept: SweepResult) -> None:
    cells = Cells.of(swept).where(transport="tcp-ap")
    chart = sweepchart.chart(cells, "delay", x="spacing", by="hops")
    assert (chart.x_label, chart.y_label) == ("spacing (m)", "mean round trip (ms)")
    assert [line.x for line in chart.lines] == [[100.0, 200.0]] * 3
    assert [line.label for line in chart.lines] == ["hops 1", "hops 2", "hops 3"]
    assert sweepchart.chart(cells.where(hops=1), "timeouts").y_label == "timeouts"
    assert sweepchart.chart(cells.where(hops=1), "delivered_bytes").y_label == "delivered (kB)"


def test_a_single_curve_has_the_colour_of_its_transport(swept: SweepResult) -> None:
    both = describe(sweepchart.chart(Cells.of(swept).where(spacing="200m")))
    alone = describe(sweepchart.chart(Cells.of(swept).where(spacing="200m", transport="tcp-ap")))
    assert [curve.colour for curve in alone.curves] == [both.curves[1].colour]
    assert both.curves[0].colour != both.curves[1].colour


def test_words_make_bars_and_one_run_has_no_interval() -> None:
    result = fourhop.sweep(fourhop.Scenario.chain(hops=1, duration="2s"), {"transport": ["vegas", "tcp-ap"]})
    chart = sweepchart.chart(Cells.of(result), "delay")
    assert (chart.kind, chart.x_label) == ("bars", "transport")
    (line,) = chart.lines
    assert line.x == ["Vegas", "TCP-AP"]
    assert line.low == line.high == [None, None]
    # A bar without an interval is hollow: its value is not known exactly.
    axes = plots.sweep(result, "delay")
    assert [min(to_rgb(bar.get_facecolor())) > 0.95 for bar in axes.patches] == [True, True]


def test_truths_and_words_among_numbers_make_bars() -> None:
    result = fourhop.sweep(fourhop.Scenario.chain(hops=1, duration="2s"), {"tcp.window": [2, "none"]}, runs=2)
    chart = sweepchart.chart(Cells.of(result))
    assert (chart.kind, chart.lines[0].x) == ("bars", ["2", "none"])
    assert not sweepchart._numbers([True, False])
    assert sweepchart._numbers(["100m", "2km"])


def test_an_ecdf_counts_every_run_and_flow(swept: SweepResult) -> None:
    cells = Cells.of(swept).where(hops=3, spacing="200m")
    chart = sweepchart.chart(cells, "goodput", kind="ecdf")
    assert [line.label for line in chart.lines] == ["NewReno (n = 4)", "TCP-AP (n = 4)"]
    flows = swept.flows.filter(
        (swept.flows["transport"] == "newreno")
        & (swept.flows["topology.hops"] == 3)
        & (swept.flows["topology.spacing"] == "200m")
    )
    values = sorted(value / 1e3 for value in flows["goodput_bps"])
    line = chart.lines[0]
    assert line.x[1:-1] == pytest.approx(values)
    assert line.y == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    assert (chart.y_max, chart.steps) == (1.0, True)
    alone = sweepchart.chart(cells, "goodput", kind="ecdf", flow="flow-1")
    assert [line.label for line in alone.lines] == ["NewReno (n = 2)", "TCP-AP (n = 2)"]


def test_several_flows_come_together_as_makes_sense(swept: SweepResult) -> None:
    cell = Cells.of(swept).where(hops=2, spacing="200m", transport="newreno")
    flows = [list(run.flows.values()) for run in cell.runs]
    assert MEASURES["throughput"].of(cell).values == pytest.approx(
        [math.fsum(flow["throughput_bps"] for flow in of) / 1e3 for of in flows]
    )
    # A flow without a sample has no round trip; the other flow's is the mean.
    trips = [[flow["rtt_mean_s"] for flow in of if flow["rtt_mean_s"] is not None] for of in flows]
    assert MEASURES["delay"].of(cell).values == pytest.approx([1e3 * sum(of) / len(of) for of in trips])
    assert MEASURES["fairness"].of(cell).values == pytest.approx([run.columns["jain"] for run in cell.runs])
    seconds = named("rtt_mean_s", cell).of(cell, "flow-1").values
    assert seconds == pytest.approx(
        [math.nan if of[0]["rtt_mean_s"] is None else of[0]["rtt_mean_s"] for of in flows], nan_ok=True
    )


def test_several_values_of_a_key_are_shown(
    swept: SweepResult, monkeypatch: pytest.MonkeyPatch, fourhop: Command
) -> None:
    cells = Cells.of(swept).among("transport", ["tcp-ap", "newreno"]).among("hops", [1])
    assert (cells.values("transport"), cells.values("hops")) == (["newreno", "tcp-ap"], [1])
    drawn = []
    monkeypatch.setattr("fourhop.look.axes", lambda chart, _: drawn.append(chart))
    monkeypatch.setattr("fourhop.plots.write", lambda _, path: path)
    folder = swept.store.folder
    several = ("--where", "transport=tcp-ap, newreno", "--where", "hops=1,2", "--where", "spacing=100m")
    assert fourhop("plot", folder, *several).returncode == 0
    assert [line.label for line in drawn[0].lines] == ["NewReno", "TCP-AP"]
    assert {x for line in drawn[0].lines for x in line.x} == {1.0, 2.0}
    for where, said in (
        ("transport=newreno,cubic", "found no point with transport='cubic', allowed: transport: newreno, tcp-ap"),
        ("transport", "--where: found 'transport', allowed: KEY=VALUES, such as transport=cubic,bbr"),
    ):
        refused = fourhop("plot", folder, "--where", where)
        assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr


def test_what_cannot_be_drawn_says_what_can(swept: SweepResult) -> None:
    cells = Cells.of(swept)
    with pytest.raises(
        FourhopError, match=r"shows topology.hops and transport; fix the other: --where topology.spacing=VALUE"
    ):
        sweepchart.chart(cells, x="hops", by="transport")
    with pytest.raises(FourhopError, match=r"y: found 'godput', allowed: goodput, .* rtt_mean_s"):
        plots.sweep(swept, "godput", where={"spacing": "100m"})
    with pytest.raises(FourhopError, match="found no varied key named 'nodes'"):
        plots.sweep(swept, x="nodes")
    with pytest.raises(FourhopError, match="flow: found 'flow-9', allowed: flow-1, flow-2"):
        plots.sweep(swept, "delay", where={"spacing": "100m"}, flow="flow-9")
    with pytest.raises(FourhopError, match="flow: found 'flow-1', allowed: none"):
        plots.sweep(swept, "fairness", where={"spacing": "100m"}, flow="flow-1")
    with pytest.raises(FourhopError, match="kind: found lines over transport, whose values are not numbers"):
        sweepchart.chart(cells.where(spacing="100m", hops=1), kind="lines")
    with pytest.raises(FourhopError, match="kind: found 'pie'"):
        sweepchart.chart(cells, kind="pie")  # type: ignore[arg-type]


def test_every_transport_has_a_name() -> None:
    assert set(style.TRANSPORTS) == set(fourhop.catalog()["transports"])


def test_a_logarithmic_axis_of_y_holds_means_and_cuts_intervals_that_reach_zero() -> None:
    line = Line("a", [1.0, 2.0], [400.0, 20.0], [390.0, -5.0], [410.0, 45.0])
    drawing = describe(Chart("lines", (line,), "hops", "goodput (kbit/s)", y_log=True))
    assert drawing.y.log
    assert 9.0 < drawing.y.low < 10.0
    assert 410.0 < drawing.y.high < 460.0
    assert [label for _, label in drawing.y.ticks] == ["10", "20", "50", "100", "200"]
    assert drawing.curves[0].cut_low == (1,)
    # Zero has no position on a logarithmic axis.
    flat = describe(Chart("lines", (Line("a", [1.0], [0.0], [None], [None]),), "hops", "y", y_log=True))
    assert not flat.y.log


@pytest.mark.parametrize("kind", ["lines", "bars", "ecdf"])
def test_every_kind_is_drawn(swept: SweepResult, tmp_path: Path, kind: sweepchart.Kind) -> None:
    more = {"hops": 2} if kind == "ecdf" else {}
    figure = plots.sweep(swept, kind=kind, by="transport", where={"topology.spacing": "200m", **more})
    assert plots.write(figure, tmp_path / "drawn.svg").read_text(encoding="utf-8").count("TCP-AP") == 1
    with pytest.raises(FourhopError, match=r"found 'a\.gif', allowed: a name that ends in \.png, \.svg or \.pdf"):
        plots.write(figure, tmp_path / "a.gif")


def test_the_command_draws(fourhop: Command, folder: Path, tmp_path: Path) -> None:
    drawn = fourhop("plot", folder, "--y", "delay", "--where", "spacing=100m", "--out", tmp_path / "delay.svg")
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout == f"figure: {tmp_path / 'delay.svg'}\n"
    assert "mean round trip (ms)" in (tmp_path / "delay.svg").read_text(encoding="utf-8")
    shown = (
        "--where",
        "spacing=100m",
        "--size",
        "3x2",
        "--log",
        "y",
        "--xlabel",
        "distance",
        "--out",
        tmp_path / "b.svg",
    )
    assert fourhop("plot", folder, *shown).returncode == 0
    text = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert 'width="216pt" height="144pt"' in text
    assert "distance" in text
    assert "size: found 'poster', allowed: column" in fourhop("plot", folder, *shown[:2], "--size", "poster").stderr
    refused = fourhop("plot", folder, "--where", "hops=7")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "found no point with hops='7', allowed: topology.hops: 1, 2, 3" in refused.stderr
    assert "error: " in fourhop("plot", tmp_path).stderr


def test_a_figure_is_made_for_its_paper(swept: SweepResult, tmp_path: Path) -> None:
    shown: dict[str, Any] = {"by": "transport", "where": {"topology.spacing": "100m"}}
    for size, inches in (("column", (3.5, 2.5)), ("slide", (8.0, 4.5)), ((5.0, 2.0), (5.0, 2.0))):
        axes = plots.sweep(swept, **shown, size=size)  # type: ignore[arg-type]
        made = axes.get_figure(root=True)
        assert made is not None
        assert tuple(made.get_size_inches()) == inches
        # Nothing is outside the picture, not even the legend.
        made.draw_without_rendering()
        legend = made.legends[0].get_window_extent()
        assert legend.x0 >= 0
        assert legend.x1 <= made.bbox.x1
    axes = plots.sweep(
        swept, **shown, log="xy", xlabel="n", ylabel="rate (kbit/s)", labels={"TCP-AP": "ours"}, font_size=7.0
    )
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("n", "rate (kbit/s)")
    assert axes.xaxis.label.get_fontsize() == 7.0
    made = axes.get_figure(root=True)
    assert made is not None
    assert "ours" in [text.get_text() for text in made.legends[0].get_texts()]
    colours = [line.get_color() for line in axes.lines if line.get_label() == "ours"]
    before = plots.sweep(swept, **shown)
    assert colours == [line.get_color() for line in before.lines if line.get_label() == "TCP-AP"]
    # Changes to the returned axes are written.
    axes.set_title("a title of my own")
    assert "a title of my own" in plots.write(axes, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert axes._repr_svg_().startswith("<?xml")  # type: ignore[attr-defined]
    assert not plots.sweep(swept, **shown, legend=False).figure.legends


def test_charts_are_parts_of_a_figure_of_ones_own(swept: SweepResult) -> None:
    from matplotlib.figure import Figure

    whole = Figure(figsize=(7, 3))
    parts = whole.subplots(1, 2)
    for part, spacing in zip(parts, ("100m", "200m"), strict=True):
        drawn = plots.sweep(swept, by="transport", where={"topology.spacing": spacing}, ax=part, font_size=7.0)
        assert drawn is part
        assert part.get_legend() is not None
        assert part.yaxis.label.get_fontsize() == 7.0
    assert whole.axes == list(parts)


def test_what_a_figure_cannot_look_like_is_said(swept: SweepResult) -> None:
    shown: dict[str, Any] = {"by": "transport", "where": {"topology.spacing": "100m"}}
    for look, message in [
        ({"size": "poster"}, "size: found 'poster', allowed: column, page, slide, or width and height in inches"),
        ({"size": (0.1, 2)}, "size: found 0.1 by 2 inches, allowed: 1 to 50"),
        ({"size": 3}, "size: found 3, allowed:"),
        ({"log": "z"}, "log: found 'z', allowed: x, y, xy"),
        ({"labels": {"cubic": "C"}}, "labels: found 'cubic', allowed: "),
        ({"colour": "red"}, "found the keyword 'colour', allowed: ax, size"),
    ]:
        with pytest.raises(FourhopError, match=re.escape(message)):
            plots.sweep(swept, **shown, **look)  # type: ignore[arg-type]
    zero = Chart("lines", (Line("a", [0.0, 1.0], [1.0, 2.0], [None] * 2, [None] * 2),), "x", "y")
    with pytest.raises(FourhopError, match=re.escape("log: found 0.0 on the x axis, allowed: numbers above zero")):
        looks.axes(zero, {"log": "x"})


@pytest.mark.parametrize("first", [100, -998])
def test_measured_positions_are_ticks_if_their_labels_fit_side_by_side(first: int) -> None:
    def ticks(count: int) -> list[str]:
        x = [float(first + 2 * place) for place in range(count)]
        some: list[float | None] = [1.0] * count
        line = Line("a", x, some, some, some)
        return [label for _, label in describe(Chart("lines", (line,), "nodes", "y")).x.ticks]

    width = len(str(first)) + 1
    fit = 48 // width + 1
    assert ticks(fit) == [str(first + 2 * place) for place in range(fit)]
    assert len(ticks(fit + 1)) < fit
