"""Our own study: the estimates of the link layers compared with the simulator's knowledge, by load of cross traffic.

The delay is compared with the true time both ways without waits in queues; the bandwidth with the capacity that the
cross traffic leaves, which is what UDP carries at the best of several rates.
"""

from collections.abc import Callable

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Estimate, Profile, Sample, Study, curves, ratio, run_by_run, table
from fourhop.study.claims import about, above, below, between, every

from ._common import ASSUMED, BOTH, C3, LABELS, PAPER, VARIANTS, compared, string

LOADS = (0, 100, 200, 400, 600, 800)
"""Rates of each of the two UDP flows in kbit/s."""

MEASURED = (5.0, 25.0)
OFFERED = (600, 800, 1000, 1200, 1400, 1600, 2000)
"""Rates of UDP along the string in kbit/s; the best counts, because an overload carries less."""

UNDER_WAY = (1, 2, 3, 4)
"""Segments that a flow may have in flight."""

TAIL_S = 10e-6 + (192 + 14 * 8) * 1e-6 + 50e-6 - 2 * 25e-6
"""SIFS, ACK at 1 Mbit/s and DIFS in s: equation (3) adds them to each link although the packet is already at the next
node. Without the processing at both ends of a link, which is not part of the equation."""
LINKS = 6
"""There and back."""

study = Study("Accuracy of the estimates", source=f"{PAPER}; our own study", assumed=[*ASSUMED])


def loaded(profile: Profile, load: int) -> Scenario:
    """The string with cross traffic during the whole run."""
    udp = f"{load}kbps" if load else None
    return string(profile, udp=udp, times=("1s", "25s"), duration="25s", warmup="5s", sample_every="500ms")


@study.sweep
def estimated(profile: Profile) -> Sweep:
    variants = {
        f"{name} {load}": scenario for load in LOADS for name, scenario in compared(loaded(profile, load), *C3).items()
    }
    return Sweep(variants=variants, runs=10)


@study.sweep
def limited(profile: Profile) -> Sweep:
    """The newest measurements of a flow with a fixed window in segments, without cross traffic."""
    base = VARIANTS.of(loaded(profile, 0), "c3-newest").with_(**{"flows[0].transport": "cwl"})
    return Sweep(base, {"tcp.limit": UNDER_WAY}, runs=10)


@study.sweep
def available(profile: Profile) -> Sweep:
    variants = {}
    for load in LOADS:
        for offered in OFFERED:
            flow = {"flows[0].transport": "udp", "flows[0].app": "cbr", "flows[0].rate": f"{offered}kbps"}
            variants[f"{load} {offered}"] = loaded(profile, load).with_(**flow)
    return Sweep(variants=variants, runs=5)


def mean(data: Data, name: str, load: int, column: str) -> Sample:
    return data.estimated.over_time(column, "tcp", *MEASURED, variant=f"{name} {load}")


def capacity(data: Data, load: int) -> Sample:
    """The goodput of UDP at its best rate, in bit/s of IP packets."""
    tried = (data.available.over_time("goodput_bps", "tcp", *MEASURED, variant=f"{load} {rate}") for rate in OFFERED)
    best = max(tried, key=lambda goodput: goodput.mean)
    return run_by_run(lambda value: 1e3 * 1500 / 1460 * value, best, unit="bit/s")


def delay_error(data: Data, name: str, load: int) -> Estimate:
    return mean(data, name, load, "c3_delay_s") / mean(data, name, load, "c3_true_delay_s")


def excess(data: Data, name: str, load: int) -> Estimate:
    """Excess of the estimated delay over the true one, in s."""
    return mean(data, name, load, "c3_delay_s") - mean(data, name, load, "c3_true_delay_s")


def measured(data: Data, segments: int) -> Estimate:
    """Ratio of the bandwidth that links measure for a flow with this window in segments to the capacity of the path."""
    newest = data.limited.over_time("c3_bandwidth_bps", "tcp", *MEASURED, limit=segments)
    return ratio(newest, capacity(data, 0))


def bandwidth_error(data: Data, name: str, load: int) -> Estimate:
    return mean(data, name, load, "c3_bandwidth_bps") / capacity(data, load)


@study.chart_each(
    {
        "delays": ((delay_error, "error of the delay (%)"), "How far the estimated delay is above the true one."),
        "bandwidths": (
            (bandwidth_error, "error of the bandwidth (%)"),
            "How far the estimated bandwidth is above the capacity of the path.",
        ),
    }
)
def over_load(data: Data, what: tuple[Callable[[Data, str, int], Estimate], str]) -> Chart:
    error, label = what
    errors = {LABELS[name]: {load: error(data, name, load) for load in LOADS} for name in C3}
    return curves(errors, "each of two UDP flows (kbit/s)", label)


@study.chart
def numbers(data: Data) -> Chart:
    """Means of the averaged measurements: bandwidth in Mbit/s, delay in ms."""
    rows = [
        (
            load,
            1e-6 * capacity(data, load).mean,
            1e-6 * mean(data, "c3", load, "c3_bandwidth_bps").mean,
            1e3 * mean(data, "c3", load, "c3_true_delay_s").mean,
            1e3 * mean(data, "c3", load, "c3_delay_s").mean,
        )
        for load in LOADS
    ]
    return table(["UDP (kbit/s each)", "available", "estimated", "true delay", "estimated delay"], rows)


@study.chart
def by_window(data: Data) -> Chart:
    """The links' estimate without cross traffic, relative to UDP's goodput, by the flow's segments in flight."""
    return table(["segments", "estimated / available"], [(each, measured(data, each)) for each in UNDER_WAY])


@study.check_each(
    BOTH,
    "{}: the estimated delay equals the true one",
    paper="not in the paper",
    assumed="within 10 % at each load; partly: within 25 %",
    because="tails_are_the_excess",
)
def delay_is_true(data: Data, name: str) -> Claim:
    errors = {f"{load} kbit/s": delay_error(data, name, load) for load in LOADS}
    return every(about(errors, 1.0, 0.1)).or_partly(every(about(errors, 1.0, 0.25)))


@study.cause(
    "the delay is too long by the end of each link's exchange, during which the packet is already at the next node: by "
    "SIFS, ACK and DIFS of each link there and back, without processing, within 5 % at each load"
)
def tails_are_the_excess(data: Data) -> Claim:
    by_load = {f"{LABELS[name]}, {load} kbit/s": excess(data, name, load) for name in C3 for load in LOADS}
    return every(about(by_load, LINKS * TAIL_S, 0.05))


@study.cause(
    "a link measures the wait and the transmission of one packet; the path's other links count only insofar as "
    "packets of the flow wait for one another: with one segment in flight the estimate is more than twice the "
    "capacity of the path, and with four less than three quarters of the estimate with one"
)
def depends_on_itself(data: Data) -> Claim:
    fewer, more = (data.limited.over_time("c3_bandwidth_bps", "tcp", *MEASURED, limit=each) for each in (1, 4))
    return every({"one segment": above(measured(data, 1), 2.0), "four over one": below(more / fewer, 0.75)})


@study.check_each(
    BOTH,
    "{}: the estimated bandwidth equals the available bandwidth",
    paper="not in the paper",
    assumed="within 15 % at each load; partly: within a factor of two",
    because="depends_on_itself",
)
def bandwidth_is_true(data: Data, name: str) -> Claim:
    errors = {f"{load} kbit/s": bandwidth_error(data, name, load) for load in LOADS}
    return every(about(errors, 1.0)).or_partly(every(between(errors, 0.5, 2.0)))
