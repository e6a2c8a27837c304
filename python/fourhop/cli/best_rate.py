"""`fourhop best-rate`: the best rate of paced UDP on the path of a flow."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option

if TYPE_CHECKING:
    from fourhop.scenario import Scenario


def command(
    file: common.File,
    flow: Annotated[str, Option(metavar="NAME", help="Flow to turn into UDP, by name or by number from 0.")] = "0",
    from_kbps: Annotated[float, Option("--from", metavar="KBPS", help="Lowest payload rate in kbit/s.")] = 10,
    to_kbps: Annotated[
        float | None,
        Option("--to", metavar="KBPS", help="Highest payload rate in kbit/s; default: the bit rate of the radio."),
    ] = None,
    loss: Annotated[float, Option(metavar="SHARE", help="Largest acceptable loss ratio, 0 to 1.")] = 0.01,
    trials: Annotated[int, Option(metavar="N", help="Rates to try.")] = 16,
    runs: Annotated[int, Option(metavar="N", help="Runs per rate.")] = 3,
    set_: common.Set = None,
    json: common.Json = False,
    transport: common.Transport = None,
    duration: common.Duration = None,
) -> None:
    """Find the paced UDP rate with the highest goodput: the upper bound for TCP on that path."""
    with common.errors():
        from fourhop.search import best_rate

        scenario = common.load(file, set_, transport, duration)
        try:
            found = best_rate(
                scenario,
                flow=_number(scenario, flow),
                from_bps=round(from_kbps * 1e3),
                to_bps=None if to_kbps is None else round(to_kbps * 1e3),
                loss_bound=loss,
                trials=trials,
                runs=runs,
            )
        except KeyboardInterrupt:
            common.say("interrupted: an unfinished search has no result")
            raise common.Exit(common.INTERRUPTED) from None
    if json:
        echo(json_.dumps(found.to_dict()))
        return
    from fourhop.cli import tables

    rows = [
        (
            f"{trial.offered_bps / 1e3:.1f}",
            f"{trial.goodput_bps / 1e3:.1f}",
            f"{trial.loss * 100:.2f}",
            "<- best" if trial == found.best else "",
        )
        for trial in sorted(found.trials, key=lambda trial: trial.offered_bps)
    ]
    tables.console().print(tables.table((">offered kbit/s", ">goodput kbit/s", ">lost %", ""), rows))
    if found.best is None:
        echo(f"every rate lost more than {loss:.3g} of the offered load")


def _number(scenario: Scenario, flow: str) -> int:
    """The number of a flow, those of `[traffic]` first."""
    from fourhop.errors import FourhopError

    resolved = scenario.resolved
    pairs = int(resolved.get("traffic", {}).get("pairs", 0))
    names = [f"flow-{n}" for n in range(1, pairs + 1)] + [each["name"] for each in resolved.get("flows", [])]
    if flow not in names and not flow.isdecimal():
        raise FourhopError(f"--flow: found {flow!r}, allowed: {', '.join(names)}, or a number from 0 on")
    return names.index(flow) if flow in names else int(flow)
