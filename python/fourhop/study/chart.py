"""Charts as data, without their appearance, which `drawing` defines once for vector figures and interactive ones.

| kind | x | for |
|---|---|---|
| `lines` | numbers | means over a parameter, with intervals |
| `series` | times in s | developments over time, without intervals |
| `bars` | names | flows, links, schemes |
| `table` | | numbers to read |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from fourhop import quantity
from fourhop.errors import FourhopError
from fourhop.stats import Interval
from fourhop.study.cells import KBPS, Cells
from fourhop.study.estimate import Estimate, Sample, number

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["lines", "series", "bars", "table"]

# Scales of a scenario's quantities on an axis: times in s, rates in Mbit/s, lengths in m, sizes in kB, shares as
# fractions of 1; others, such as powers, keep the unit they are written in.
_ON_AXIS = {"a time": 1e-9, "a rate": 1e-6, "a length": 1.0, "a size": 1e-3, "a share": 1e-2}

Measure = str | Callable[[Cells], "Sample | Estimate"]
"""Quantity to draw: `goodput`, `throughput`, `fairness`, a column of the tables, or a function of a cell."""

_LABELS = {
    "goodput": "goodput",
    "throughput": "throughput",
    "fairness": "Jain's fairness index",
    "averaged_fairness": "Jain's fairness index",
    "goodput_bps": "goodput",
    "cwnd_segments": "congestion window (segments)",
    "srtt_s": "smoothed RTT (ms)",
    "pacing_interval_s": "pacing interval (ms)",
    "rtt_s": "round trip (ms)",
    "delay_s": "smoothed n-hop delay (ms)",
    "variation": "coefficient of variation",
    "c3_delay_s": "estimated delay (ms)",
    "c3_true_delay_s": "true delay (ms)",
    "signal_dbm": "signal strength (dBm)",
    "signal_smoothed_dbm": "smoothed signal strength (dBm)",
}
_SERIES_SCALE = {
    name: (label, 1e3 if name.endswith("_s") else 1.0)
    for name, label in _LABELS.items()
    if name.endswith("_s") or name.endswith("_dbm") or name in ("cwnd_segments", "variation")
} | {
    "goodput_bps": (f"goodput ({KBPS})", 1e-3),
    "c3_bandwidth_bps": (f"estimated bandwidth ({KBPS})", 1e-3),
}


@dataclass(frozen=True)
class Line:
    """One curve, or the bars of one colour. `None` means no interval in `low` and `high`, and no measurement in `y`."""

    label: str
    x: list[float] | list[str]
    y: list[float | None]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class Chart:
    """A figure of a study."""

    kind: Kind
    lines: tuple[Line, ...] = ()
    x_label: str = ""
    """With its unit, like every label."""
    y_label: str = ""
    y_min: float | None = 0.0
    y_max: float | None = None
    x_log: bool = False
    steps: bool = False
    """Whether each value lasts until the next one, like that of a window."""
    columns: tuple[str, ...] = ()
    """Headings of a table."""
    rows: tuple[tuple[str, ...], ...] = ()
    name: str = ""
    caption: str = ""
    y_log: bool = False
    """Whether the axis is logarithmic, provided that every mean is above zero."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Chart:
        """The chart from a result of `to_dict`."""
        lines = tuple(Line(**line) for line in plain["lines"])
        rows = tuple(tuple(row) for row in plain["rows"])
        return cls(**{**plain, "lines": lines, "rows": rows, "columns": tuple(plain["columns"])})


def lines(
    cells: Cells,
    x: str,
    y: Measure = "goodput",
    by: str | None = None,
    *,
    labels: Mapping[Any, str] | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    y_min: float | None = 0.0,
    y_max: float | None = None,
    x_log: bool = False,
) -> Chart:
    """A curve over the varied key `x` for each value of `by`, with intervals; `labels` renames the values of `by`.

    Quantities become numbers: times in s, rates in Mbit/s, lengths in m, sizes in kB, shares as fractions of 1. Name
    the unit in `x_label`.
    """
    groups = {"": cells} if by is None else cells.by(by)
    made = [
        line(_label(value, labels), {place: _measured(cell, y) for place, cell in group.by(x).items()})
        for value, group in groups.items()
    ]
    unit = _unit(cells, y)
    return Chart(
        "lines",
        tuple(made),
        x_label or x.rsplit(".", 1)[-1].replace("_", " "),
        y_label or _y_label(y, unit),
        y_min,
        y_max,
        x_log,
    )


def curves(
    of: Mapping[str, Mapping[Any, Sample | Estimate]], x_label: str, y_label: str, *, x_log: bool = False
) -> Chart:
    """Curves by label, each with measurements by their x value; gains are in %."""
    return Chart("lines", _lines(of), x_label, y_label, _least(of), x_log=x_log)


def groups(
    of: Mapping[str, Mapping[str, Sample | Estimate]], y_label: str = f"goodput ({KBPS})", *, y_max: float | None = None
) -> Chart:
    """Groups of bars: for the label of each colour, measurements by name of the group; gains are in %."""
    return Chart("bars", _lines(of), "", y_label, _least(of), y_max)


def _least(of: Mapping[str, Mapping[Any, Sample | Estimate]]) -> float | None:
    """Lower end of the y axis; `None` with gains, which may be negative."""
    gains = (isinstance(each, Estimate) and each.gain for points in of.values() for each in points.values())
    return None if any(gains) else 0.0


def _lines(of: Mapping[str, Mapping[Any, Sample | Estimate]]) -> tuple[Line, ...]:
    return tuple(line(label, points) for label, points in of.items())


def line(label: str, points: Mapping[Any, Sample | Estimate | Interval], *, scale: float = 1.0) -> Line:
    """A curve, or bars of one colour, from the measurement at each x value, times `scale`; gains are in %."""
    each = [_point(measured, scale) for measured in points.values()]
    places = [place if isinstance(place, int | float) else str(place) for place in points]
    plain = [at for place in places if (at := as_number(place)) is not None]
    if plain and len(plain) == len(places):
        places = list(plain)
    return Line(label, places, *(list(column) for column in zip(*each, strict=True)))  # type: ignore[arg-type]


def bars(
    cells: Cells,
    by: str,
    y: Measure = "goodput",
    *,
    flows: Mapping[str, str] | None = None,
    labels: Mapping[Any, str] | None = None,
    y_label: str | None = None,
    fairness: bool = True,
) -> Chart:
    """Groups of bars: one group per flow, one colour per value of `by`, with Jain's index beside its name.

    `flows` selects and renames the flows. If `y` is a function or `"fairness"`, there is one bar per value of `by`.
    """
    names = flows if flows is not None else {name: name for name in cells.flows}
    made = []
    for value, group in cells.by(by).items():
        label = _label(value, labels)
        if y == "goodput":
            if fairness and len(names) > 1:
                label = f"{label} (fairness {number(group.fairness().mean)})"
            made.append(line(label, {shown: group.goodput(flow) for flow, shown in names.items()}))
        else:
            made.append(line(label, {"": _measured(group, y)}))
    return Chart("bars", tuple(made), "", y_label or _y_label(y, _unit(next(iter(cells)), y)))


def shares(
    cells: Cells, flows: Mapping[str, str], labels: Mapping[Any, str], *, fairness: str = "fairness {:.2f}"
) -> Chart:
    """Bars for each flow and for the total, one colour per variant, with Jain's index beside its name."""
    return groups(
        {
            f"{labels[name]} ({fairness.format(group.fairness().mean)})": {
                **{shown: group.goodput(flow) for flow, shown in flows.items()},
                "all": group.goodput(),
            }
            for name, group in cells.by("variant").items()
        }
    )


def series(
    cells: Cells,
    quantity: str = "goodput_bps",
    *,
    by: str | None = None,
    flows: Mapping[str, str] | None = None,
    labels: Mapping[Any, str] | None = None,
    seed: int | None = None,
    y_label: str | None = None,
) -> Chart:
    """A line over time for each flow and each value of `by`, from one run: that of `seed`, or the first one."""
    import polars as pl

    groups = {"": cells} if by is None else cells.by(by)
    names = flows if flows is not None else {name: name for name in cells.flows}
    made: list[Line] = []
    label = ""
    for value, group in groups.items():
        table = group.series()
        if table.is_empty():
            raise FourhopError("a chart over time: found no time series; set `sample_every` in the scenario")
        one = table.filter(pl.col("seed") == (table["seed"].min() if seed is None else seed))
        of = _label(value, labels)
        shown = {
            flow: ", ".join(filter(None, (of, name if len(names) > 1 or not value else "")))
            for flow, name in names.items()
        }
        lines, label = over_time(one, quantity, shown)
        made += lines
    return Chart("series", tuple(made), "time (s)", y_label or label)


def over_time(table: pl.DataFrame, quantity: str, flows: Mapping[str, str]) -> tuple[list[Line], str]:
    """A line for each flow of a run's time series, renamed by `flows`, and the label of the y axis."""
    import polars as pl

    label, scale = _SERIES_SCALE.get(quantity, (quantity.replace("_", " "), 1.0))
    made = []
    for flow, shown in flows.items():
        rows = table.filter(pl.col("flow") == flow).sort("time_s")
        y = [None if x is None else scale * x for x in rows[quantity].to_list()]
        made.append(Line(shown, rows["time_s"].to_list(), y, [None] * len(y), [None] * len(y)))
    return made, label


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Chart:
    """A table of text; samples and estimates are written with their intervals."""
    shown = tuple(tuple(_text(value) for value in row) for row in rows)
    for row in shown:
        if len(row) != len(columns):
            raise FourhopError(f"a table: found a row with {len(row)} of {len(columns)} values; give one per column")
    return Chart("table", columns=tuple(columns), rows=shown)


def table_by(
    cells: Cells,
    by: str,
    columns: Mapping[str, Measure],
    labels: Mapping[Any, str] | None = None,
    *,
    heading: str | None = None,
) -> Chart:
    """One row per value of `by`, or of `labels`, which renames them; one column per measure."""
    rows = [
        (_label(value, labels), *(_measured(cells.where(**{by: value}), y) for y in columns.values()))
        for value in labels or cells.values(by)
    ]
    return table([by if heading is None else heading, *columns], rows)


def _measured(cell: Cells, y: Measure) -> Sample | Estimate:
    if callable(y):
        return y(cell)
    if y in ("goodput", "throughput", "fairness"):
        return getattr(cell, y)()  # type: ignore[no-any-return]
    return cell.column(y)


def _unit(cells: Cells, y: Measure) -> str:
    measured = _measured(next(iter(cells)), y)
    return "%" if isinstance(measured, Estimate) and measured.gain else measured.unit


def _y_label(y: Measure, unit: str) -> str:
    name = getattr(y, "__name__", "value") if callable(y) else y
    text = _LABELS.get(name, name.replace("_", " "))
    return f"{text} ({unit})" if unit else text


def _label(value: Any, labels: Mapping[Any, str] | None) -> str:
    return (labels or {}).get(value, str(value))


def as_number(place: float | str) -> float | None:
    """A number, or a quantity with its unit, as a number on an axis; `None` for a word.

    >>> as_number("100ms"), as_number("11Mbps"), as_number("50%"), as_number(3), as_number("newreno")
    (0.1, 11.0, 0.5, 3, None)
    """
    if not isinstance(place, str):
        return place
    try:
        found = quantity.parse(place)
    except ValueError:
        return None
    if not found.unit:
        return None
    return round(found.value * _ON_AXIS[found.kind], 12) if found.kind in _ON_AXIS else float(found.number)


def _point(measured: Sample | Estimate | Interval, scale: float) -> list[float | None]:
    interval = measured.interval if isinstance(measured, Sample) else measured
    value = interval.mean if isinstance(interval, Interval) else interval.value
    if isinstance(interval, Estimate) and interval.gain:
        ends = (value, interval.low, interval.high)
        return [None if x is None or not math.isfinite(x) else 100.0 * (x - 1.0) for x in ends]
    return [None if x is None or not math.isfinite(x) else scale * x for x in (value, interval.low, interval.high)]


def _text(value: object) -> str:
    if isinstance(value, Sample):
        return str(value.estimate)
    shown = number(value) if isinstance(value, float) else str(value)
    # A format such as `.2f` writes what a few runs leave unknown as `nan`.
    return "unknown" if shown.partition(" ")[0].lstrip("+-") == "nan" else shown
