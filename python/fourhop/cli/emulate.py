"""`fourhop emulate`, `exec` and `shell`: real programs in the nodes of a network, by `fourhop-emulate`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

from fourhop.cli import common, tracing
from fourhop.cli.options import Argument, Option

Meant = Annotated[
    str | None, Option("--emulation", metavar="NAME", help="Name of the emulation or medium, if several are running.")
]
Inside = Annotated[str, Argument(metavar="NODE", help="Name of the node, such as n0.")]


def command(
    file: Annotated[Path | None, Argument(metavar="FILE", help="Scenario in TOML.")] = None,
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="COMMAND", help="Command to run when the nodes are ready, after --; the emulation ends with it."
        ),
    ] = None,
    set_: common.Set = None,
    after: Annotated[str | None, Option("--for", metavar="TIME", help="End after this time, such as 60s.")] = None,
    tap: Annotated[
        bool, Option("--tap", help="Give nodes Ethernet devices: their kernels route, with ARP and IPv6.")
    ] = False,
    without_flows: Annotated[bool, Option("--without-flows", help="Leave out the scenario's flows.")] = False,
    adhoc_receivers: Annotated[
        bool,
        Option("--adhoc-receivers", help="Run the receiver of ad hoc TCP at every node, with the keys of [adhoc_tcp]."),
    ] = False,
    name: Annotated[str | None, Option(metavar="NAME", help="Name of the emulation; default: a new one.")] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the simulated network.")] = None,
    mtu: Annotated[int, Option(metavar="BYTES", help="MTU of the nodes' devices.")] = 1500,
    pcap: Annotated[Path | None, Option(metavar="DIR", help="Write packet captures into this folder.")] = None,
    trace: tracing.Folder = None,
    trace_from: tracing.From = None,
    trace_to: tracing.To = None,
    trace_nodes: tracing.Nodes = None,
    trace_flows: tracing.Flows = None,
    trace_last: Annotated[
        str | None,
        Option(metavar="TIME", help="Keep only the end of the trace, such as its last 60s, for `view --live`."),
    ] = None,
    out: Annotated[Path | None, common.out("DIR", "Write the report and the scenario into this folder.")] = None,
    metrics: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Serve metrics for Prometheus on this address, such as 127.0.0.1:9464."),
    ] = None,
    json: common.Json = False,
    clean: Annotated[bool, Option("--clean", help="Remove what killed emulations left behind, and exit.")] = False,
    list_: Annotated[bool, Option("--list", help="List emulations, and exit.")] = False,
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
    words: Annotated[list[str], Argument(metavar="COMMAND", help="Command to run, with its arguments.")],
    emulation: Meant = None,
) -> None:
    """Run a program in a node of a running emulation."""
    with common.errors():
        become("exec", *_meant(emulation), node, "--", *words)


# Arguments after the node belong to the other program.
exec_command.passes_on = True  # type: ignore[attr-defined]


def shell_command(node: Inside, emulation: Meant = None) -> None:
    """Open a shell in a node of a running emulation."""
    with common.errors():
        become("exec", *_meant(emulation), node)


def change_command(
    node: Inside,
    position: Annotated[
        str | None, Option("--position", metavar="X,Y", help="Move the node to this position, such as 100m,20m.")
    ] = None,
    power: Annotated[
        str | None, Option("--power", metavar="POWER", help="Set its transmit power, such as 10dBm.")
    ] = None,
    gain: Annotated[str | None, Option("--gain", metavar="GAIN", help="Set its antenna gain, such as 3dB.")] = None,
    link: Annotated[
        list[str] | None,
        Option(
            "--link",
            metavar="NODE=LOSS",
            help="Set the path loss to another node, such as n4=95dB, whatever the distance. May be repeated.",
        ),
    ] = None,
    emulation: Meant = None,
) -> None:
    """Change a node of a running emulation or medium: position, transmit power, antenna gain, path losses."""
    with common.errors():
        given = (("--position", position), ("--power", power), ("--gain", gain))
        words = [f"{option}={value}" for option, value in given if value is not None]
        become("change", *_meant(emulation), *words, *(f"--link={each}" for each in link or ()), node)


def _meant(emulation: str | None) -> list[str]:
    return [] if emulation is None else ["--emulation", emulation]


def become(*words: str, name: str = "fourhop-emulate") -> NoReturn:
    """Replace this process by a program for Linux, which gets all signals and determines the exit code."""
    from fourhop.emulation import program

    path = str(program(name))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path, [path, *words])
