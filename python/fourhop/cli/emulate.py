"""`fourhop emulate`, `exec` and `shell`: real programs in the nodes of a network, by `fourhop-emulate`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

from fourhop.cli import common, tracing
from fourhop.cli.options import Argument, Option

Meant = Annotated[
    str | None, Option("--emulation", metavar="NAME", help="Which emulation is meant, if several are running.")
]
Inside = Annotated[str, Argument(metavar="NODE", help="Name of the node, as n0.")]


def command(
    file: Annotated[Path | None, Argument(metavar="FILE", help="Scenario in TOML.")] = None,
    words: Annotated[
        list[str] | None,
        Argument(metavar="COMMAND", help="Program to run when the nodes are ready, after --; it ends the emulation."),
    ] = None,
    set_: common.Set = None,
    after: Annotated[str | None, Option("--for", metavar="TIME", help="End after this time, as 60s.")] = None,
    tap: Annotated[
        bool, Option("--tap", help="Devices carry Ethernet: the kernels of the nodes route, with ARP and IPv6.")
    ] = False,
    without_flows: Annotated[bool, Option("--without-flows", help="Leave the flows of the scenario out.")] = False,
    adhoc_receivers: Annotated[
        bool,
        Option("--adhoc-receivers", help="Every node receives as ad hoc TCP does, with the keys of [adhoc_tcp]."),
    ] = False,
    name: Annotated[
        str | None, Option(metavar="NAME", help="Name of the emulation; one is made up if there is none.")
    ] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the simulated network.")] = None,
    mtu: Annotated[int, Option(metavar="BYTES", help="Largest packet of the nodes' devices.")] = 1500,
    pcap: Annotated[Path | None, Option(metavar="DIR", help="Write captures of the air here.")] = None,
    trace: tracing.Folder = None,
    trace_from: tracing.From = None,
    trace_to: tracing.To = None,
    trace_nodes: tracing.Nodes = None,
    trace_flows: tracing.Flows = None,
    trace_last: Annotated[
        str | None,
        Option(metavar="TIME", help="Keep only the last so much of the trace, as 60s, which `view --live` shows."),
    ] = None,
    out: Annotated[Path | None, common.out("DIR", "Write the report and the scenario here.")] = None,
    metrics: Annotated[
        str | None, Option(metavar="ADDRESS", help="Serve figures for Prometheus here, as 127.0.0.1:9464.")
    ] = None,
    json: common.Json = False,
    clean: Annotated[
        bool, Option("--clean", help="Remove what emulations have left that were killed, and exit.")
    ] = False,
    list_: Annotated[bool, Option("--list", help="Show the emulations that are there, and exit.")] = False,
) -> None:
    """Emulate a network: its nodes are network namespaces for real programs. Linux only; needs root."""
    with common.errors():
        from fourhop.errors import FourhopError

        if clean or list_:
            become("clean" if clean else "list")
        if file is None:
            raise FourhopError("FILE: name a scenario to emulate")
        if file == common.STDIN:
            raise FourhopError("FILE: name a file: standard input belongs to the command")
        common.load(file, set_, None, None, flows=False)
        options = [option for each in set_ or () for option in ("--set", each)]
        for option, value in (
            ("--for", after),
            ("--name", name),
            ("--seed", seed),
            ("--mtu", mtu),
            ("--pcap", pcap),
            ("--out", out),
            ("--metrics", metrics),
            ("--trace", trace),
            ("--trace-from", trace_from),
            ("--trace-to", trace_to),
            ("--trace-nodes", trace_nodes),
            ("--trace-flows", trace_flows),
            ("--trace-last", trace_last),
        ):
            options += [] if value is None else [option, str(value)]
        for option, is_on in (
            ("--tap", tap),
            ("--without-flows", without_flows),
            ("--adhoc-receivers", adhoc_receivers),
            ("--json", json),
        ):
            options += [option] if is_on else []
        become("run", str(file), *options, *(["--", *words] if words else []))


def exec_command(
    node: Inside,
    words: Annotated[list[str], Argument(metavar="COMMAND", help="Program to run, and its arguments.")],
    emulation: Meant = None,
) -> None:
    """Run a program in a node of a running emulation."""
    with common.errors():
        become("exec", *_meant(emulation), node, "--", *words)


# What follows the node is the other program's.
exec_command.passes_on = True  # type: ignore[attr-defined]


def shell_command(node: Inside, emulation: Meant = None) -> None:
    """Open a shell in a node of a running emulation."""
    with common.errors():
        become("exec", *_meant(emulation), node)


def change_command(
    node: Inside,
    position: Annotated[
        str | None, Option("--position", metavar="X,Y", help="It stands here from now on, as 100m,20m.")
    ] = None,
    power: Annotated[str | None, Option("--power", metavar="POWER", help="It transmits with this, as 10dBm.")] = None,
    gain: Annotated[str | None, Option("--gain", metavar="GAIN", help="Gain of its antenna, as 3dB.")] = None,
    link: Annotated[
        list[str] | None,
        Option(
            "--link",
            metavar="NODE=LOSS",
            help="What is lost between it and another node, as n4=95dB, whatever their distance; may be repeated.",
        ),
    ] = None,
    emulation: Meant = None,
) -> None:
    """Change a node of a running emulation: its place, its transmitter, what is lost between it and others."""
    with common.errors():
        given = (("--position", position), ("--power", power), ("--gain", gain))
        words = [f"{option}={value}" for option, value in given if value is not None]
        become("change", *_meant(emulation), *words, *(f"--link={each}" for each in link or ()), node)


def _meant(emulation: str | None) -> list[str]:
    return [] if emulation is None else ["--emulation", emulation]


def become(*words: str) -> NoReturn:
    """Go on as the emulator, which gets all signals and whose exit code is the command's."""
    from fourhop.emulation import program

    path = str(program())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path, [path, *words])
