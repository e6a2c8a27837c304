"""Saturated 802.11n for fourhop and ns-3 in compare.py: the same positions, radio, limits and rates of responses.

benches/ns3/wifi.cc lists the changes from ns-3's defaults. ns-3 draws other random numbers, so goodputs agree only in
the mean.
"""

import math
from typing import Any

RADIO = {
    "model": "sinr",
    "phy": "ht",
    "mcs": 7,
    "basic_rate": "6Mbps",
    "frequency": "5180MHz",
    # Defaults of ns-3: power including two antenna gains, log-distance from 1 m on.
    "tx_power": "16.0206dBm",
    "path_loss": "log-distance",
    "exponent": 3.0,
    "reference_loss": "46.6777dB",
    "noise_figure": "7dB",
    "implementation_loss": "0dB",
    "preamble_sinr": "4dB",
    "frame_capture": "none",
}
# Places in metres and flows (from, to).
Network = tuple[list[tuple[float, float]], list[tuple[int, int]]]


def cell(stations: int) -> Network:
    """Stations on a circle of 1 m; each sends to the one in its middle."""
    angles = [2 * math.pi * n / stations for n in range(1, stations + 1)]
    around = [(math.cos(angle), math.sin(angle)) for angle in angles]
    return [(0.0, 0.0), *around], [(n, 0) for n in range(1, stations + 1)]


ASIDE = 2.0


def chain(hops: int) -> Network:
    """One flow over hops of 10 m, whose packets take every hop although all nodes hear each other.

    In a straight line, the rounding of delays would decide whether the outer nodes hear a slot of the middle one.
    """
    step = math.sqrt(10.0**2 - ASIDE**2)
    return [(step * n, n % 2 * ASIDE) for n in range(hops + 1)], [(0, hops)]


def document(network: Network) -> dict[str, Any]:
    """The scenario: 1,500 bytes of IP every 100 us from each sender."""
    places, flows = network
    sender = {"transport": "udp", "app": "cbr", "payload": "1472B", "rate": "117.76Mbps"}
    return {
        "profile": "standard",
        "duration": "100s",
        "warmup": "1s",
        "topology": {"kind": "positions", "positions": [[f"{x:.6f}m", f"{y:.6f}m"] for x, y in places]},
        "radio": RADIO,
        "mac": {"answer_rate": "mandatory", "rts_threshold": "64kB"},
        "link": {"queue_limit": 115},
        "routing": {"protocol": "static"},
        "routes": [{"node": n, "to": b, "via": n + 1} for a, b in flows for n in range(a, b)],
        "flows": [{"from": a, "to": b, "start": f"{100 + 13 * a}ms", **sender} for a, b in flows],
    }
