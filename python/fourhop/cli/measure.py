"""`fourhop measure`: a real network under load, before and after a change."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.measure import Difference, Measured


def command(
    hosts: Annotated[list[str], Argument(metavar="HOST...", help="Hosts that run `iperf3 -s`.")],
    rounds: Annotated[int, Option(metavar="N", help="Number of loads, one after another.")] = 5,
    seconds: Annotated[int, Option(metavar="N", help="Length of each load.")] = 10,
    streams: Annotated[int, Option(metavar="N", help="Connections per host and direction.")] = 4,
    direction: Annotated[Literal["both", "to", "from"], Option(help="Direction of the data.")] = "both",
    port: Annotated[int, Option(metavar="N", help="Port of iperf3.")] = 5201,
    out: Annotated[Path | None, common.out("FILE", "Write the result to this file, for --against.")] = None,
    against: Annotated[Path | None, Option(metavar="FILE", help="Compare with an earlier result of --out.")] = None,
    json: common.Json = False,
) -> None:
    """Load real hosts: goodput, p95 round trip under load and fairness; --against shows the effect of a change."""
    with common.errors():
        from fourhop.errors import FourhopError
        from fourhop.measure import METRICS, Load, Measured, compare, measure

        for option, value, least in (("--rounds", rounds, 2), ("--seconds", seconds, 1), ("--streams", streams, 1)):
            if value < least:
                raise FourhopError(f"{option}: found {value}, allowed: at least {least}")
        before = None if against is None else Measured.read(against)
        load = Load(list(hosts), seconds, streams, direction, port)
        try:
            measured = measure(load, rounds)
        except KeyboardInterrupt:
            common.say("interrupted: an unfinished measurement has no result")
            raise common.Exit(common.INTERRUPTED) from None
        if out is not None:
            measured.save(out)
        differences = [] if before is None else compare(before, measured)
    if json:
        echo(json_.dumps(_as_json(measured, differences)))
        return
    from fourhop.cli import tables

    if differences:
        rows = [
            (
                one.metric.title,
                _shown(one.before.mean, one.before.half_width),
                _shown(one.after.mean, one.after.half_width),
                f"[{one.low:+.4g}, {one.high:+.4g}]",
                one.verdict,
            )
            for one in differences
        ]
        tables.console().print(tables.table(("", ">before", ">after", ">difference", "verdict"), rows))
        return
    intervals = [(metric, measured.interval(metric)) for metric in METRICS]
    plain = [(metric.title, _shown(one.mean, one.half_width)) for metric, one in intervals]
    idle = sorted(one.idle_ms for one in measured.rounds)[len(measured.rounds) // 2]
    plain.append(("RTT without load, ms", f"{idle:.4g}"))
    tables.console().print(tables.table(("", f">over {len(measured.rounds)} rounds"), plain))


def _shown(mean: float, half: float | None) -> str:
    return f"{mean:.4g}" if half is None else f"{mean:.4g} ± {half:.2g}"


def _as_json(measured: Measured, differences: list[Difference]) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "load": asdict(measured.load),
        "rounds": [asdict(one) for one in measured.rounds],
        "differences": {
            one.metric.key: {"low": one.low, "high": one.high, "unit": one.metric.title, "verdict": one.verdict}
            for one in differences
        },
    }
