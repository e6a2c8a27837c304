"""The state of the gateway: packets that wait, and flows that it tracks.

Section 4.3 argues that a flow never needs more room in the pacing queue than its receiver advertises, 64 packets here,
and all flows together the sum of that; that state is removed when a connection closes or falls silent; and that new
flows simply pass unpaced when the buffer is full.
"""

from functools import partial
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Sample, Study, table, table_by
from fourhop.study.claims import above, below, between, every

from ._common import ASSUMED, CHAIN_NODES, PAPER, chain, parallel, random, variant
from ._measures import gateway

WINDOW = 64 * 1_460
"""Payload bytes of the advertised window, the same for every flow."""

FLOWS = {"chain": 1, "parallel": 2, "random": 8}
RUNS = 10
FILES = 20

study = Study(
    "Buffer and flow table of the gateway",
    source=f"{PAPER}, section 4.3",
    assumed=[
        *ASSUMED,
        "64 segments of 1460 bytes are 93 kB; the paper calculates with 187 kB per flow, twice that, and with 37 MB "
        "for 200 flows.",
        "Receivers have a buffer of that size, so that the window they advertise is 64 segments too.",
        "Bytes are those of payload; headers of 40 bytes per packet come on top.",
        f"{RUNS} runs of 100 s: one flow over a chain of five hops, two over parallel chains, eight in random "
        "networks, all into the mesh.",
    ],
)


def _gap(scenario: Scenario, **keys: Any) -> Scenario:
    return variant(scenario, "gap-gc").with_(**{"tcp.receive_buffer": f"{WINDOW}B"}, **keys)


@study.sweep
def networks(profile: Profile) -> Sweep:
    made = {
        "chain": chain(profile, 5, "down"),
        "parallel": parallel(profile, ("down", "down")),
        "random": random(profile, ("down",) * 8),
    }
    return Sweep(variants={name: _gap(scenario) for name, scenario in made.items()}, runs=RUNS)


@study.sweep
def full(profile: Profile) -> Sweep:
    base = parallel(profile, ("down", "down"))
    return Sweep(
        variants={"room for one": _gap(base, **{"gateway.buffer": f"{WINDOW}B"}), "room": _gap(base)}, runs=RUNS
    )


@study.sweep
def closing(profile: Profile) -> Sweep:
    base = parallel(profile, ("down", "down"), duration="200s").resolved
    flows = [
        {"name": f"file-{n}", "from": "B", "to": CHAIN_NODES * (n % 2), "transport": "newreno", "app": "transfer"}
        | {"size": "30kB", "start": f"{1 + 5 * n}s"}
        for n in range(FILES)
    ]
    return Sweep(variants={"files": _gap(Scenario.from_dict({**base, "flows": flows}))}, runs=RUNS)


def counted(data: Data, network: str, name: str) -> Sample:
    return data.networks.measure(gateway(name), variant=network)


@study.chart
def held(data: Data) -> Chart:
    """Maximum payload bytes waiting, of one flow and of all; packets that waited, and packets that left early."""
    names = ("most_held_in_a_flow", "most_held", "waited", "early")
    rows = [(network, n, n * WINDOW, *(counted(data, network, name) for name in names)) for network, n in FLOWS.items()]
    return table(
        ["network", "flows", "advertised windows", "maximum of one flow", "maximum of all", "waited", "early"], rows
    )


@study.chart
def without_room(data: Data) -> Chart:
    """Two flows with buffer for both or for one: data that should have waited but found no room; goodput (kbit/s)."""
    counted = {"without room": gateway("buffer_full"), "maximum queued (B)": gateway("most_held")}
    columns = {text: partial(Cells.measure, of=of) for text, of in counted.items()}
    return table_by(data.full, "variant", {**columns, "goodput": "goodput"}, heading="buffer")


@study.chart
def connections(data: Data) -> Chart:
    """Twenty files with a connection each: flows that the gateway saw, and why it forgot them."""
    cells = data.closing.where(variant="files")
    rows = [(cells.measure(gateway("flows")), cells.measure(gateway("ended")), cells.measure(gateway("timed_out")))]
    return table(["flows seen", "closed", "silent"], rows)


@study.check("No flow queues more than its advertised window", paper="at maximum awnd packets")
def flow_bound(data: Data) -> Claim:
    return every({name: below(_largest(counted(data, name, "most_held_in_a_flow")), WINDOW + 1.0) for name in FLOWS})


@study.check("All flows together queue no more than the sum of their windows", paper="the sum of all awnd")
def sum_bound(data: Data) -> Claim:
    return every(
        {name: below(_largest(counted(data, name, "most_held")), n * WINDOW + 1.0) for name, n in FLOWS.items()}
    )


@study.check(
    "Without room in the buffer a flow passes unpaced",
    paper="pacing is disabled for new flows",
    assumed="some data finds no room, the buffer is never exceeded, and goodput is at least half of that with room",
)
def passes(data: Data) -> Claim:
    cells = data.full.where(variant="room for one")
    return every(
        {
            "data without room": above(cells.measure(gateway("buffer_full")), 0.0),
            "bytes held": below(_largest(cells.measure(gateway("most_held"))), WINDOW + 1.0),
            "goodput": above(cells.goodput() / data.full.goodput(variant="room"), 0.5),
        }
    )


@study.check(
    "State is removed when a connection closes",
    paper="on a proper termination by FIN and ACK",
    assumed="twenty files of 30 kB; at least 95 % of the flows seen have ended in this way by 200 s",
)
def state_goes(data: Data) -> Claim:
    cells = data.closing.where(variant="files")
    return between(cells.measure(lambda run: gateway("ended")(run) / max(gateway("flows")(run), 1.0)), 0.95, 1.0001)


def _largest(sample: Sample) -> Sample:
    """The largest value of all runs, as an exact number: a bound applies in every run or not at all."""
    largest = max(sample.values)
    return Sample((largest,) * max(len(sample.values), 2), sample.units, sample.unit)
