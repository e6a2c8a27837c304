"""A configuration of wmediumd as a scenario: its radios, their links, its model of path loss.

Sources: the README and `config.c` of wmediumd (https://github.com/bcopeland/wmediumd), and the output of mininet-wifi
for its own version of it (`mn_wifi/wmediumdConnector.py`): positions with a height, `noise_threshold`, further models.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourhop.community.document import put, toml
from fourhop.community.network import Note
from fourhop.errors import FourhopError
from fourhop.scenario import Scenario
from fourhop.text import count
from fourhop.wmediumd.libconfig import Value, parse

NOISE_DBM = -91
"""Noise of wmediumd's receivers, with which it converts SNRs into signal strengths."""

SNR_DB = 30
"""SNR of pairs that a configuration does not mention."""

_WEAKEST_DB, _STRONGEST_DB = -30, 100
_FADING_DB = 60
"""SNR at which a link loses nothing despite fading."""
_LEAST = 0.001
"""Probabilities closer than this to 0 or 1 are rounded to it."""
_ADDRESS = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
# k T B in dBm for 20 MHz at 290 K.
_THERMAL_DBM = 10.0 * math.log10(1.380649e-23 * 290.0 * 20e6 * 1e3)
_LIGHT_M_S = 299_792_458.0
_HERTZ = 2.412e9
_RADIOS = {"11g": "erp-ofdm", "11a": "ofdm"}
_SPACING_M = 5.0


@dataclass(frozen=True)
class Converted:
    """A scenario converted from a configuration."""

    toml: str
    """The content of the file, with assumptions in comments."""
    addresses: tuple[str, ...]
    """Addresses of the radios, in the order of their nodes."""
    notes: tuple[Note, ...]

    @property
    def maps(self) -> tuple[str, ...]:
        """Values of `fourhop medium --map` that map the radios to these nodes; none if their numbers already do."""
        usual = [f"02:00:00:{n >> 8:02x}:{n & 255:02x}:00" for n in range(len(self.addresses))]
        # hwsim gives each radio two addresses, which differ in one bit.
        plain = [re.sub("^42", "02", address) for address in self.addresses]
        return () if plain == usual else tuple(f"{address}=n{n}" for n, address in enumerate(self.addresses))


def is_one(text: str) -> bool:
    """Whether a text begins like a configuration of wmediumd."""
    return re.match(r"(\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*(ifaces|model)\s*[:=]\s*\{", text, re.S) is not None


def text_of(file: Path) -> str | None:
    """The text of a file if it is a configuration of wmediumd; `None` for any other, or if it cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if is_one(text) else None


def convert(file: Path, text: str, radio: str | None = None, overrides: tuple[str, ...] = ()) -> Converted:
    """The scenario of a configuration. Raises `FourhopError` with file, line and key."""
    if radio is not None and radio not in _RADIOS:
        raise FourhopError(f"--radio: found {radio!r}, allowed: {' or '.join(_RADIOS)}, wmediumd's rates")
    root = parse(str(file), text)
    ifaces = root.need("ifaces", "the radios: { ids = [...]; }")
    model = root.get("model") or Value(str(file), 1, "model", {})
    addresses = _addresses(ifaces)
    notes: list[Note] = []
    noise = model.get("noise_threshold")
    noise_dbm = NOISE_DBM if noise is None else noise.number(-100, -30)
    document: dict[str, Any] = {
        "name": file.stem,
        "profile": "standard",
        "duration": "60s",
        "topology": {"kind": "positions", "positions": _circle(len(addresses))},
        "radio": {
            "model": "sinr",
            "phy": _RADIOS[radio or "11g"],
            "noise_figure": f"{noise_dbm - _THERMAL_DBM:.2f}dB",
        },
        "routing": {"protocol": "static"},
        "nodes": [],
        "losses": [],
    }
    links, kind = ifaces.get("links"), model.get("type")
    # As in wmediumd, links of the interfaces take precedence over the model.
    named = "snr" if links is not None or kind is None else kind.text('"snr", "prob" or "path_loss"')
    if named == "snr":
        listed = links if links is not None else model.get("links")
        document["losses"] = _by_snr(listed, len(addresses), notes)
    elif named == "prob":
        document["losses"] = _by_probability(model, len(addresses), document["radio"], notes)
    elif named == "path_loss":
        _by_distance(model, len(addresses), document, notes)
    else:
        assert kind is not None
        raise kind.error('"snr", "prob" or "path_loss"')
    _left_out(ifaces, model, notes)
    for override in overrides:
        put(document, override)
    text = toml(document, notes, file.name)
    Scenario(text, f"{file.stem}.toml")
    return Converted(text, addresses, tuple(notes))


def _addresses(ifaces: Value) -> tuple[str, ...]:
    ids = ifaces.need("ids", "addresses of radios").values('addresses of radios, such as ["02:00:00:00:00:00"]')
    allowed = 'the address of a radio, such as "02:00:00:00:00:00"'
    found: list[str] = []
    for each in ids:
        if not _ADDRESS.fullmatch(each.text(allowed)):
            raise each.error(allowed)
        if each.it.lower() in found:
            raise each.error("each address once")
        found.append(each.it.lower())
    if len(found) < 2:
        raise ifaces.need("ids", "").error("at least two addresses")
    return tuple(found)


def _circle(nodes: int) -> list[list[str]]:
    """Positions a few metres apart, where only the listed losses matter."""
    radius = _SPACING_M * max(nodes, 3) / (2 * math.pi)
    turns = [2 * math.pi * n / nodes for n in range(nodes)]
    return [[f"{radius * math.cos(turn):.1f}m", f"{radius * math.sin(turn):.1f}m"] for turn in turns]


def _directions(listed: Value | None, nodes: int, what: str) -> dict[tuple[int, int], Value]:
    """The value of each direction. An unlisted direction has the value of the opposite one."""
    allowed = f"(from, to, {what})"
    said: dict[tuple[int, int], Value] = {}
    for link in [] if listed is None else listed.values(f"links: ({allowed}, ...)"):
        start, end, value = link.values(allowed, 3)
        pair = (start.whole(0, nodes - 1), end.whole(0, nodes - 1))
        if pair[0] == pair[1]:
            raise end.error("a radio other than the first")
        said[pair] = value
    return {(b, a): value for (a, b), value in said.items()} | said


def _by_snr(listed: Value | None, nodes: int, notes: list[Note]) -> list[dict[str, Any]]:
    said = {pair: value.number(-1000, 1000) for pair, value in _directions(listed, nodes, "SNR in dB").items()}
    silent = nodes * (nodes - 1) // 2 - len({tuple(sorted(pair)) for pair in said})
    if silent:
        notes.append(Note("assumed", f"{count(silent, 'pair')} without a link: an SNR of {SNR_DB} dB, as in wmediumd"))
    snr = {(a, b): said.get((a, b), SNR_DB) for a in range(nodes) for b in range(nodes) if a != b}
    return _entries(
        {pair: {"snr": f"{min(max(value, _WEAKEST_DB), _STRONGEST_DB):g}dB"} for pair, value in snr.items()}
    )


def _by_probability(model: Value, nodes: int, radio: dict[str, Any], notes: list[Note]) -> list[dict[str, Any]]:
    default = model.get("default_prob")
    usual = 0.0 if default is None else default.number(0, 1)
    listed = _directions(model.get("links"), nodes, "loss probability")
    said = {pair: value.number(0, 1) for pair, value in listed.items()}
    lost = {(a, b): said.get((a, b), usual) for a in range(nodes) for b in range(nodes) if a != b}
    some = sum(_LEAST < share < 1 - _LEAST for share in lost.values())
    if some:
        # Without fading, a link at the lowest rate delivers nearly everything or nearly nothing.
        radio |= {"fading": "rayleigh", "doppler": "10Hz"}
        text = f"{count(some, 'loss probability', 'loss probabilities')} apply to 1500 bytes at 6 Mbit/s, with fading"
        notes.append(Note("assumed", f"{text}: higher rates lose more"))
    whole = {"snr": f"{_FADING_DB if some else SNR_DB}dB"}

    def keys(share: float) -> dict[str, Any]:
        if share <= _LEAST:
            return whole
        if share >= 1 - _LEAST:
            return {"snr": f"{_WEAKEST_DB}dB"}
        return {"delivery": f"{100 * (1 - share):g}%", "frame": "1500B", "frame_rate": "6Mbps"}

    return _entries({pair: keys(share) for pair, share in lost.items()})


def _entries(made: dict[tuple[int, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries of `[[losses]]`: a single one for both directions if they are equal."""
    found = []
    for (a, b), keys in made.items():
        if made[b, a] != keys:
            found.append({"from": a, "to": b, **keys, "both_ways": False})
        elif a < b:
            found.append({"from": a, "to": b, **keys})
    return found


def _by_distance(model: Value, nodes: int, document: dict[str, Any], notes: list[Note]) -> None:
    del document["losses"]
    pair = "two lengths in metres, such as (10.0, 20.0)"
    places, heights = [], []
    for each in model.need("positions", f"{nodes} positions").values(f"{nodes} positions", nodes):
        lengths = each.values(pair)
        if not 2 <= len(lengths) <= 3:
            raise each.error(pair)
        x, y, *z = (length.number(-1e7, 1e7) for length in lengths)
        places.append([f"{x:g}m", f"{y:g}m"])
        heights += z
    if len(set(heights)) > 1:
        notes.append(Note("left out", "heights: distances are measured on the ground"))
    document["topology"]["positions"] = places
    powers = model.need("tx_powers", f"{nodes} powers in dBm").values(f"{nodes} powers in dBm", nodes)
    dbm = [power.number(-50, 60) for power in powers]
    radio = document["radio"]
    radio |= {"frequency": "2412MHz", "tx_power": f"{dbm[0]:g}dBm"}
    document["nodes"] = [{"node": n, "tx_power": f"{power:g}dBm"} for n, power in enumerate(dbm) if power != dbm[0]]
    name = model.need("model_name", _MODELS)
    extra = model.get("xg")
    at_a_metre = 20 * math.log10(4 * math.pi * _HERTZ / _LIGHT_M_S) + (0 if extra is None else extra.number(-50, 100))
    if name.it in ("log_distance", "log_normal_shadowing"):
        exponent = model.need("path_loss_exp", "the exponent, such as 3.5").number(1, 10)
        loss = {"reference_distance": "1m", "reference_loss": f"{at_a_metre:.2f}dB"}
        radio |= {"path_loss": "log-distance", "exponent": exponent, **loss}
    elif name.it in ("free_space", "two_ray_ground"):
        radio["path_loss"] = "free-space" if name.it == "free_space" else "two-ray"
        system = model.get("sL")
        if system is not None and system.number(0, 100) > 1:
            notes.append(Note("left out", f"sL: {system.it}, the system loss; lower radio.tx_power accordingly"))
    else:
        raise name.error(_MODELS)


_MODELS = '"log_distance", "free_space", "two_ray_ground" or "log_normal_shadowing"'


def _left_out(ifaces: Value, model: Value, notes: list[Note]) -> None:
    """Note settings for which a scenario has no key, or that always apply."""
    mediums = ifaces.get("medium_array")
    if mediums is not None and len({each.it for each in mediums.values("the medium of each radio")}) > 1:
        raise mediums.error(
            "one medium for all radios: make a configuration for each, or put radios on different channels"
        )
    fading = model.get("fading_coefficient")
    if fading is not None and fading.number(0, 1000) > 0:
        text = f"fading_coefficient: {fading.it}; see radio.fading, radio.shadowing"
        notes.append(Note("left out", text))
    directions = model.get("directions")
    if directions is not None:
        notes.append(Note("left out", "directions: radios do not move; use fourhop change --position to move them"))
    notes.append(Note("assumed", "radios contend, sense each other and interfere: always, unlike in wmediumd"))
