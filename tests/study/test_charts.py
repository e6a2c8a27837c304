"""Charts: their contents, and how they are drawn."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.markers import CARETDOWN, CARETUP

from fourhop.errors import FourhopError
from fourhop.study import (
    Cells,
    Chart,
    Sample,
    bars,
    curves,
    draw,
    groups,
    lines,
    series,
    shares,
    table,
    table_by,
)
from fourhop.study.chart import Line
from fourhop.study.drawing import describe
from fourhop.sweeps.result import SweepResult


def test_charts_hold_what_was_measured(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    chart = bars(cells, by="transport", labels={"vegas": "Vegas"}, flows={"flow-1": "upper", "flow-2": "lower"})
    assert [line.x for line in chart.lines] == [["upper", "lower"]] * 2
    assert chart.lines[1].label.startswith("Vegas (fairness ")
    interval = cells.goodput("flow-1", transport="vegas").interval
    assert (chart.lines[1].y[0], chart.lines[1].low[0]) == (interval.mean, interval.low)
    assert chart.y_label == "goodput (kbit/s)"
    assert Chart.from_dict(json.loads(json.dumps(chart.to_dict()))) == chart
    over = series(cells, "srtt_s", by="transport")
    assert [line.label for line in over.lines][:2] == ["newreno, flow-1", "newreno, flow-2"]
    assert over.y_label == "smoothed RTT (ms)"
    shown = table(["a", "b"], [("x", cells.goodput(transport="vegas"))])
    assert re.fullmatch(r"\d+(\.\d+)? \[.+, .+\] kbit/s", shown.rows[0][1])
    with pytest.raises(FourhopError, match="found a row with 1 of 2 values; give one per column"):
        table(["a", "b"], [("x",)])
    unknown = (f"{math.nan:.2f}", f"{math.nan:+.1f} %", math.nan, "nanometres")
    assert table(["a", "b", "c", "d"], [unknown]).rows == (("unknown", "unknown", "unknown", "nanometres"),)
    both = table_by(cells, "transport", {"sum": "goodput", "timed out": "timeouts"}, {"vegas": "Vegas"}, heading="by")
    assert (both.columns, len(both.rows)) == (("by", "sum", "timed out"), 1)
    assert both.rows[0] == ("Vegas", shown.rows[0][1], str(cells.column("timeouts", transport="vegas").estimate))
    assert table_by(cells, "transport", {"sum": "goodput"}).columns == ("transport", "sum")


def test_bars_of_one_flow_have_no_fairness(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    words = ["fairness" in line.label for line in bars(cells, "transport").lines]
    alone = [line.label for line in bars(cells, "transport", flows={"flow-1": "one"}).lines]
    unfair = [line.label for line in bars(cells, "transport", fairness=False).lines]
    assert words == [True, True]
    assert alone == unfair == ["newreno", "vegas"]


def test_curves_and_groups_are_drawn_as_given(parallel: SweepResult) -> None:
    cells = Cells.of(parallel).by("transport")
    points = {name: {2: each.goodput()} for name, each in cells.items()}
    drawn = curves(points, "hops", "goodput (kbit/s)")
    assert [(line.label, line.x, line.y) for line in drawn.lines] == [
        (name, [2], [each.goodput().mean]) for name, each in cells.items()
    ]
    assert (drawn.kind, drawn.x_label, drawn.y_label) == ("lines", "hops", "goodput (kbit/s)")
    bar = groups({"all": {"sum": cells["vegas"].goodput()}}, y_max=9.0)
    assert (bar.kind, bar.y_label, bar.y_max, bar.lines[0].x) == ("bars", "goodput (kbit/s)", 9.0, ["sum"])
    assert bar.y_min == 0.0


def test_gains_are_drawn_in_percent_and_may_be_losses() -> None:
    much, little = (Sample((value,) * 3, (1, 2, 3)) for value in (40.0, 20.0))
    gains = {"Vegas": {"chain": much / little, "cross": little / much}}
    for made in (
        groups(gains, "gain (%)"),
        curves({"Vegas": {1: much / little, 2: little / much}}, "hops", "gain (%)"),
    ):
        (line,) = made.lines
        assert (line.y, line.low, line.high) == ([100.0, -50.0],) * 3
        axis = describe(made).y
        assert axis.low < -50.0 < 100.0 < axis.high
    # Bars begin at 0 even if all gain, and one wide interval does not flatten them.
    wide = Chart("bars", (Line("Vegas", ["a", "b"], [10.0, 20.0], [5.0, -900.0], [15.0, 900.0]),), y_min=None)
    assert (describe(wide).y.low, describe(wide).y.high) == (-20.0, 40.0)
    assert describe(wide).curves[0].cut_low == (1,)


def test_shares_are_those_of_each_flow_and_of_all() -> None:
    class Uneven:
        """Two flows that share unevenly, by variant."""

        mean = 0.8

        def by(self, key: str) -> dict[str, Any]:
            assert key == "variant"
            return {"ap": self}

        def goodput(self, flow: str | None = None) -> Sample:
            return Sample(({"flow-1": 3.0, "flow-2": 1.0, None: 4.0}[flow],), (1,))

        def fairness(self) -> Uneven:
            return self

    (line,) = shares(Uneven(), {"flow-2": "low", "flow-1": "up"}, {"ap": "TCP-AP"}).lines  # type: ignore[arg-type]
    assert (line.label, line.x, line.y) == ("TCP-AP (fairness 0.80)", ["low", "up", "all"], [1.0, 3.0, 4.0])


def test_a_chart_over_time_needs_time_series(single: SweepResult) -> None:
    with pytest.raises(FourhopError, match="found no time series; set `sample_every`"):
        series(Cells.of(single))


def chart_of(kind: str) -> Chart:
    x: list[float] | list[str] = ["a", "b", "c"] if kind == "bars" else [1.0, 2.0, 3.0]
    first = Line("one & two", x, [1.0, None, 3.0], [0.5, None, None], [1.5, None, None])
    return Chart(kind, (first, Line("three", x, [2.0, 2.0, 2.0], [None] * 3, [None] * 3)), "x (s)", "y (kbit/s)")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["lines", "series", "bars"])
def test_figures_are_vectors_that_take_the_ink_of_the_page(kind: str) -> None:
    text = draw.svg(chart_of(kind), "here")
    assert "y (kbit/s)" in text
    assert "one &amp; two" in text
    assert "currentColor" in text
    assert not re.search(r"\d\.\d{3}|\s\s|font-family", text), "nothing that nobody sees"
    assert "#010203" not in text
    assert "<image" not in text
    head = text[: text.index(">")]
    assert "viewBox" in head
    assert " width=" not in head
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert all(each.startswith("here-") for each in ids)
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) == set(ids)
    assert draw.svg(chart_of(kind), "here") == text, "the same data give the same figure"
    patch = text[: text.index("</g>")]
    assert "fill: none" in patch or 'fill="none"' in patch, "the page is the background"


def test_one_wide_interval_does_not_flatten_the_curves() -> None:
    line = Line("x", [1.0, 2.0], [10.0, 20.0], [9.0, -500.0], [11.0, 540.0])
    axes = draw.figure(Chart("lines", (line,), "x", "y")).axes[0]
    assert axes.get_ylim() == (0.0, 40.0)


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_a_value_without_an_interval_is_open_and_has_no_whisker(kind: str) -> None:
    chart = chart_of(kind)
    (curve, _), (axes,) = describe(chart).curves, draw.figure(chart).axes
    assert (curve.y, curve.low, curve.high) == ((1.0, None, 3.0), (0.5, None, None), (1.5, None, None))
    segments = [each for drawn in axes.collections for each in drawn.get_segments()]  # type: ignore[attr-defined]
    assert [each.tolist()[0][1] for each in segments if len(each)] == [0.5], "one whisker"
    if kind == "bars":
        open_ = [bar.get_facecolor() == to_rgba(draw._PAPER) for bar in axes.patches]
        assert open_ == [False, True, True, True, True, True]
    else:
        unfilled = [line for line in axes.lines if line.get_markerfacecolor() == draw._PAPER]
        drawn = [[y for y in np.asarray(line.get_ydata()) if not math.isnan(y)] for line in unfilled]
        assert drawn == [[3.0], [2.0] * 3]
        closed = axes.containers[0][0]
        assert all(line.get_zorder() > closed.get_zorder() for line in unfilled)


def test_an_interval_beside_its_value_reaches_from_the_value_to_its_far_end() -> None:
    line = Line("", [1.0, 2.0], [10.0, 20.0], [11.0, 15.0], [12.0, 19.0])
    (axes,) = draw.figure(Chart("lines", (line,), "x", "y")).axes
    ends = [each.tolist() for drawn in axes.collections for each in drawn.get_segments()]  # type: ignore[attr-defined]
    assert [[y for _, y in each] for each in ends] == [[10.0, 12.0], [15.0, 20.0]]


def test_bars_stand_beside_each_other_around_the_name_of_their_group() -> None:
    (axes,) = draw.figure(chart_of("bars")).axes
    middles = sorted(bar.get_x() + bar.get_width() / 2.0 for bar in axes.patches)  # type: ignore[attr-defined]
    assert middles == pytest.approx([-0.2, 0.2, 0.8, 1.2, 1.8, 2.2])
    assert all(0.3 < bar.get_width() < 0.4 for bar in axes.patches), "they do not touch"  # type: ignore[attr-defined]


def test_charts_side_by_side_have_the_size_of_each_and_one_legend() -> None:
    made = draw.side_by_side([chart_of("lines"), chart_of("lines")])
    assert tuple(made.get_size_inches()) == pytest.approx((2 * draw.WIDTH_IN, draw.HEIGHT_IN))
    assert [axes.get_legend() for axes in made.axes] == [None, None]
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["one & two", "three"]


@pytest.mark.parametrize(("label", "legend", "shown"), [("a", True, True), ("a", False, False), ("", True, False)])
def test_axes_of_others_get_a_legend_if_curves_have_names(label: str, legend: bool, shown: bool) -> None:
    from matplotlib.figure import Figure

    mine = Figure().subplots()
    drawing = describe(Chart("lines", (Line(label, [1.0], [1.0], [None], [None]),), "x", "y"))
    assert draw.axes(drawing, into=mine, legend=legend) is mine
    assert (mine.get_legend() is not None) == shown


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_an_arrow_says_that_an_interval_leaves_the_axis(kind: str) -> None:
    x: list[float] | list[str] = [1.0, 2.0, 3.0] if kind == "lines" else ["a", "b", "c"]
    line = Line("", x, [10.0, 20.0, 10.0], [9.0, -500.0, 8.0], [11.0, 540.0, 40.0])
    chart = Chart(kind, (line,), "x", "y")  # type: ignore[arg-type]
    (curve,) = describe(chart).curves
    assert (curve.cut_low, curve.cut_high) == ((1,), (1,)), "an interval that ends on the axis stays on it"
    (axes,) = draw.figure(chart).axes
    arrows = [line for line in axes.lines if line.get_marker() in (CARETUP, CARETDOWN) and len(line.get_xdata())]  # type: ignore[arg-type]
    ends = sorted((line.get_ydata()[0], line.get_marker()) for line in arrows)  # type: ignore[index]
    assert ends == [(0.0, CARETDOWN), (40.0, CARETUP)]


def test_ticks_stand_where_something_was_measured_unless_they_would_cover_each_other() -> None:
    def labels(places: list[float], *, x_log: bool = False) -> list[str]:
        line = Line("", places, [1.0] * len(places), [None] * len(places), [None] * len(places))
        return [label for _, label in describe(Chart("lines", (line,), "hops", "y", x_log=x_log)).x.ticks]

    assert labels([1.0, 2.0, 4.0, 16.0]) == ["1", "2", "4", "16"]
    assert labels([1000.0, 1001.0, 1002.0]) == ["1000", "1001", "1002"]
    assert labels([float(x) for x in range(1, 41)]) == ["0", "10", "20", "30", "40"], "whole numbers stay whole"
    assert labels([0.1, 0.2, 0.3, 100.0]) == ["0", "20", "40", "60", "80", "100"]
    assert labels([0.1, 1.0, 1.01, 100.0], x_log=True) == ["0.1", "1", "100"]


def test_what_is_counted_over_time_has_whole_ticks() -> None:
    def labels(kind: str, *y: float) -> list[str]:
        line = Line("", [float(t) for t in range(len(y))], [*y], [None] * len(y), [None] * len(y))
        return [label for _, label in describe(Chart(kind, (line,), "x", "y")).y.ticks]  # type: ignore[arg-type]

    assert labels("series", 0.0, 1.0, 3.0) == ["0", "1", "2", "3"]
    assert "0.5" in labels("series", 0.0, 0.5, 3.0)
    assert "0.5" in labels("lines", 0.0, 1.0, 3.0), "means over runs lie between"


def test_names_of_groups_stand_apart() -> None:
    def labels(*groups: str) -> list[str]:
        line = Line("", list(groups), [1.0] * len(groups), [None] * len(groups), [None] * len(groups))
        return [label for _, label in describe(Chart("bars", (line,), "", "y")).x.ticks]

    assert labels("chain", "cross", "parallel") == ["chain", "cross", "parallel"]
    assert labels("into the mesh", "out of the mesh", "") == ["into the mesh", "out of the mesh"]
    several = ("chain", "cross", "parallel", "grid", "random", "gateway", "moving")
    assert labels(*several) == ["chain", "\ncross", "parallel", "\ngrid", "random", "\ngateway", "moving"]
    # No drawn label covers another.
    line = Line("", list(several), [1.0] * 7, [None] * 7, [None] * 7)
    drawn = draw.figure(Chart("bars", (line,), "", "y"))
    drawn.draw_without_rendering()
    boxes = [label.get_window_extent() for label in drawn.axes[0].get_xticklabels()]
    ends = [(box.x0, box.x1) for box in boxes]
    assert all(one[1] + 2.0 < other[0] for one, other in zip(ends, ends[2:], strict=False)), "two lines are enough"
    assert any(one[1] + 8.0 > other[0] for one, other in itertools.pairwise(ends)), "less than a blank apart on one"


def test_a_transport_has_one_colour_in_every_chart() -> None:
    def styles(kind: str, *labels: str) -> dict[str, tuple[str | None, tuple[float, ...]]]:
        x: list[float] | list[str] = ["a"] if kind == "bars" else [1.0]
        chart = Chart(kind, tuple(Line(label, x, [1.0], [None], [None]) for label in labels), "x", "y")  # type: ignore[arg-type]
        return {curve.label: (curve.colour, curve.dash) for curve in describe(chart).curves}

    one = styles("lines", "NewReno", "NewReno + delayed ACK", "TCP-AP (fairness 0.9)", "Vegas", "each HELLO")
    other = styles("lines", "Vegas", "TCP-AP", "NewReno")
    assert one["NewReno"] == other["NewReno"]
    assert one["Vegas"] == other["Vegas"]
    assert one["TCP-AP (fairness 0.9)"] == other["TCP-AP"]
    assert one["NewReno + delayed ACK"][0] == one["NewReno"][0]
    assert len(set(one.values())) == 5, "what shares a colour has another dash"
    assert one["each HELLO"][0] not in {one[name][0] for name in ("NewReno", "Vegas", "TCP-AP (fairness 0.9)")}
    # Bars have no dashes but paler colours.
    assert len({colour for colour, _ in styles("bars", "RBP", "RBP 1", "RBP 2", "RBP 3").values()}) == 4
    assert len({colour for colour, _ in styles("bars", "RBP", "RBP, signal-strength AODV", "Vegas").values()}) == 3
    variant, plain = styles("bars", "TCP-GAP without goodput control (fairness 0.9)", "TCP-GAP (fairness 1)").values()
    assert plain[0] == other["TCP-AP"][0] != variant[0], "whichever comes first"
    assert len(set(styles("lines", *(f"flow-{n}" for n in range(9))).values())) == 9
    # A label may name its transport in brackets, followed by another one.
    (mixed,) = styles("lines", "flow-2 (NewReno)").values()
    assert mixed[0] == one["NewReno"][0]
    assert styles("bars", "TCP-GAP, CUBIC")["TCP-GAP, CUBIC"][0] == other["TCP-AP"][0]
    assert styles("bars", "standard TCP")["standard TCP"][0] == one["NewReno"][0]


@pytest.mark.parametrize("kind", ["lines", "series", "bars"])
def test_a_single_curve_says_what_it_is(kind: str) -> None:
    def shown(label: str) -> list[str]:
        drawn = draw.figure(Chart(kind, (Line(label, [1.0, 2.0], [1.0, 2.0], [None] * 2, [None] * 2),), "x", "y"))  # type: ignore[arg-type]
        return [text.get_text() for legend in drawn.legends for text in legend.get_texts()]

    assert shown("C3TCP") == ["C3TCP"]
    assert shown("") == []


def test_charts_beside_each_other_have_the_same_scales() -> None:
    def chart(kind: str, places: list[float] | list[str], high: float) -> Chart:
        y: list[float | None] = [high] * len(places)
        return Chart(kind, (Line("Vegas", places, y, [None] * len(y), [None] * len(y)),), "x", "y")  # type: ignore[arg-type]

    few, many = chart("lines", [10.0, 30.0], 50.0), chart("lines", [5.0, 20.0, 30.0], 100.0)
    alone, beside, other = describe(few), describe(few, [few, many]), describe(many, [few, many])
    assert (beside.x, beside.y) == (other.x, other.y) != (alone.x, alone.y)
    assert [label for _, label in beside.x.ticks] == ["5", "10", "20", "30"]
    assert describe(few, [few], [few, many]).y == other.y
    assert describe(few, [few], [few, many]).x == alone.x, "what shows the same quantity need not have the same places"
    # A bar that only one chart has leaves a gap in the other.
    some, all_ = chart("bars", ["lower"], 1.0), chart("bars", ["upper", "lower"], 1.0)
    one, both = (describe(each, [all_, some]) for each in (some, all_))
    assert one.x == both.x
    assert (one.curves[0].x, both.curves[0].x) == ((1.0,), (0.0, 1.0))


def test_limits_leave_room_and_hold_what_was_asked_for() -> None:
    line = Line("x", [1.0, 2.0], [10.0, 12.0], [9.0, 11.0], [11.0, 13.0])
    for chart, limits in (
        (Chart("lines", (line,), "x", "y"), (0.0, 13.65)),
        (Chart("lines", (line,), "x", "y", y_max=12.0), (0.0, 12.0)),
        (Chart("lines", (line,), "x", "y", y_min=None), (8.8, 13.2)),
        (Chart("series", (), "x", "y"), (0.0, 1.05)),
    ):
        axis = describe(chart).y
        assert (axis.low, axis.high) == limits
        assert all(axis.low <= place <= axis.high for place, _ in axis.ticks)
        assert len(axis.ticks) >= 3


def test_lines_take_any_measure(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    chart = lines(cells, "transport", y=lambda cell: cell.share("flow-1"), y_label="share", y_max=1.0)
    assert chart.lines[0].x == ["newreno", "vegas"]
    assert chart.y_max == 1.0


def test_quantities_are_numbers_on_an_axis(parallel: SweepResult) -> None:
    chart = lines(Cells.of(parallel).where(transport="vegas"), "rate", x_label="rate (Mbit/s)")
    assert chart.lines[0].x == [2.0]
