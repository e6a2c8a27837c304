"""Runs the entries of a reference on all cores and judges each; `fourhop.validate` defines the format and the rule.

Seeds are 1, 2, ... for every entry. Unless a number is given, 10 run first, then 5 more at a time until the half-width
of our interval is at most 2 % of the mean or 20 have run. The stop rule looks only at our own precision, never at the
distance from ns-2: adding seeds until a verdict comes out would bias it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fourhop import rundata, validate
from fourhop.errors import FourhopError
from fourhop.limits import JOBS_LIMIT, within
from fourhop.quantity import bits_per_second, parse, seconds
from fourhop.scenario import Scenario, catalog
from fourhop.sweeps.local import Threads
from fourhop.sweeps.loop import Loop, Memory
from fourhop.sweeps.schedule import Plan, Rule
from fourhop.validate import Entry, Row

FIRST_SEED = 1
"""Seed of the first run of every entry."""
FIRST_SEEDS = 10
"""Seeds that every entry starts with, by default."""
MORE_SEEDS = 5
"""Seeds added at a time."""
MOST_SEEDS = 20
"""Seeds after which an entry is judged, however wide its interval."""
PRECISION = 0.02
"""Relative half-width that is good enough."""
SEEDS_LIMIT = 10_000
"""Maximum number of seeds; a larger one is a typing error."""


@dataclass(frozen=True, slots=True)
class Report:
    """Progress of a comparison."""

    done: int
    """Number of entries that have a row."""
    total: int
    """Number of entries."""
    fraction: float
    """Share of the work done, 0 to 1; a guess unless the number of seeds is given."""
    simulated_s: float
    """Simulated seconds so far."""
    elapsed_s: float
    """Wall clock since the start."""
    row: Row | None
    """The entry just finished, if any."""


@dataclass(slots=True)
class _Plan:
    """An entry in progress."""

    entry: Entry
    scenario: Scenario
    counted_s: float
    """Time that delivered bytes are divided by."""
    bytes_counted: tuple[float, ...]
    """For each flow, bytes that ns-2 counts per byte of payload."""
    offered_kbps: float | None
    """Offered UDP load, counted as ns-2 does; `None` with TCP."""
    window_of_one: bool


class Agreement:
    """Entries of a reference and their outcomes. Call `run` once; read `rows` at any time."""

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        seeds: int | None = None,
        jobs: int | None = None,
        duration_s: float | None = None,
    ) -> None:
        """Read the scenarios. Entries that cannot run get their row at once.

        Args:
            entries: what to compare.
            seeds: runs per entry; decided by precision if not given.
            jobs: runs at a time; all cores if not given.
            duration_s: simulated time of our runs, to make them shorter than the entries'.

        Raises:
            FourhopError: a number is out of range.
        """
        self._entries = list(entries)
        self._seeds = None if seeds is None else within("seeds", seeds, 1, SEEDS_LIMIT)
        self._jobs = within("jobs", jobs, 1, JOBS_LIMIT) if jobs is not None else os.cpu_count() or 1
        self._rows: dict[int, Row] = {}
        self._plans: dict[int, _Plan] = {}
        transports = catalog()["transports"]
        for index, entry in enumerate(self._entries):
            if _transport(entry)[0] not in transports:
                self._rows[index] = _row(entry, "not built", f"transport {entry.transport} is not built")
                continue
            try:
                self._plans[index] = _plan(entry, duration_s)
            except FourhopError as error:
                self._rows[index] = _row(entry, "error", str(error))

    @property
    def rows(self) -> list[Row]:
        """The rows so far, in the order of the entries."""
        return [self._rows[index] for index in sorted(self._rows)]

    @property
    def total(self) -> int:
        """Number of rows at the end."""
        return len(self._entries)

    def run(self, progress: Callable[[Report], None] | None = None) -> list[Row]:
        """Run and judge every entry that can run. After Ctrl-C, `rows` has the finished ones."""
        plans = list(self._plans.items())
        if not plans:
            return self.rows
        memory = Memory()
        loop = Loop(Plan([(plan.scenario, self._rule(plan)) for _, plan in plans], FIRST_SEED), memory)
        loop.reuse()
        executor = Threads(self._jobs, Path)

        def report() -> None:
            fresh: list[Row | None] = []
            failed = {task.point: error for task, error in loop.failed.items()}
            for point, (index, plan) in enumerate(plans):
                if index not in self._rows and (point in failed or loop.plan.is_done(point)):
                    if point in failed:
                        row = _row(plan.entry, "error", str(failed[point]))
                    else:
                        row = _judged(plan, [memory.runs[point, seed] for seed in loop.plan.seeds(point)])
                    self._rows[index] = row
                    fresh.append(row)
            if progress is not None:
                begun = sum(share * task.duration_s for task, share in executor.running)
                for each in fresh or [None]:
                    progress(
                        Report(
                            done=len(self._rows),
                            total=len(self._entries),
                            fraction=loop.plan.fraction,
                            simulated_s=loop.simulated_s + begun,
                            elapsed_s=loop.elapsed_s,
                            row=each,
                        )
                    )

        loop.run(executor, report)
        return self.rows

    def _rule(self, plan: _Plan) -> Rule:
        if self._seeds is not None:
            return Rule(self._seeds, self._seeds)
        return Rule(FIRST_SEEDS, MOST_SEEDS, PRECISION, lambda run: [sum(_rates(plan, run))], MORE_SEEDS)


def _transport(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """Our name for the entry's transport, and the keys it needs."""
    return validate.RENAMED.get(entry.transport, (entry.transport, ()))


def _plan(entry: Entry, duration_s: float | None) -> _Plan:
    """Plan the run of an entry. Raises `FourhopError` if its scenario cannot be used."""
    lasting = duration_s or entry.duration_s
    transport, overrides = _transport(entry)
    tcp = None if transport == "udp" else transport
    scenario = Scenario.from_ns2(entry.path, transport=tcp, duration=f"{lasting!r}s", overrides=overrides)
    resolved = scenario.resolved
    flows = resolved["flows"]
    if len(flows) != len(entry.runs[0]):
        raise FourhopError(f"{entry.path}: found {len(flows)} flows, allowed: {len(entry.runs[0])}, as in results.json")
    udp = [flow for flow in flows if flow["transport"] == "udp"]
    tcp_flows = len(udp) < len(flows)
    if tcp is None and tcp_flows:
        raise FourhopError(f"{entry.path}: found a flow line, allowed: udp lines only, as the transport is udp")
    offered = None
    if tcp_flows:
        share = 0.1 if entry.warmup_s is None else entry.warmup_s / entry.duration_s
        begin_s = share * lasting
        scenario = scenario.with_(warmup=f"{begin_s!r}s")
    else:
        begin_s = min(seconds(flow["start"]) for flow in udp)
        bits = sum(
            bits_per_second(flow["rate"])
            * _counted(flow)
            * max(0.0, min(seconds(flow["stop"]), lasting) - seconds(flow["start"]))
            for flow in udp
        )
        offered = bits / (lasting - begin_s) / 1e3 if lasting > begin_s else None
    return _Plan(
        entry=entry,
        scenario=scenario,
        counted_s=lasting - begin_s,
        bytes_counted=tuple(map(_counted, flows)),
        offered_kbps=offered,
        window_of_one=tcp_flows and resolved["tcp"]["window"] == 1,
    )


def _counted(flow: dict[str, str]) -> float:
    """Bytes that ns-2 counts per byte of payload."""
    return 1.0 + validate.UDP_HEADER_BYTES / parse(flow["payload"]).value if flow["transport"] == "udp" else 1.0


def _counted_bytes(flow: rundata.FlowRun) -> float:
    """Payload that ns-2 counts: with UDP all that arrives, as its LossMonitor does not recognise duplicates."""
    return flow["throughput_bps"] * flow["active_s"] / 8.0 if flow["transport"] == "udp" else flow["delivered_bytes"]


def _rates(plan: _Plan, run: rundata.RunData) -> list[float]:
    """Our goodput in kbit/s for each flow of a run, counted as ns-2 does."""
    return [
        8.0 * counted * _counted_bytes(flow) / plan.counted_s / 1e3
        for counted, flow in zip(plan.bytes_counted, run["flows"], strict=True)
    ]


def _judged(plan: _Plan, runs: Sequence[rundata.RunData]) -> Row:
    ns2, ours = validate.side(plan.entry.runs), validate.side([_rates(plan, run) for run in runs])
    flows = runs[0]["flows"]
    hops = flows[0]["hops"] if len(flows) == 1 else None
    room = plan.offered_kbps is not None and validate.below_capacity(ns2.goodput.mean, plan.offered_kbps)
    found = validate.judge(ns2, ours, hops=hops, uncontended=room or plan.window_of_one)
    return Row(plan.entry, ns2, "agree" if found.agree else "differ", found.reason, ours, hops, found.allowed)


def _row(entry: Entry, verdict: validate.Verdict, reason: str) -> Row:
    return Row(entry, validate.side(entry.runs), verdict, reason)
