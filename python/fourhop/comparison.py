"""Comparison of scenarios over the same seeds, with the interval of each difference.

Two scenarios run with the same seed see the same random network and the same starting points. That luck cancels in the
difference of the two runs, so the interval is Student's t over the paired differences; it is often tighter than the
intervals of the two means suggest. Ratios are ratios of the means, with Fieller's interval (`study.estimate`). Only
seeds that both scenarios have are compared.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop.errors import FourhopError
from fourhop.limits import RUNS_LIMIT, within
from fourhop.scenario import Scenario
from fourhop.shown import WIDTH, page, table, to_csv
from fourhop.study.cells import Cells
from fourhop.study.estimate import Estimate, Sample
from fourhop.study.measures import MEASURES, Measured
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.execute import SweepProgress, sweep
from fourhop.sweeps.result import SweepResult

if TYPE_CHECKING:
    import polars as pl

RUNS = 10
"""Pairs of runs by default: the interval then reaches 2.26 standard errors to either side."""

COMPARED = ("goodput", "fairness", "delay", "resent")
"""Measures to compare, by the names of `study.measures`."""


@dataclass(frozen=True)
class Difference:
    """One quantity measured in two scenarios, at one combination of the other varied keys."""

    place: Mapping[str, Any]
    """The other varied keys with their values here."""
    name: Any
    """Value of the compared key."""
    against: Any
    """Value of that key in the base."""
    measured: Measured
    """The measure."""
    ours: Sample
    """Samples with `name`."""
    theirs: Sample
    """Samples with `against`, on the same seeds."""

    @property
    def n(self) -> int:
        """Number of pairs of runs."""
        return len(self.ours.values)

    @cached_property
    def difference(self) -> Estimate:
        """Mean of `ours` minus mean of `theirs`, in the unit of the measure."""
        return self.ours - self.theirs

    @cached_property
    def ratio(self) -> Estimate:
        """Mean of `ours` over mean of `theirs`."""
        return self.ours / self.theirs

    @property
    def differs(self) -> bool | None:
        """Whether the interval of the difference excludes zero; `None` without an interval."""
        low, high = self.difference.low, self.difference.high
        return None if low is None or high is None else low > 0.0 or high < 0.0


@dataclass(frozen=True)
class Comparison:
    """Measurements of scenarios, compared with one of them."""

    by: str
    """The key whose values are compared."""
    against: Any
    """The value that the others are compared with."""
    differences: tuple[Difference, ...]
    result: SweepResult
    """The runs behind the comparison."""

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per combination of other keys, compared value and measure, in the unit at the end of its name.

        `mean` and `against_mean` are means over the `n` pairs. The 95 % intervals of `difference` and `ratio` are in
        the columns `..._low` and `..._high`.
        """
        import polars as pl

        rows = [self._row(each) for each in self.differences]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _row(self, each: Difference) -> dict[str, Any]:
        scale = each.measured.scale

        def ends(name: str, estimate: Estimate, scale: float) -> dict[str, float | None]:
            values = {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
            return {key: None if value is None or math.isnan(value) else value / scale for key, value in values.items()}

        return {
            **each.place,
            self.by: each.name,
            "against": each.against,
            "measure": each.measured.column,
            "n": each.n,
            "mean": each.ours.mean / scale,
            "against_mean": each.theirs.mean / scale,
            **ends("difference", each.difference, scale),
            **ends("ratio", each.ratio, 1.0),
        }

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The table as CSV with a header line: written to `path`, or returned as text without one.

        Raises `FourhopError` if the file cannot be written.
        """
        return to_csv(self.table, path)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows of the printed table; a difference whose interval includes zero is in parentheses."""
        keys = list(self.differences[0].place) if self.differences else []
        columns = [*(key.rsplit(".", 1)[-1] for key in keys), self.by.rsplit(".", 1)[-1], "measure", "n", "mean"]
        rows = []
        for each in self.differences:
            digits = 3 if each.measured.column == "jain" else 1
            difference = _text(each.difference.value, digits, "+")
            if each.difference.high is not None:
                difference += f" ± {each.difference.high - each.difference.value:.{digits}f}"
            ratio = _text(each.ratio.value, 2)
            if each.ratio.low is not None and each.ratio.high is not None:
                ratio += f" [{each.ratio.low:.2f}, {each.ratio.high:.2f}]"
            means = (_text(sample.mean, digits) for sample in (each.ours, each.theirs))
            cells = [*map(str, each.place.values()), str(each.name), each.measured.title, str(each.n), *means]
            rows.append([*cells, difference if each.differs else f"({difference})", ratio])
        return [*columns, f"of {self.against}", "difference", "ratio"], rows

    @property
    def note(self) -> str:
        """Remark below the table on how to read it."""
        seeds = self.result.runs["seed"].unique().sort()
        return (
            f"difference: from {self.by} {self.against}, paired by seed ({seeds[0]} to {seeds[-1]}), ± half-width of "
            "its 95 % interval, in parentheses if that includes zero; ratio: of the means, with its 95 % interval"
        )

    def __str__(self) -> str:
        """The table as text."""
        columns, rows = self.texts()
        words = len(columns) - 5
        return "\n".join([*table(columns, rows, [*[False] * words, *[True] * 5]), "", *textwrap.wrap(self.note, WIDTH)])

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return f"{page(*self.texts())}<p><small>{html.escape(self.note)}</small></p>"


def compare(
    what: Mapping[str, Scenario] | Scenario | SweepResult,
    over: Mapping[str, Iterable[Any]] | None = None,
    *,
    by: str | None = None,
    against: Any = None,
    runs: int = RUNS,
    seed: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Comparison:
    """Compare scenarios, paired by seed, and estimate each difference with its 95 % interval.

    Args:
        what: scenarios by name; or one scenario, varied by `over`; or the result of a sweep.
        over: keys with their values, as in `Sweep`. Compares the values of the first key, or the named scenarios if
            `what` has names, and repeats the comparison at every combination of the other keys.
        by: the varied key whose values are compared, if it is not the first.
        against: the value that the others are compared with; the first one if not given.
        runs: pairs of runs.
        seed: seed of the first pair; the scenario's if not given.
        out: folder to keep the runs in, as `fourhop.sweep` does.
        jobs: runs at a time; all cores if not given.
        progress: called a few times a second with a `SweepProgress`.

    Returns:
        A `Comparison`. Its `table` has one row per compared value and measure: goodput in bit/s, Jain's index, mean
        round trip in s, and retransmitted packets, each with means, difference, ratio and their 95 % intervals.
        `str()` formats it for reading.

    Raises:
        FourhopError: there is nothing to compare, or an argument cannot be used.
        ScenarioError: a scenario cannot run with any of the seeds.
        IncompleteError: some runs failed.
        SweepInterrupted: Ctrl-C.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=4, duration="10s")
    >>> found = fourhop.compare(chain, {"transport": ["newreno", "tcp-ap"]}, runs=3)
    >>> [(each.name, each.against, each.measured.label, each.n) for each in found.differences][1]
    ('tcp-ap', 'newreno', 'mean round trip', 3)
    """
    if isinstance(what, SweepResult):
        if over is not None:
            raise FourhopError("compare: this sweep has already run: leave out the keys to vary")
        result = what
    else:
        within("runs", runs, 2, RUNS_LIMIT)
        described = Sweep(
            what if isinstance(what, Scenario) else None,
            over or {},
            variants=None if isinstance(what, Scenario) else what,
            runs=runs,
            seed=seed,
            name="comparison",
            source="",
        )
        result = sweep(described, out=out, jobs=jobs, progress=progress)
    return of(result, by, against)


def of(result: SweepResult, by: str | None = None, against: Any = None) -> Comparison:
    """Compare the measurements of a sweep; the arguments are those of `compare`.

    Raises `FourhopError` if there is nothing to compare.
    """
    cells = Cells.of(result, result.sweep.name)
    if by is None and not cells.keys:
        raise FourhopError("compare: nothing to compare: give two scenarios, or a key to vary")
    by = cells.keys[0] if by is None else cells.key(by)
    values = cells.values(by)
    if len(values) < 2:
        raise FourhopError(f"compare: {by} has one value ({values[0]}): give two or more")
    # Also matches the value as text: a shell passes nothing else.
    base = values[0] if against is None else next((each for each in values if str(each) == str(against)), None)
    if base is None:
        raise FourhopError(f"against: found {against!r}, allowed: {', '.join(map(str, values))}")
    places = [{key: one.values(key)[0] for key in cells.keys if key != by} for one in cells.where(**{by: base})]
    found: list[Difference] = []
    for place in places:
        theirs = cells.where(**place, **{by: base})
        for name in values:
            if name == base:
                continue
            ours = cells.where(**place, **{by: name})
            for measured in (MEASURES[each] for each in COMPARED):
                pair = _paired(measured.of(ours), measured.of(theirs))
                # A single flow has no fairness, and datagrams no round trip.
                if not any(all(map(math.isnan, sample.values)) for sample in pair):
                    found.append(Difference(place, name, base, measured, *pair))
    if found and min(each.n for each in found) < 2:
        raise FourhopError("compare: some points share fewer than two seeds: run them with the same seeds")
    return Comparison(by, base, tuple(found), result)


def _paired(ours: Sample, theirs: Sample) -> tuple[Sample, Sample]:
    """Restrict both to their common seeds: with a precision target, each has as many as it needs."""
    common = [seed for seed in ours.units if seed in set(theirs.units)]
    one, other = (
        replace(sample, values=tuple(value for _, value in kept), units=tuple(common), centre=None)
        for sample in (ours, theirs)
        for kept in [[pair for pair in zip(sample.units, sample.values, strict=True) if pair[0] in common]]
    )
    return one, other


def _text(value: float, digits: int, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.{digits}f}"
