"""The scenario as a document, and as TOML like that written by people."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from typing import Any

from fourhop.community import routers
from fourhop.community.channels import channel_plan
from fourhop.community.network import Network, Note
from fourhop.community.options import Options
from fourhop.community.radio import Radio, radio_keys
from fourhop.errors import FourhopError

HOST = "internet"
"""Name of the host on the other side."""


_WIRED = {"rate": "50Mbps", "delay": "15ms"}
_MARGIN_US = 2
"""`mac.propagation_margin` unless distances need more: 600 m."""
_LIGHT_M_US = 299.8


def names_of(network: Network) -> dict[str, str]:
    """Names valid in a scenario: unique, one line of at most 64 characters without a comma, and not like `n3`."""
    taken: set[str] = set()
    names = {}
    for number, (id_, node) in enumerate(network.nodes.items()):
        # Leaves room for prefixes and suffixes.
        visible = (" " if unicodedata.category(it) in ("Cc", "Zl", "Zp") or it == "," else it for it in node.name)
        plain = " ".join("".join(visible).split())[:52].strip() or f"node-{number}"
        plain = f"node-{plain}" if re.fullmatch(r"n\d+|localhost|gateway-\d+", plain) or plain == HOST else plain
        name, again = plain, 2
        while name in taken:
            name, again = f"{plain}-{again}", again + 1
        taken.add(name)
        names[id_] = name
    return names


def document_of(
    network: Network,
    gateways: list[str],
    entries: list[dict[str, Any]],
    options: Options,
    kind: Radio,
    unmeasured: str,
    farthest_m: float,
    routes: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """The sections of the scenario, except its flows."""
    radio, mac = radio_keys(options, kind)
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    names = names_of(network)
    places = [node.place for node in network.nodes.values() if node.place is not None]
    if network.in_metres:
        topology: dict[str, Any] = {"kind": "positions", "positions": [[f"{a:.1f}m", f"{b:.1f}m"] for a, b in places]}
    else:
        topology = {"kind": "coordinates", "coordinates": [[round(a, 6), round(b, 6)] for a, b in places]}
    margin_us = int(farthest_m / _LIGHT_M_US) + 1
    if margin_us > _MARGIN_US:
        mac["propagation_margin"] = f"{margin_us}us"
    # `--set` applies to known models, too.
    given_cost = any(override.replace(" ", "").startswith("link.packet_cost=") for override in options.overrides)
    nodes: list[dict[str, Any]] = []
    for id_, node in network.nodes.items():
        gain = {} if node.antenna_dbi is None else {"antenna_gain": f"{node.antenna_dbi:g}dB"}
        router = routers.find(node.model) if node.model and kind.link and not given_cost else None
        cost = {} if router is None else {"packet_cost": f"{router.packet_cost_us}us"}
        ends = {} if node.forwards else {"forwards": False}
        nodes.append({"node": numbers[id_], "name": names[id_], **gain, **cost, **ends})
    wired = {
        "wired": {"gateways": [numbers[id_] for id_ in gateways], "nodes": [HOST], **_WIRED},
        # Radios with their own FQ-CoDel fill their aggregates from it.
        "gateway": {"kind": "plain" if kind.link else "fq-codel"},
    }
    return {
        "name": options.name,
        "profile": "standard",
        "duration": "40s",
        "warmup": "10s",
        "topology": topology,
        "radio": radio | ({"unmeasured": unmeasured} if entries and unmeasured != "path-loss" else {}),
        "mac": mac,
        "link": {"arp": False, **kind.link},
        "routing": {"protocol": "static", "metric": "ett", "metric_over_fades": True},
        **({} if options.pairs else wired),
        "nodes": nodes,
        "radios": channel_plan(network),
        "losses": entries,
        "routes": routes,
    }


def put(document: dict[str, Any], override: str) -> None:
    """Put `section.key=value` into a document; the value is left to the scenario checker."""
    path, mark, written = override.partition("=")
    *sections, key = path.strip().split(".")
    if not mark or not key or len(sections) > 1 or isinstance(document.get(sections[0] if sections else key), list):
        raise FourhopError(f"--set: found {override!r}, allowed: SECTION.KEY=VALUE, as radio.exponent=2.5")
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written.strip()
    (document.setdefault(sections[0], {}) if sections else document)[key] = value
    # Remove keys made meaningless by the value, as `--set` does for a file.
    if path.strip() == "radio.fading":
        gone = {"rician": (), "rayleigh": ("rician_k",)}.get(str(value), ("rician_k", "doppler"))
        document["radio"] = {key: value for key, value in document["radio"].items() if key not in gone}


def toml(document: dict[str, Any], notes: Sequence[Note], sources: str) -> str:
    """The document as people would write it, with one line per list entry."""
    lines = [
        f"# {line}"
        for line in (f"Made by `fourhop import` from {sources}." if sources else "Made by `fourhop import`.",)
    ]
    lines += [f"# {note}" for note in notes]
    lines += [f"{key} = {_value(value)}" for key, value in document.items() if not isinstance(value, dict | list)]
    for section, keys in document.items():
        if isinstance(keys, dict):
            lines += ["", f"[{section}]"]
            for key, value in keys.items():
                if key in ("coordinates", "positions"):
                    lines += [f"{key} = [", *(f"    {_value(each)}," for each in value), "]"]
                else:
                    lines.append(f"{key} = {_value(value)}")
    for section, listed in document.items():
        if isinstance(listed, list):
            for each in listed:
                lines += ["", f"[[{section}]]", *(f"{key} = {_value(value)}" for key, value in each.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
