"""Runs the entries of a reference on all cores and judges each; `fourhop.validate` has the form and the rule.

Seeds are 1, 2, ... for every entry. Unless a number is given, 10 of them run first, and 5 more at a time until the
half-width of our interval is at most 2 % of the mean or 20 have run. The rule for more looks at our own precision
only, never at how far ns-2 is away: adding seeds until a verdict comes out would bend it.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fourhop import rundata, stats, validate
from fourhop._core import Batch, ScenarioError
from fourhop.errors import FourhopError
from fourhop.runner import JOBS_LIMIT
from fourhop.scenario import Scenario, catalog
from fourhop.validate import Entry, Row

FIRST_SEEDS = 10
"""Seeds of every entry, unless told otherwise."""
MORE_SEEDS = 5
"""Seeds added at a time."""
MOST_SEEDS = 20
"""Seeds after which an entry is judged however wide its interval is."""
PRECISION = 0.02
"""Half-width over mean that is good enough."""
SEEDS_LIMIT = 10_000
"""More seeds than this are a slip of the hand."""

_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Report:
    """How far a comparison is."""

    done: int
    """Entries with a row."""
    total: int
    """Entries in all."""
    fraction: float
    """Share of the planned simulated time that is done; it falls when an entry gets more seeds."""
    simulated_s: float
    """Simulated seconds so far."""
    elapsed_s: float
    """Wall clock since the start."""
    row: Row | None
    """The entry that has just been finished, if one has."""


@dataclass(slots=True)
class _Plan:
    """An entry that is being run."""

    entry: Entry
    scenario: Scenario
    duration_s: float
    counted_s: float
    """What delivered bytes are divided by."""
    bytes_counted: tuple[float, ...]
    """For each flow, what ns-2 counts for a byte of payload."""
    offered_kbps: float | None
    """Of UDP alone, counted as ns-2 counts; `None` with TCP."""
    window_of_one: bool
    wanted: int = 0
    runs: dict[int, rundata.RunData] = field(default_factory=dict)


class Comparison:
    """Entries of a reference with what came of them; `run` once, `rows` at any time."""

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        seeds: int | None = None,
        jobs: int | None = None,
        duration_s: float | None = None,
    ) -> None:
        """Read the scenarios. Entries that cannot run have their row at once.

        Args:
            entries: what to compare.
            seeds: runs of each entry; by precision if not given.
            jobs: runs at a time; all cores if not given.
            duration_s: simulated time of our runs instead of that of the entries, for a shorter look.

        Raises:
            FourhopError: a number that is not allowed.
        """
        if seeds is not None and not 1 <= seeds <= SEEDS_LIMIT:
            raise FourhopError(f"seeds: found {seeds}, allowed: 1 to {SEEDS_LIMIT}")
        if jobs is not None and not 1 <= jobs <= JOBS_LIMIT:
            raise FourhopError(f"jobs: found {jobs}, allowed: 1 to {JOBS_LIMIT}")
        self._entries = list(entries)
        self._seeds = seeds
        self._jobs = jobs or os.cpu_count() or 1
        self._rows: dict[int, Row] = {}
        self._plans: dict[int, _Plan] = {}
        transports = catalog()["transports"]
        for index, entry in enumerate(self._entries):
            if _transport(entry)[0] not in transports:
                self._rows[index] = _row(entry, "not built", f"transport {entry.transport} is not built")
                continue
            try:
                self._plans[index] = _plan(entry, duration_s)
            except (ScenarioError, FourhopError) as error:
                self._rows[index] = _row(entry, "error", str(error))

    @property
    def rows(self) -> list[Row]:
        """The rows there are, in the order of the entries."""
        return [self._rows[index] for index in sorted(self._rows)]

    @property
    def total(self) -> int:
        """How many rows there will be."""
        return len(self._entries)

    def run(self, progress: Callable[[Report], None] | None = None) -> list[Row]:
        """Run what can run and judge it. Ctrl-C raises `KeyboardInterrupt` with `rows` holding what was finished."""
        started = time.monotonic()
        waiting: deque[tuple[int, int]] = deque()
        for index, plan in self._plans.items():
            self._add(index, plan, self._seeds or FIRST_SEEDS, waiting)
        running: dict[tuple[int, int], Batch] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._jobs:
                    task = waiting.popleft()
                    if task[0] not in self._rows:
                        running[task] = Batch(self._plans[task[0]].scenario.resolved_json, [task[1]], 1)
                finished = [row for task in list(running) if (row := self._take(task, running, waiting)) is not None]
                if progress is not None:
                    last: list[Row | None] = [*finished] or [None]
                    for row in last:
                        progress(self._report(running, time.monotonic() - started, row))
                if not finished:
                    time.sleep(_POLL_S)
        finally:
            for batch in running.values():
                batch.stop()
        return self.rows

    def _add(self, index: int, plan: _Plan, wanted: int, waiting: deque[tuple[int, int]]) -> None:
        """More seeds, ahead of the entries that follow."""
        more = [(index, seed) for seed in range(plan.wanted + 1, wanted + 1)]
        if plan.wanted:
            waiting.extendleft(reversed(more))
        else:
            waiting.extend(more)
        plan.wanted = wanted

    def _take(
        self, task: tuple[int, int], running: dict[tuple[int, int], Batch], waiting: deque[tuple[int, int]]
    ) -> Row | None:
        """Take the result of a run if it is there; the row, if that was the last of its entry."""
        index, seed = task
        plan, batch = self._plans[index], running[task]
        row: Row | None = None
        try:
            reported = batch.poll(0.0)
            if reported is None and not batch.is_finished():
                return None
            if reported is None:
                row = _row(plan.entry, "error", f"the run with seed {seed} broke off")
            else:
                plan.runs[seed] = rundata.parse(reported[1])
        except ScenarioError as error:
            row = _row(plan.entry, "error", str(error))
        del running[task]
        if index in self._rows:
            return None
        if row is None and len(plan.runs) == plan.wanted:
            if self._seeds is None and plan.wanted < MOST_SEEDS and not _precise(plan):
                self._add(index, plan, plan.wanted + MORE_SEEDS, waiting)
            else:
                row = _judged(plan)
        if row is not None:
            self._rows[index] = row
        return row

    def _report(self, running: dict[tuple[int, int], Batch], elapsed_s: float, row: Row | None) -> Report:
        live = [plan for index, plan in self._plans.items() if index not in self._rows or self._rows[index].ours]
        planned = sum(plan.wanted * plan.duration_s for plan in live)
        done = sum(len(plan.runs) * plan.duration_s for plan in live)
        for (index, _), batch in running.items():
            done += sum(share for _, share in batch.progress()) * self._plans[index].duration_s
        share = min(1.0, done / planned) if planned else 1.0
        return Report(len(self._rows), len(self._entries), share, done, elapsed_s, row)


def _transport(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """Our name of the entry's transport and the keys that go with it."""
    return validate.RENAMED.get(entry.transport, (entry.transport, ()))


def _plan(entry: Entry, duration_s: float | None) -> _Plan:
    """What is run for an entry. Raises `ScenarioError` or `FourhopError` if its scenario cannot be."""
    lasting = duration_s or entry.duration_s
    transport, overrides = _transport(entry)
    tcp = None if transport == "udp" else transport
    scenario = Scenario.from_ns2(entry.path, transport=tcp, duration=f"{lasting!r}s", overrides=overrides)
    resolved = scenario.resolved
    udp = _udp_flows(entry.path.read_text(encoding="utf-8"))
    flows = len(resolved["flows"])
    if flows != len(entry.runs[0]):
        raise FourhopError(f"{entry.path}: found {flows} flows, allowed: {len(entry.runs[0])}, as results.json has")
    if tcp is None and None in udp:
        raise FourhopError(f"{entry.path}: found a flow line, allowed: udp lines only, as the transport is udp")
    if None in udp:
        share = 0.1 if entry.warmup_s is None else entry.warmup_s / entry.duration_s
        begin_s = share * lasting
        scenario = scenario.with_(warmup=f"{begin_s!r}s")
        offered = None
    else:
        known = [flow for flow in udp if flow is not None]
        begin_s = min(flow.start_s for flow in known)
        bits = sum(
            1e3 * flow.kbps * flow.counted * max(0.0, min(flow.stop_s, lasting) - flow.start_s) for flow in known
        )
        offered = bits / (lasting - begin_s) / 1e3 if lasting > begin_s else None
    return _Plan(
        entry=entry,
        scenario=scenario,
        duration_s=lasting,
        counted_s=lasting - begin_s,
        bytes_counted=tuple(1.0 if flow is None else flow.counted for flow in udp),
        offered_kbps=offered,
        window_of_one=None in udp and resolved["tcp"]["window"] == 1,
    )


@dataclass(frozen=True, slots=True)
class _Udp:
    """A `udp` line."""

    kbps: float
    payload_bytes: float
    start_s: float
    stop_s: float

    @property
    def counted(self) -> float:
        """Bytes that ns-2 counts for a byte of payload."""
        return 1.0 + validate.UDP_HEADER_BYTES / self.payload_bytes


def _udp_flows(text: str) -> list[_Udp | None]:
    """The flows of a scenario file that has been checked: the numbers of `udp` lines, `None` for `flow` lines."""
    flows: list[_Udp | None] = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["flow"]:
            flows.append(None)
        elif words[:1] == ["udp"]:
            flows.append(_Udp(*map(float, words[3:7])))
    return flows


def _counted_bytes(flow: rundata.FlowRun) -> float:
    """Payload that ns-2 counts: of UDP all that arrives, as its LossMonitor knows no repetitions."""
    return flow["throughput_bps"] * flow["active_s"] / 8.0 if flow["transport"] == "udp" else flow["delivered_bytes"]


def _rates(plan: _Plan) -> list[list[float]]:
    """Our goodput in kbit/s for each run and flow, counted as ns-2 counts."""
    return [
        [
            8.0 * counted * _counted_bytes(flow) / plan.counted_s / 1e3
            for counted, flow in zip(plan.bytes_counted, plan.runs[seed]["flows"], strict=True)
        ]
        for seed in sorted(plan.runs)
    ]


def _precise(plan: _Plan) -> bool:
    reached = stats.student_interval([sum(run) for run in _rates(plan)]).relative
    return reached is not None and reached <= PRECISION


def _judged(plan: _Plan) -> Row:
    ns2, ours = validate.side(plan.entry.runs), validate.side(_rates(plan))
    flows = next(iter(plan.runs.values()))["flows"]
    hops = flows[0]["hops"] if len(flows) == 1 else None
    room = plan.offered_kbps is not None and validate.below_capacity(ns2.goodput.mean, plan.offered_kbps)
    found = validate.judge(ns2, ours, hops=hops, uncontended=room or plan.window_of_one)
    return Row(plan.entry, ns2, "agree" if found.agree else "differ", found.reason, ours, hops, found.allowed)


def _row(entry: Entry, verdict: validate.Verdict, reason: str) -> Row:
    return Row(entry, validate.side(entry.runs), verdict, reason)
