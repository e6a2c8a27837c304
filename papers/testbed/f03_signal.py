"""Signal strength of a node that walks away and comes back, raw and smoothed.

The paper smooths with a weight of 0.25 for the newest HELLO. A smaller weight removes more of the fading but follows
the walk later, so the measure of a weight is the distance of the average from the strength without fading. Smaller
steps than those of the raw values show nothing: an average has them even where the raw values are nothing but noise.
"""

from __future__ import annotations

import math
import statistics

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Run, Sample, Study, above, below, between, curves, table

from ._common import ASSUMED, EXPONENT, PAPER, SPACING_M, SPEEDS, hallway, strength_dbm

WALK_S = 2.0 * SPACING_M * 3.0 / SPEEDS["slow"]
"""The walk: three spacings and back at the slow speed."""

WEIGHTS = (0.05, 0.25)
"""A weight of 1 is the raw value."""

FAR_M = 3.0 * SPACING_M
NEAR_M = 2.0

study = Study(
    "Signal strength of a node that walks",
    source=f"{PAPER}, figure 3",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "One node stands, the other walks from 2 m to three spacings and back at 0.33 m/s: the paper gives neither "
        "distance nor speed.",
    ],
    quick={"duration": "40s"},
)


@study.sweep
def walk(profile: Profile) -> Sweep:
    ways = [[1, f"{SPEEDS['slow']}m/s", f"{FAR_M:g}m", "1m"], [1, f"{SPEEDS['slow']}m/s", f"{NEAR_M:g}m", "1m"]]
    scenario = hallway(
        profile,
        1,
        "ping",
        client_at_m=NEAR_M,
        flow={"start": "1s"},
        mobility={"model": "waypoints", "waypoints": ways},
        routing={"protocol": "ssa-aodv", "signal_threshold": "-120dBm"},
        duration=f"{WALK_S:.0f}s",
        warmup="0s",
        sample_every="1s",
    )
    return Sweep(scenario, {"routing.signal_weight": [*WEIGHTS]}, runs=10)


def _mean_at(time_s: float) -> float:
    """The received power without fading."""
    way = SPEEDS["slow"] * time_s
    length = FAR_M - NEAR_M
    metres = NEAR_M + (way if way < length else 2.0 * length - way)
    return strength_dbm(math.hypot(max(metres, NEAR_M), 1.0), EXPONENT)


def _samples(data: Data, weight: float = 0.25) -> dict[int, list[tuple[float, float, float]]]:
    """By seed: time, newest and smoothed signal strength."""
    runs: dict[int, list[tuple[float, float, float]]] = {}
    for row in data.walk.series(signal_weight=weight).sort("seed", "time_s").iter_rows(named=True):
        if row["signal_dbm"] is not None:
            point = (row["time_s"], row["signal_dbm"], row["signal_smoothed_dbm"])
            runs.setdefault(row["seed"], []).append(point)
    return runs


@study.chart
def strength(data: Data) -> Chart:
    """One walk: every HELLO, the average, and the power without fading."""
    points = next(iter(_samples(data).values()))
    shown = {
        "each HELLO": {t: raw for t, raw, _ in points},
        "smoothed": {t: smooth for t, _, smooth in points},
        "without fading": {t: _mean_at(t) for t, _, _ in points},
    }
    known = {label: {t: Sample((dbm,), ()) for t, dbm in each.items()} for label, each in shown.items()}
    return curves(known, "time (s)", "signal strength (dBm)")


def _off(data: Data, column: int, weight: float = 0.25) -> Sample:
    """Root mean square distance to the strength without fading in dB, one value per run."""
    runs = _samples(data, weight)

    def off(run: Run) -> float:
        return math.sqrt(statistics.fmean((point[column] - _mean_at(point[0])) ** 2 for point in runs[run.seed]))

    return data.walk.measure(off, "dB", signal_weight=weight)


def _lag(data: Data) -> Sample:
    """Difference between the average and the strength without fading on the way out, in dB; positive if it lags."""
    runs = _samples(data)

    def lag(run: Run) -> float:
        return statistics.fmean(smooth - _mean_at(t) for t, _, smooth in runs[run.seed] if t < WALK_S / 2.0)

    return data.walk.measure(lag, "dB", signal_weight=0.25)


@study.chart
def distances(data: Data) -> Chart:
    """How far the raw values and the averages are from the strength without fading, in dB."""
    rows = [("each HELLO", _off(data, 1)), *((f"weight {weight:g}", _off(data, 2, weight)) for weight in WEIGHTS)]
    return table(["", "distance (dB)"], rows)


def _lag_alone(data: Data) -> Sample:
    """The distance of the average without fading, one value per run."""
    runs = _samples(data)

    def off(run: Run) -> float:
        points = runs[run.seed]
        average, last, squares = _mean_at(points[0][0]), points[0][1], []
        for time_s, raw, _ in points:
            if raw != last:  # a HELLO has arrived
                average, last = average + 0.25 * (_mean_at(time_s) - average), raw
            squares.append((average - _mean_at(time_s)) ** 2)
        return math.sqrt(statistics.fmean(squares))

    return data.walk.measure(off, "dB", signal_weight=0.25)


@study.cause(
    "where nothing fades the average is as far off: its lag behind the walk exceeds what it removes of the fading"
)
def lags_behind(data: Data) -> Claim:
    return above(_lag_alone(data) - _off(data, 1), 0.0)


@study.check(
    "The average is closer to the strength without fading than the raw value is",
    paper="the raw value fluctuates at short time scales; the average damps that and better tracks the movement",
    assumed="root mean square over the walk",
    because="lags_behind",
)
def calmer(data: Data) -> Claim:
    return below(_off(data, 2) - _off(data, 1), 0.0)


@study.check(
    "A weight of 0.25 is better than one of 0.05",
    paper="preliminary experiments showed good results with it",
    assumed="our own: closer to the strength without fading",
)
def weight(data: Data) -> Claim:
    return below(_off(data, 2) - _off(data, 2, 0.05), 0.0)


@study.check(
    "The average follows the walk",
    paper="tracks the user's movement",
    assumed="on the way out it is on average within 3 dB of the strength without fading; partly: within 6 dB",
)
def follows(data: Data) -> Claim:
    lag = _lag(data)
    return between(lag, -3.0, 3.0).or_partly(between(lag, -6.0, 6.0))
