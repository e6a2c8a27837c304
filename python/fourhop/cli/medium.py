"""`fourhop medium`: the air between radios of the kernel's own Wi-Fi, by `fourhop-medium`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from fourhop.cli import common
from fourhop.cli.emulate import become
from fourhop.cli.options import Argument, Option


def command(
    file: Annotated[
        Path | None, Argument(metavar="FILE", help="Scenario in TOML, or a configuration of wmediumd.")
    ] = None,
    config: Annotated[
        Path | None,
        Option("--config", "-c", metavar="FILE", help="The same as FILE, as an option like that of wmediumd."),
    ] = None,
    set_: common.Set = None,
    map_: Annotated[
        list[str] | None,
        Option(
            "--map",
            metavar="ADDRESS=NODE",
            help="Assign a radio of the kernel to a node, such as 02:00:00:00:03:00=n1; may be repeated. If not given, "
            "hwsim's first radio is the first node, and so on.",
        ),
    ] = None,
    after: Annotated[str | None, Option("--for", metavar="TIME", help="End after this time, such as 60s.")] = None,
    name: Annotated[str | None, Option(metavar="NAME", help="Name of the medium; default: a new one.")] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the simulated network.")] = None,
    pcap: Annotated[
        Path | None,
        Option(metavar="DIR", help="Write packet captures into this folder, with a subfolder per channel."),
    ] = None,
    metrics: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Serve metrics for Prometheus on this address, such as 127.0.0.1:9464."),
    ] = None,
    json: common.Json = False,
) -> None:
    """Simulate the air between the radios of Linux's own Wi-Fi (mac80211_hwsim). Linux only; needs root."""
    with common.errors():
        from fourhop import wmediumd
        from fourhop.errors import FourhopError

        network = file or config
        if network is None or (file and config):
            found = "two" if network else "none"
            raise FourhopError(f"FILE: found {found}, allowed: one scenario or configuration of wmediumd")
        scenario, maps = network, tuple(map_ or ())
        if (text := wmediumd.text_of(network)) is not None:
            converted = wmediumd.convert(network, text, None, tuple(set_ or ()))
            for note in converted.notes:
                print(note, file=sys.stderr)
            scenario, maps = _passed_on(converted.toml), maps or converted.maps
        common.load(scenario, set_, None, None, flows=False)
        options = [f"--set={each}" for each in set_ or ()] + [f"--map={each}" for each in maps]
        given = (("--for", after), ("--name", name), ("--seed", seed), ("--pcap", pcap), ("--metrics", metrics))
        for option, value in given:
            options += [] if value is None else [f"{option}={value}"]
        become("run", str(scenario), *options, *(["--json"] if json else []), name="fourhop-medium")


def _passed_on(toml: str) -> Path:
    """Path of an anonymous file, valid in the program that replaces this process."""
    descriptor = os.memfd_create("scenario", 0)
    os.write(descriptor, toml.encode())
    return Path(f"/proc/self/fd/{descriptor}")
