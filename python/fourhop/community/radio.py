"""The radio of all nodes: its kinds, how it is chosen by models and rates, and its notes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fourhop import quantity
from fourhop.community import routers
from fourhop.community.network import Network, Note
from fourhop.community.options import Options
from fourhop.text import count

PACKET_COST = "190us"
"""Processor time per packet if the model of a router is unknown: that of an AR9344 (`routers`)."""


@dataclass(frozen=True)
class Radio:
    """A kind of radio, common to all nodes."""

    radio: dict[str, Any]
    """Keys of `[radio]`, `[mac]` and `[link]`."""
    mac: dict[str, Any]
    link: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def with_mcs(cls, phy: str, width: str, frequency: str, mcs: int = 7) -> Radio:
        """802.11n or later with two streams, like most routers of communities, and Linux's queues and rate control."""
        sizes = {"mcs": mcs, "streams": 2, "width": width, "guard_interval": "400ns"}
        return cls(
            {"phy": phy, **sizes, "basic_rate": "6Mbps", "frequency": frequency},
            {"rate_control": "minstrel", "answer_rate": "mandatory"},
            {"queue": "fq-codel", "packet_cost": PACKET_COST},
        )


_LEGACY = ({"rate": "54Mbps", "basic_rate": "6Mbps"}, {"rate_control": "aarf", "answer_rate": "mandatory"})
RADIOS: dict[str, Radio] = {
    "11g": Radio({"phy": "erp-ofdm", **_LEGACY[0], "frequency": "2437MHz"}, _LEGACY[1]),
    "11a": Radio({"phy": "ofdm", **_LEGACY[0], "frequency": "5240MHz"}, _LEGACY[1]),
    "11n": Radio.with_mcs("ht-2.4ghz", "20MHz", "2437MHz"),
    "11n-5ghz": Radio.with_mcs("ht", "40MHz", "5190MHz"),
    "11ac": Radio.with_mcs("vht", "80MHz", "5210MHz", mcs=9),
}
"""Kinds of radio by name."""

_AIR = {"model": "sinr", "tx_power": "20dBm", "exponent": 3.0, "fading": "rician", "rician_k": "6dB"}
_DOPPLER_HZ = 2.0
"""Doppler spread at 2.4 GHz, from people and doors. IEEE 802.11's channel models have 3 there and 6 at 5 GHz (Erceg et
al., TGn Channel Models, 2004, section 4.7); only the ratio matters here."""
TRIES = 20
"""Transmissions of a frame before it is given up. The standard's 7 may end within one fade; Linux tries four rates
several times."""


def kind_of(network: Network, options: Options) -> tuple[Radio, list[Note]]:
    """The kind of radio: as requested, else by the models of the routers and the measured rates."""
    known = {id_: router for id_, node in network.nodes.items() if node.model and (router := routers.find(node.model))}
    unknown = [node.model for id_, node in network.nodes.items() if node.model and id_ not in known]
    rates = [value for link in network.links if link.quality == "rate" for value in (link.there, link.back) if value]
    notes = []
    if unknown:
        notes.append(
            Note(
                "missing",
                f"the radio of {count(len(unknown), 'router')} of an unknown model",
                tuple(dict.fromkeys(unknown)),
            )
        )
    name = options.radio
    if name is None:
        modern = len(known) * 2 >= len(network.nodes) or max(rates, default=0.0) > _TOP_LEGACY
        name = ("11n-5ghz" if rates else "11n") if modern else "11g"
    kind = RADIOS[name]
    if "mcs" not in kind.radio:
        return kind, notes
    streams = routers.usual_streams(known.values(), "2.4" if name == "11n" else "5") or kind.radio["streams"]
    keys = {**kind.radio, "streams": streams}
    if rates and name == "11n-5ghz" and sorted(rates)[int(0.95 * (len(rates) - 1))] <= _TOP_HT20 * streams * 1.05:
        keys["width"] = "20MHz"
        notes.append(Note("missing", "the width of channels; 20 MHz, as hardly any link has a rate that needs more"))
    return replace(kind, radio=keys), notes


_TOP_LEGACY = 54.0
_TOP_HT20 = 72.2
"""Highest rates in Mbit/s: that of 802.11g, and that of one stream of 802.11n in 20 MHz."""


def top_mbps(radio: dict[str, Any]) -> float:
    """The highest rate of a resolved `[radio]`."""
    return quantity.parse(radio["rate"]).value / 1e6


def radio_keys(options: Options, kind: Radio) -> tuple[dict[str, Any], dict[str, Any]]:
    """`[radio]` and `[mac]` of a kind."""
    long = "64kB" if kind.link else "3kB"
    # Doppler grows with frequency: people move more wavelengths per second.
    hertz = quantity.parse(kind.radio["frequency"]).value
    air = {**_AIR, "doppler": f"{_DOPPLER_HZ * hertz / 2.437e9:.2g}Hz"}
    radio = {**air, **kind.radio} | ({} if options.mcast_rate is None else {"basic_rate": options.mcast_rate})
    return radio, {**kind.mac, "rts_threshold": long, "short_retry_limit": TRIES}


def about_air(resolved: dict[str, Any], measured: bool) -> list[Note]:
    """Assumptions of the scenario about radios, routes and pairs without a link."""
    radio, mac, link = (resolved[key] for key in ("radio", "mac", "link"))
    band = "2.4" if quantity.parse(radio["frequency"]).value < 3e9 else "5"
    name = _STANDARDS.get(radio["phy"], radio["phy"])
    if "mcs" in radio:
        streams = {1: "one stream", 2: "two streams"}.get(radio["streams"], f"{radio['streams']} streams")
        aggregates = ", aggregates" if resolved["mac"].get("aggregation", True) else ""
        kind = f"{name} at {band} GHz in {radio['width'].removesuffix('MHz')} MHz, {streams}{aggregates}"
    else:
        kind = f"{name} at {band} GHz"
    control = {"minstrel": "by Minstrel-HT", "aarf": "by AARF"}.get(mac["rate_control"], f"by {mac['rate_control']!r}")
    cost = f"; a packet costs their processors {link['packet_cost']}" if link["packet_cost"] != "0s" else ""
    queue = ", queue packets by FQ-CoDel for each neighbour" if link["queue"] == "fq-codel" else ""
    text = (
        f"all radios are {kind} with {radio['tx_power']}, choose rates {control}{queue} and try a frame "
        f"{mac['short_retry_limit']} times{cost}, unless their model says otherwise"
        if cost
        else f"all radios are {kind} with {radio['tx_power']}, choose rates {control}{queue} and try a frame "
        f"{mac['short_retry_limit']} times"
    )
    how = {
        "path-loss": "pairs without a measured link: distance decides",
        "heard": "pairs without a measured link hear each other by distance, but get no routes",
        "no-link": "pairs without a measured link interfere by distance, but carry no traffic",
        "silent": "pairs without a measured link do not hear each other",
    }
    if resolved["routing"]["protocol"] == "static":
        metric = {"ett": "with the shortest expected time", "hops": "with the fewest hops"}.get(
            resolved["routing"]["metric"], f"with the lowest {resolved['routing']['metric']}"
        )
        routes = f"routes are those {metric} and never change"
    else:
        routes = f"routes are those of {resolved['routing']['protocol']}"
    said = [Note("assumed", text), Note("assumed", routes)]
    return [*said, *([Note("assumed", how[radio["unmeasured"]])] if measured else [])]


_STANDARDS = {
    "erp-ofdm": "802.11g", "ofdm": "802.11a", "ht-2.4ghz": "802.11n", "ht": "802.11n", "vht": "802.11ac",
    "he": "802.11ax", "he-2.4ghz": "802.11ax",
}  # fmt: skip
