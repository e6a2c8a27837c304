"""Sweeps as TOML files.

| key | meaning |
|---|---|
| `scenario` | a scenario file in the same folder, or the scenario itself as a table |
| `variants` | instead of `scenario`: a table of scenarios by name |
| `set` | keys to set in all scenarios before varying |
| `over`, `zipped` | keys to vary: lists, or `{ from = 1, to = 16, step = 1 }`, ends included |
| `runs`, or `precision`, `precision_of`, `max_runs` | how often to run each point |
| `seed`, `name` | as in `Sweep` |

A key of a scenario is written as a quoted key (`"topology.hops" = ...`) or a dotted one (`topology.hops = ...`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from fourhop import quantity
from fourhop.errors import FourhopError, ScenarioError
from fourhop.limits import POINTS_LIMIT
from fourhop.plain import read
from fourhop.scenario import WITH, Scenario
from fourhop.sweeps import problems
from fourhop.sweeps.describe import Sweep

_KINDS: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "scenario": ("the name of a scenario file, or a table", (str, dict)),
    "variants": ("a table of scenarios by name, each the name of a file or a table", dict),
    "set": ("a table of keys of the scenario", dict),
    "over": ("a table of keys of the scenario, each with a list or { from, to, step }", dict),
    "zipped": ("a table of keys of the scenario, each with a list or { from, to, step }", dict),
    "runs": ("a whole number", int),
    "precision": ('a share, such as "5%" or 0.05', (str, float)),
    "precision_of": ('"aggregate" or "flows"', str),
    "max_runs": ("a whole number", int),
    "seed": ("a whole number", int),
    "name": ("a string", str),
}
_HOW_OFTEN = {"precision", "precision_of", "max_runs"}
_RANGE = {"from", "to", "step"}


def load(
    path: str | Path,
    text: str | None = None,
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    runs: int | None = None,
) -> Sweep:
    """Read a sweep file, or `text`, whose scenario files are in the current folder.

    `overrides` are `key=value` for its scenarios; `seed` and `runs` replace those in the file.

    Raises `FourhopError` with all its problems, and `ScenarioError` for problems of a scenario.
    """
    path = Path(path) if text is None else Path("sweep.toml")
    file = str(path) if text is None else "<stdin>"
    document = _parse(read(path) if text is None else text, file)
    if "topology" in document:
        raise FourhopError(f"{file}: this is a scenario: run it with `fourhop run`")
    faults = [
        problems.line(file, key, "an unknown key", ", ".join(sorted(_KINDS)), problems.did_you_mean(key, _KINDS))
        for key in document
        if key not in _KINDS
    ]
    for key, (allowed, kinds) in _KINDS.items():
        value = document.get(key)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            faults.append(problems.line(file, key, problems.shown(value), allowed))
    if ("scenario" in document) == ("variants" in document):
        found = "both" if "scenario" in document else "neither"
        faults.append(problems.line(file, "scenario, variants", found, "one of the two"))
    if "runs" in document and "precision" in document:
        faults.append(problems.line(file, "runs, precision", "both", "one of the two"))
    if "precision" not in document:
        alone = [key for key in ("precision_of", "max_runs") if key in document]
        faults += [
            problems.line(file, key, "this key without precision", "this key together with precision") for key in alone
        ]
    problems.refuse(faults)
    if runs is not None:
        document = {key: value for key, value in document.items() if key not in _HOW_OFTEN} | {"runs": runs}
    if seed is not None:
        document["seed"] = seed

    varied = {part: _varied(file, part, document.get(part, {})) for part in ("over", "zipped")}
    changes = _flat(document.get("set", {}))
    base = None
    variants = None
    if "scenario" in document:
        base = _scenario(path, file, "scenario", document["scenario"], changes).overridden(overrides)
    else:
        variants = {
            name: _scenario(path, file, f"variants.{name}", given, changes).overridden(overrides)
            for name, given in document["variants"].items()
        }
    options = {
        key: document[key] for key in ("runs", "precision", "precision_of", "max_runs", "seed") if key in document
    }
    name = document.get("name", path.stem)
    return Sweep(base, varied["over"], varied["zipped"], variants=variants, name=name, source=file, **options)


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = file if at is None else f"{file}:{at[1]}:{at[2]}"
        hint = str(error).split(" (at ")[0]
        raise FourhopError(problems.line(place, "", "text that is not TOML", "a sweep in TOML", hint)) from None


def _scenario(path: Path, file: str, key: str, given: object, changes: Mapping[str, object]) -> Scenario:
    """A scenario, given as a file name or a table, with keys set."""
    if isinstance(given, str):
        beside = path.parent / given
        if not beside.is_file():
            raise FourhopError(
                problems.line(file, key, problems.shown(given), f"a scenario file in the folder of {path.name}")
            )
        scenario = Scenario.from_toml(beside)
    elif isinstance(given, dict):
        # Named after the file, like a scenario in a separate file.
        document = {"name": path.stem, **given}
        try:
            scenario = Scenario(json.dumps(document), file, format="json")
        except TypeError:
            raise FourhopError(problems.line(file, key, "a date or a time of day", "strings and numbers")) from None
        except ScenarioError as error:
            lines = [
                problems.line(file, f"{key}.{each['key']}".rstrip("."), each["found"], each["allowed"], each["hint"])
                for each in error.problems
            ]
            raise FourhopError("\n".join(lines)) from None
    else:
        raise FourhopError(problems.line(file, key, problems.shown(given), "the name of a scenario file, or a table"))
    try:
        return scenario.with_(**changes) if changes else scenario
    except ScenarioError as error:
        lines = [
            problems.line(file, f"set.{each['key']}", each["found"], each["allowed"], each["hint"])
            if each["file"] == WITH
            else problems.problem(each)
            for each in error.problems
        ]
        raise FourhopError("\n".join(lines)) from None


def _varied(file: str, part: str, table: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The keys of `over` or `zipped` with their values."""
    made: dict[str, list[Any]] = {}
    faults = []
    for key, value in _flat(table).items():
        try:
            made[key] = values(value)
        except ValueError as error:
            faults.append(f"{file}: {part}.{key}: {error}")
    problems.refuse(faults)
    return made


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested tables into dotted keys. A table of from, to and step is a range, not a section."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and not (value and set(value) <= _RANGE):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def values(value: object) -> list[Any]:
    """The values of a list or a range. Raises `ValueError` for anything else."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"found {problems.shown(value)}, allowed: a list, or {{ from = 1, to = 16, step = 1 }}")
    missing = [key for key in ("from", "to") if key not in value]
    if missing:
        raise ValueError(f"found a range without {missing[0]}, allowed: {{ from = 1, to = 16, step = 1 }}")
    start, unit = _number(value["from"])
    stop, unit_of_stop = _number(value["to"])
    step, unit_of_step = _number(value["step"]) if "step" in value else (Decimal(1 if start <= stop else -1), unit)
    if len({unit, unit_of_stop, unit_of_step}) > 1:
        units = ", ".join(each or "no unit" for each in (unit, unit_of_stop, unit_of_step))
        raise ValueError(f"found a range of different units ({units}), allowed: one unit")
    if step == 0 or (stop - start) / step < 0:
        raise ValueError(f"found step {step:f}, allowed: a step that leads from {start:f} to {stop:f}")
    count = int((stop - start) / step) + 1
    if count > POINTS_LIMIT:
        raise ValueError(f"found a range of {count} values, allowed: at most {POINTS_LIMIT}")
    numbers = [start + index * step for index in range(count)]
    if unit:
        return [f"{number.normalize():f}{unit}" for number in numbers]
    if all(isinstance(value[key], int) for key in value):
        return [int(number) for number in numbers]
    return [float(number) for number in numbers]


def _number(value: object) -> tuple[Decimal, str]:
    """A number and its unit, if any; decimal, so that steps of 0.1 stay exact."""
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            found = quantity.parse(str(value))
            return found.number, found.unit
    except ValueError:
        pass
    raise ValueError(f'found {problems.shown(value)}, allowed: a number, or one with a unit, such as "200m"')
