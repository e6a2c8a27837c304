"""Run the networks that `make profile` records: everything that the engine does often.

None of them is measured by compare.py, instructions.py or scale.py, and compare.py cannot draw them either. A longer
run has more weight in the profile.

    PYTHONPATH=FOLDER_OF_THE_MODULE .venv/bin/python benches/train.py
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import make_scenarios
from instructions import FADING, SINR

import fourhop
from fourhop import Scenario

ROOT = Path(__file__).resolve().parent.parent
SEED = 77
N: dict[str, Any] = {"model": "sinr", "tx_power": "20dBm", "exponent": 3.0, "phy": "ht", "basic_rate": "6Mbps"}

# From the folder `scenarios`, 20 s each: gateways, moving nodes, several radios, transports other than NewReno.
FOLDER = [
    *("adhoc-mix", "c3tcp", "gateway-random", "hallway", "parallel", "random", "random-waypoint", "testbed"),
    *("two-channels", "two-gateways", "udp", "walk"),
]


def network(made: tuple[make_scenarios.Places, make_scenarios.Flows], **keys: Any) -> Scenario:
    """A network of make_scenarios.py, with the settings of compare.py: `profile` "ns2", NewReno, AODV."""
    positions, flows = made
    transport = keys.pop("transport", "newreno")
    document: dict[str, Any] = {"profile": "ns2", "warmup": "0s", "tcp": {"window": 64}, **keys}
    document["topology"] = {"kind": "positions", "positions": [[f"{x}m", f"{y}m"] for x, y in positions]}
    document["flows"] = [
        {"from": source, "to": end, "transport": transport, "start": f"{100 * number}ms"}
        for number, (source, end, _) in enumerate(flows)
    ]
    return Scenario.from_dict(document)


def sparse(hops: int, spacing_m: float) -> tuple[make_scenarios.Places, make_scenarios.Flows]:
    """A chain with another spacing."""
    return [(n * spacing_m, 0.0) for n in range(hops + 1)], [(0, hops, hops)]


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """All of them, each with its name."""
    chain, grid, field = make_scenarios.chain, make_scenarios.grid, make_scenarios.field
    yield "chain of 3", network(chain(3), duration="250s")
    yield "chain of 14", network(chain(14), duration="250s")
    yield "chain of 20", network(chain(20), duration="120s")
    yield "grid of 5", network(grid(5, 6, 5), duration="60s")
    yield "grid of 11", network(grid(11, 16, 6), duration="20s")
    yield "field of 90", network(field(90, 8, 2, 8, 11), duration="20s")
    yield "field of 160", network(field(160, 12, 2, 9, 12), duration="20s")
    yield "flood", network(field(900, 16, 2, 8, 13), duration="4s")
    yield "standard chain", network(chain(6), duration="200s", profile="standard")
    yield "standard field", network(field(100, 8, 2, 8, 14), duration="20s", profile="standard")
    yield "tcp-ap", network(chain(3), duration="100s", transport="tcp-ap")
    radio = {key.removeprefix("radio."): value for key, value in SINR.items()}
    fading = radio | {key.removeprefix("radio."): value for key, value in FADING.items()}
    yield "sinr chain", network(chain(15), duration="150s", radio=radio)
    yield "sinr field", network(field(100, 8, 2, 8, 15), duration="15s", radio=radio)
    yield "fading chain", network(sparse(5, 140.0), duration="120s", radio=fading)
    yield "fading field", network(field(80, 8, 2, 8, 16), duration="10s", radio=fading)
    static = {"routing": {"protocol": "static"}, "profile": "standard", "tcp": {"mss": "1460B"}}
    yield "802.11n chain", network(sparse(4, 50.0), duration="20s", radio={**N, "mcs": 3}, **static)
    cell = [(8.0 * n, 0.0) for n in range(5)], [(n, 0, 1) for n in range(1, 5)]
    yield "802.11n cell", network(cell, duration="10s", radio={**N, "mcs": 7}, **static)
    yield (
        "802.11n, Minstrel",
        network(sparse(5, 45.0), duration="15s", radio={**N, "mcs": 7}, mac={"rate_control": "minstrel"}, **static),
    )
    for name in FOLDER:
        yield name, Scenario.from_toml(ROOT / "scenarios" / f"{name}.toml", overrides=["duration=20s"])


def main() -> None:
    for name, scenario in scenarios():
        begun = time.process_time()
        result = fourhop.run(scenario, seed=SEED, jobs=1)
        print(f"{name}: {time.process_time() - begun:.1f} s of processor time, {json.dumps(result.seeds)}", flush=True)


if __name__ == "__main__":
    main()
