"""Route flapping on a slow walk: plain AODV with HELLO messages, and the paper's AODV with signal strength.

HELLO messages are sent at 1 Mbit/s and reach farther than data at 11 Mbit/s. Plain AODV takes a neighbour whose HELLO
it hears for one it can send to, loses its frames, and notices only when the next HELLO is missing.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, above, below, table_by

from ._common import ASSUMED, HYSTERESIS_DB, PAPER, PLAIN, SPEEDS, aware, walking

ROUTING = {
    "plain": "AODV with HELLO messages",
    "plain-ll": "the same, with links broken by lost frames",
    "aware": "signal strength, as in the paper",
    "aware-h": f"and {HYSTERESIS_DB:g} dB of hysteresis",
}
HOPS = 4

study = Study(
    "Routes that flap on a slow walk",
    source=f"{PAPER}, section 3.2",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "The paper claims stable routes and does not measure them. A walk of 120 s along four hops at 0.33 m/s passes "
        "three laptops, so three changes of the next hop are needed.",
        "Plain AODV follows RFC 3561, and its links break by lost frames. With HELLO messages alone it never notices "
        "that data no longer arrives, because it still hears the server: it keeps a dead link.",
    ],
)


@study.sweep
def walks(profile: Profile) -> Sweep:
    of = {
        "plain": dict(PLAIN),
        "plain-ll": {**PLAIN, "link_layer_detection": True},
        "aware": aware(),
        "aware-h": aware(signal_hysteresis=f"{HYSTERESIS_DB:g}dB"),
    }
    return Sweep(
        variants={name: walking(profile, HOPS, SPEEDS["slow"], routing=keys) for name, keys in of.items()}, runs=20
    )


@study.chart
def changes(data: Data) -> Chart:
    """Changes of the next hop and searches of the client, time-outs of TCP, throughput."""
    columns = {"changes": "route_changes", "searches": "route_discoveries", "time-outs": "timeouts"}
    return table_by(data.walks, "variant", {**columns, "throughput": "goodput"}, ROUTING, heading="routing")


@study.check(
    "Signal strength avoids most changes of the route",
    paper="stable routes, no flapping",
    assumed="below a third of plain AODV's; partly: below two thirds",
)
def fewer_changes(data: Data) -> Claim:
    ratio = data.walks.column("route_changes", variant="aware") / data.walks.column("route_changes", variant="plain-ll")
    return below(ratio, 1.0 / 3.0).or_partly(below(ratio, 2.0 / 3.0))


@study.check(
    "With signal strength a walk has hardly more route changes than laptops it passes",
    paper="stable routes, no flapping",
    assumed="below six for three laptops; partly: below nine",
)
def hardly_more(data: Data) -> Claim:
    seen = data.walks.column("route_changes", variant="aware")
    return below(seen, 6.0).or_partly(below(seen, 9.0))


@study.check(
    "Stable routes increase throughput",
    paper="frequent breakages stall the transfer",
    assumed="more than with plain AODV",
)
def worth(data: Data) -> Claim:
    return above(data.walks.goodput(variant="aware") / data.walks.goodput(variant="plain-ll"), 1.0)
