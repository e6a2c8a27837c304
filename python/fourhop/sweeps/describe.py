"""The description of a sweep: a scenario, keys to vary, and runs per point."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from fourhop import _core, quantity
from fourhop.errors import FourhopError, ScenarioError
from fourhop.limits import MAX_RUNS, MAX_SEED, MIN_RUNS, POINTS_LIMIT, RUNS_LIMIT, within
from fourhop.plain import plain
from fourhop.scenario import WITH, Scenario
from fourhop.sweeps import problems
from fourhop.sweeps.schedule import Rule, aggregate_goodput, flow_goodputs
from fourhop.text import count

PrecisionOf = Literal["aggregate", "flows"]

TRANSPORT = "transport"
"""The key for the transport of every TCP flow, whether in `[traffic]` or `[[flows]]`."""

VARIANT = "variant"
"""Column with the name of a point's scenario, in a sweep over several."""

EVERY_FLOW = "flows[*]."
"""Prefix of a key of every entry of `[[flows]]`."""

# Keys that cannot vary: every point runs with the same seeds, and a name changes nothing.
_FIXED = {"seed": "the seeds are those of the sweep, the same at every point", "name": "a name changes no result"}


@dataclass(frozen=True)
class Point:
    """One scenario of a sweep."""

    index: int
    """Its number in the order of the sweep, from 0."""
    parameters: Mapping[str, object]
    """The varied keys with their values at this point, beginning with `variant` in a sweep over several scenarios."""
    scenario: Scenario
    """The scenario of this point."""

    def describe(self) -> str:
        """The parameters as text: `topology.hops=3, transport=vegas`."""
        return ", ".join(f"{key}={value}" for key, value in self.parameters.items()) or self.scenario.name


@dataclass(frozen=True)
class Sweep:
    """A varied scenario: every combination of the values in `over`, with the values in `zipped` advancing together.

    A key is written as in `Scenario.with_` and `--set`. Two more forms vary several flows at once: `flows[*].KEY` is
    KEY of every entry of `[[flows]]`, and `transport` is the transport of every TCP flow, also those of `[traffic]`.

    Every point runs with the same seeds (common random numbers), so differences between points are not due to luck.

    >>> sweep = Sweep(Scenario.chain(hops=2), {"topology.hops": range(1, 4), "transport": ["newreno", "vegas"]}, runs=5)
    >>> len(sweep.points), sweep.points[3].describe()
    (6, 'topology.hops=2, transport=vegas')
    """

    base: Scenario | None = None
    """The scenario to vary; `None` with `variants`."""
    over: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    """Keys with their values, in all combinations; the last key changes fastest."""
    zipped: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    """Keys with the same number of values, which advance together; they change faster than those of `over`."""
    variants: Mapping[str, Scenario] | None = field(default=None, kw_only=True)
    """Scenarios by name, instead of `base`, for points that differ in more than a key. They change slowest."""
    runs: int | None = field(default=None, kw_only=True)
    """Replications per point; 1 if neither this nor `precision` is given."""
    seed: int | None = field(default=None, kw_only=True)
    """Seed of the first replication (the scenario's if not given); the others use the following seeds."""
    precision: str | float | None = field(default=None, kw_only=True)
    """Instead of `runs`: add replications to each point until its interval is this tight (`"5%"`)."""
    precision_of: PrecisionOf = field(default="aggregate", kw_only=True)
    """The goodput that `precision` applies to: that of all flows together, or of each flow."""
    max_runs: int = field(default=MAX_RUNS, kw_only=True)
    """Number of runs after which `precision` gives up."""
    name: str = field(default="", kw_only=True)
    """Its name; that of the scenario if not given."""
    source: str = field(default="sweep", kw_only=True, compare=False)
    """Name of its source in error messages."""
    _keys: tuple[str, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check and normalize. This also makes the points and so checks every scenario.

        Raises `FourhopError` with all problems.
        """
        if (self.base is None) == (self.variants is None):
            found = "neither" if self.base is None else "both"
            self._refuse("base, variants", found, "one of the two")
        if self.variants is not None and not self.variants:
            self._refuse("variants", "none", "at least one scenario")
        for _, scenario in self._scenarios:
            scenario.require_flows()
        self._set("over", {key: self._values("over", key, values) for key, values in self.over.items()})
        self._set("zipped", {key: self._values("zipped", key, values) for key, values in self.zipped.items()})
        for key in self.zipped:
            if key in self.over:
                self._refuse(f"zipped.{key}", "a key that is also in over", "each key once")
        lengths = {key: len(tuple(values)) for key, values in self.zipped.items()}
        if len(set(lengths.values())) > 1:
            each = ", ".join(f"{length} of {key}" for key, length in lengths.items())
            self._refuse("zipped", f"lists of different lengths: {each}", "the same number of values for each key")
        if self.runs is not None and self.precision is not None:
            self._refuse("runs, precision", "both", "one of the two")
        try:
            if self.target is None:
                self._set("runs", within("runs", self.replications, 1, RUNS_LIMIT))
            else:
                self._set("max_runs", within("max_runs", self.max_runs, MIN_RUNS, RUNS_LIMIT))
            if self.seed is not None:
                self._set("seed", within("seed", self.seed, 0, MAX_SEED - self.wanted))
        except FourhopError as error:
            raise FourhopError(f"{self.source}: {error}" if self.source else str(error)) from None
        if self.precision_of not in ("aggregate", "flows"):
            self._refuse("precision_of", problems.shown(self.precision_of), '"aggregate", "flows"')
        if not self.first_seed <= MAX_SEED - self.wanted:
            self._refuse("seed", self.first_seed, f"0 to {MAX_SEED} minus the number of runs")
        if not self.name:
            self._set("name", self._scenarios[0][1].name if self.base is not None else "variants")
        _ = self.points

    @classmethod
    def of_points(
        cls, points: Sequence[tuple[Mapping[str, object], Scenario]], *, keys: Sequence[str], **options: Any
    ) -> Sweep:
        """A sweep over given scenarios and their varied values, to restore a stored sweep."""
        made = cls(variants={str(index): scenario for index, (_, scenario) in enumerate(points)}, **options)
        named = tuple(Point(index, dict(row), scenario) for index, (row, scenario) in enumerate(points))
        made._set("points", named)
        made._set("_keys", tuple(keys))
        return made

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys in column order, beginning with `variant` if there are several scenarios."""
        if self._keys is not None:
            return self._keys
        return (*([VARIANT] if self.variants is not None else []), *self.over, *self.zipped)

    @property
    def wanted(self) -> int:
        """Runs per point; with a precision target, the largest number allowed."""
        return self.replications if self.precision is None else self.max_runs

    @property
    def replications(self) -> int:
        """Runs per point, unless a precision target decides."""
        return 1 if self.runs is None else self.runs

    @property
    def target(self) -> float | None:
        """The requested relative half-width."""
        return None if self.precision is None else quantity.precision(self.precision)

    @property
    def rule(self) -> Rule:
        """The rule for the number of runs per point."""
        if self.target is None:
            return Rule(self.replications, self.replications)
        judged = aggregate_goodput if self.precision_of == "aggregate" else flow_goodputs
        return Rule(MIN_RUNS, self.max_runs, self.target, judged)

    @cached_property
    def first_seed(self) -> int:
        """Seed of the first run of every point."""
        if self.seed is not None:
            return self.seed
        seeds = {scenario.seed for _, scenario in self._scenarios}
        if len(seeds) > 1:
            self._refuse(
                "seed", f"variants with the seeds {sorted(seeds)}", "a seed of the sweep, or the same seed in all"
            )
        return seeds.pop()

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every point in order. Raises `FourhopError` with the problems of all invalid points."""
        # Checked before the rows are made: a typing error in a range would take all memory.
        varied = [*self.over.values(), *itertools.islice(self.zipped.values(), 1)]
        number = math.prod(len(tuple(values)) for values in varied) * len(self._scenarios)
        if number > POINTS_LIMIT:
            self._refuse("", f"{number} points", f"at most {POINTS_LIMIT}")
        rows = [dict(zip(self.over, values, strict=True)) for values in itertools.product(*self.over.values())]
        if self.zipped:
            columns = [
                dict(zip(self.zipped, values, strict=True)) for values in zip(*self.zipped.values(), strict=True)
            ]
            rows = [{**row, **column} for row in rows for column in columns]
        made: list[Point] = []
        faults: dict[str, list[str]] = {}
        for variant, scenario in self._scenarios:
            for row in rows:
                parameters = row if variant is None else {VARIANT: variant, **row}
                try:
                    made.append(Point(len(made), parameters, self._vary(scenario, row)))
                except ScenarioError as error:
                    for each in error.problems:
                        message, at = self._problem(each, scenario, row)
                        faults.setdefault(message, []).extend([at] if at else [])
        # Report an error at many points only once.
        problems.refuse(
            message + (f" (at {at[0]}" + (f" and {count(len(at) - 1, 'more point')})" if at[1:] else ")") if at else "")
            for message, at in faults.items()
        )
        return tuple(made)

    @property
    def _scenarios(self) -> list[tuple[str | None, Scenario]]:
        return list(self.variants.items()) if self.variants is not None else [(None, self.base)]  # type: ignore[list-item]

    def _vary(self, scenario: Scenario, row: Mapping[str, object]) -> Scenario:
        changes: dict[str, object] = {}
        for key, value in row.items():
            for path in self._paths(scenario, key):
                if path in changes:
                    self._refuse(key, f"{path}, which another key also varies", "each key once")
                changes[path] = value
        return scenario.with_(**changes) if changes else scenario

    def _paths(self, scenario: Scenario, key: str) -> list[str]:
        """The scenario keys that a key of the sweep refers to."""
        if key != TRANSPORT and not key.startswith(EVERY_FLOW):
            return [key]
        paths = _core.keys_meant(scenario.resolved_json, key)
        if not paths and key == TRANSPORT:
            self._refuse(key, "a scenario without a TCP flow", "a scenario with one")
        if not paths:
            self._refuse(key, "a scenario without [[flows]]", "a scenario with some, or traffic.KEY for [traffic]")
        return paths

    def _values(self, part: str, key: str, values: Iterable[Any]) -> tuple[Any, ...]:
        if key in _FIXED:
            self._refuse(f"{part}.{key}", "a key that cannot be varied", "any other key of a scenario", _FIXED[key])
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            self._refuse(f"{part}.{key}", problems.shown(values), "a list or a range of values")
        read = tuple(plain(value) for value in values)
        if not read:
            self._refuse(f"{part}.{key}", "no value", "at least one")
        for value in read:
            if not isinstance(value, bool | int | float | str | list):
                self._refuse(f"{part}.{key}", f"a {type(value).__name__}", "strings, numbers, booleans, lists of them")
        once = {json.dumps(value) for value in read}
        if part == "over" and len(once) < len(read):
            self._refuse(f"{part}.{key}", "a value twice", "each value once")
        return read

    def _problem(self, problem: Any, scenario: Scenario, row: Mapping[str, object]) -> tuple[str, str]:
        """A problem's message and point; if due to a varied key, the message names the key and the point is empty."""
        if problem["file"] != WITH:
            return problems.problem(problem), ""
        found, allowed, hint = problem["found"], problem["allowed"], problem["hint"]
        key = next((key for key in row if problem["key"] in self._paths(scenario, key)), None)
        if key is None:
            at = ", ".join(f"{name}={value}" for name, value in row.items())
            return problems.line(self.source, problem["key"], found, allowed, hint), at
        part = "over" if key in self.over else "zipped"
        return problems.line(self.source, f"{part}.{key}", found, allowed, hint), ""

    def _refuse(self, key: str, found: object, allowed: str, hint: str | None = None) -> None:
        raise FourhopError(problems.line(self.source, key, found, allowed, hint))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
