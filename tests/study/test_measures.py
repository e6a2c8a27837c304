"""Measures of a run: over all its flows together, and by names that users can type."""

from __future__ import annotations

import math

import polars as pl
import pytest

from fourhop.errors import FourhopError
from fourhop.study import Cells, Sample
from fourhop.study import flows as together
from fourhop.study.cells import Run
from fourhop.study.measures import named
from fourhop.sweeps.result import SweepResult


def run(*goodputs: float) -> Run:
    """A run with these goodputs; they are twice as high while flows have something to send."""
    flows = {f"flow-{n}": {"goodput_bps": x, "averaged_goodput_bps": 2.0 * x} for n, x in enumerate(goodputs, 1)}
    return Run(1, flows, {})


def test_flows_are_measured_together() -> None:
    uneven, even = run(9e6, 0.9e6, 0.1e6), run(1e6, 1e6)
    assert together.smaller_share(uneven) == pytest.approx(0.01)
    # An equal share is 3.3 Mbit/s.
    assert (together.starving(uneven), together.starving(even)) == (1.0, 0.0)
    assert together.total(together.goodputs)(uneven) == pytest.approx(10_000.0), "kbit/s"
    assert together.total(together.averaged)(uneven) == pytest.approx(20_000.0)
    assert together.fairness(together.goodputs)(uneven) == pytest.approx(100.0 / (3.0 * 81.82))
    assert together.fairness(together.averaged)(even) == pytest.approx(1.0)
    assert math.isnan(together.fairness(together.goodputs)(run(0.0, 0.0)))


def test_windows_of_time_are_measured_one_by_one() -> None:
    """Two flows that take turns every two seconds share evenly in the long run, but not within two seconds."""
    turns = {"flow-1": (3, 4, 7, 8), "flow-2": (5, 6, 9, 10)}
    rows = [
        (seed, flow, float(second), 8.0 if second in own else 0.0)
        for seed in (1, 2)
        for flow, own in turns.items()
        for second in range(1, 11)
    ]

    class Turns(Cells):
        """Cells with these time series and two runs."""

        def __init__(self) -> None:
            pass

        def series(self, **_: object) -> pl.DataFrame:
            return pl.DataFrame(rows, schema=["seed", "flow", "time_s", "goodput_bps"], orient="row")

        def measure(self, of: together.Of, unit: str = "", **_: object) -> Sample:
            return Sample(tuple(of(Run(seed, {}, {})) for seed in (1, 2, 3)), (1, 2, 3), unit)

    assert together.within(Turns(), 2.0, together.smallest_of, 2.0).values[:2] == (0.0, 0.0)
    assert together.within(Turns(), 4.0, together.smallest_of, 2.0).values[:2] == (0.5, 0.5)
    # Until 4 s flow-1 is alone; until 7 and until 10 s the smaller flow has one of three seconds.
    share = together.within(Turns(), 3.0, together.smallest_of, 1.0)
    assert share.values[:2] == pytest.approx(((0.0 + 1 / 3 + 1 / 3) / 3,) * 2)
    assert math.isnan(share.values[2]), "a run without a time series"
    # Nothing arrives in the first two seconds: that window does not count.
    assert together.within(Turns(), 2.0, together.index_of, 0.0).values[:2] == (0.5, 0.5)


def test_a_part_of_both_is_taken_run_by_run() -> None:
    one, other = Sample((1.0, 0.0, 6.0), (1, 2, 3), "kbit/s"), Sample((3.0, 0.0, 2.0), (1, 2, 3), "kbit/s")
    assert together.part_of_both(one, other).values == (0.25, 0.0, 0.75)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("goodput", "goodput (kbit/s)"),
        ("delay", "mean round trip (ms)"),
        ("timeouts", "timeouts"),
        ("delivered_bytes", "delivered (kB)"),
        ("simulated_s", "simulated (s)"),
        ("sent_packets", "sent packets"),
    ],
)
def test_a_measure_has_a_label_and_a_unit(name: str, title: str, parallel: SweepResult) -> None:
    assert named(name, Cells.of(parallel)).title == title


def test_columns_are_measured_in_their_units(parallel: SweepResult) -> None:
    cells = Cells.of(parallel).where(transport="newreno")
    rows = parallel.flows.filter(pl.col("transport") == "newreno").sort("seed", "flow")
    second = rows.filter(pl.col("flow") == "flow-2")

    def measured(name: str, flow: str | None = None) -> list[float]:
        return list(named(name, cells).of(cells, flow).values)

    assert measured("delay", "flow-2") == pytest.approx([1e3 * x for x in second["rtt_mean_s"]])
    assert measured("delivered_bytes", "flow-2") == pytest.approx([x / 1e3 for x in second["delivered_bytes"]])
    assert measured("sent_packets", "flow-2") == second["sent_packets"].to_list()
    # Times and hops of several flows are averaged, everything else is added up.
    pairs = rows["rtt_mean_s"].to_list()
    assert measured("delay") == pytest.approx([5e2 * (x + y) for x, y in zip(pairs[::2], pairs[1::2], strict=True)])
    assert measured("hops") == [2.0, 2.0, 2.0]
    packets = rows["sent_packets"].to_list()
    assert measured("sent_packets") == [x + y for x, y in zip(packets[::2], packets[1::2], strict=True)]
    assert measured("simulated_s") == parallel.runs.filter(pl.col("transport") == "newreno")["simulated_s"].to_list()


@pytest.mark.parametrize(
    ("name", "flow", "message"),
    [
        ("seed", None, "y: found 'seed', allowed: goodput, throughput, fairness, delay, resent, timeouts, "),
        ("delay", "flow-3", "flow: found 'flow-3', allowed: flow-1, flow-2"),
        ("fairness", "flow-1", "flow: found 'flow-1', allowed: none, since Jain's fairness index is a value of all"),
    ],
)
def test_what_cannot_be_measured_is_named(name: str, flow: str | None, message: str, parallel: SweepResult) -> None:
    cells = Cells.of(parallel).where(transport="vegas")
    with pytest.raises(FourhopError) as caught:
        named(name, cells).of(cells, flow)
    assert str(caught.value).startswith(message)
