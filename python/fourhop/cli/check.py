"""`fourhop check`: whether a scenario is usable, and a summary of it."""

from __future__ import annotations

from typing import Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option


def command(
    file: common.File,
    set_: common.Set = None,
    transport: common.Transport = None,
    duration: common.Duration = None,
    json: common.Json = False,
    resolved: Annotated[bool, Option("--resolved", help="Print the scenario as TOML with all defaults.")] = False,
) -> None:
    """Check a scenario without running it. Prints one line per problem and exits with 2 if there are any."""
    with common.errors():
        from fourhop.errors import ScenarioError

        common.one_of(json=json, resolved=resolved)
        try:
            scenario = common.load(file, set_, transport, duration, flows=False)
            scenario.check()
        except ScenarioError as error:
            if not json:
                raise
            common.print_json({"file": str(file), "ok": False, "problems": error.problems})
            raise common.Exit(common.BAD_INPUT) from None
        if json:
            warnings = scenario.flows_without_path()
            common.print_json({"file": str(file), "ok": True, "scenario": scenario.resolved, "warnings": warnings})
            return
        echo(scenario.to_toml().rstrip() if resolved else f"{file}: ok: {scenario.describe()}")
        for line in scenario.flows_without_path():
            common.say(f"warning: {line}")
