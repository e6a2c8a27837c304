"""A network under load, before and after a change: goodput, round trips and fairness, each with an interval.

In the style of flent's rrul_be: several iperf3 TCP connections in both directions at once, with pings meanwhile. A
round is one such load. Intervals are Student's over rounds, so they include variation between rounds.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from fourhop.errors import FourhopError
from fourhop.stats import Interval, jain, student_interval, student_quantile

Direction = Literal["both", "to", "from"]
FLAGS: dict[str, list[str]] = {"both": ["--bidir"], "to": [], "from": ["--reverse"]}

Verdict = Literal["better", "worse", "no difference seen"]

_FORMAT = 1
_PING_EVERY = 0.2
"""Seconds between two pings: the shortest interval allowed without root."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a round: its key in files, its title with the unit, and which direction is better."""

    key: str
    title: str
    scale: float
    more_is_better: bool


METRICS = (
    Metric("goodput_bps", "goodput, kbit/s", 1e-3, True),
    Metric("rtt_p95_ms", "p95 RTT under load, ms", 1.0, False),
    Metric("jain", "Jain's index", 1.0, True),
)


@dataclass(frozen=True, slots=True)
class Load:
    """The load of each round."""

    hosts: list[str]
    seconds: int = 10
    streams: int = 4
    """Connections to each host in each direction."""
    direction: Direction = "both"
    port: int = 5201


@dataclass(frozen=True, slots=True)
class Round:
    """Result of one round."""

    goodput_bps: float
    """Total of all connections, as received."""
    rtt_p95_ms: float
    jain: float
    """Jain's index of all connections."""
    idle_ms: float
    """Median round-trip time just before the load."""
    lost: float
    """Share of pings under load without an answer."""
    by_host_bps: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """All rounds of a load."""

    load: Load
    rounds: list[Round]

    def interval(self, metric: Metric) -> Interval:
        """Mean and interval over the rounds, in the unit of the title."""
        return student_interval([getattr(one, metric.key) * metric.scale for one in self.rounds])

    def save(self, file: Path) -> None:
        """Write it as JSON, for a later comparison."""
        content = {"format": _FORMAT, "load": asdict(self.load), "rounds": [asdict(one) for one in self.rounds]}
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Measured:
        """Read a file written by `save`."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT:
                raise FourhopError(f"{file}: format: found {content['format']}, allowed: {_FORMAT}; measure again")
            return cls(Load(**content["load"]), [Round(**one) for one in content["rounds"]])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FourhopError(f"{file}: not a result of `fourhop measure --out`: {error}") from None


@dataclass(frozen=True, slots=True)
class Difference:
    """Effect of a change on a metric: the 95 % interval of the difference of means, and its verdict."""

    metric: Metric
    before: Interval
    after: Interval
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """A direction only if the interval excludes zero."""
        if self.low <= 0 <= self.high:
            return "no difference seen"
        return "better" if (self.low > 0) == self.metric.more_is_better else "worse"


def difference(metric: Metric, before: Sequence[float], after: Sequence[float]) -> Difference:
    """The difference by Welch's t: rounds before and after are independent, and their variances may differ."""
    sides = (before, after)
    if min(map(len, sides)) < 2:
        raise FourhopError("rounds: found 1, allowed: at least 2 on both sides, for an interval")
    parts = [statistics.variance(side) / len(side) for side in sides]
    middle = statistics.fmean(after) - statistics.fmean(before)
    error = sum(parts)
    if error == 0:
        half = 0.0
    else:
        degrees = error**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
        half = student_quantile(max(1, math.floor(degrees))) * math.sqrt(error)
    intervals = [student_interval(side) for side in sides]
    return Difference(metric, intervals[0], intervals[1], middle - half, middle + half)


def compare(before: Measured, after: Measured) -> list[Difference]:
    """Differences between two measurements of the same load."""
    if before.load != after.load:
        raise FourhopError(f"load: found {after.load}, allowed: that of the first measurement, {before.load}")

    def values(side: Measured, metric: Metric) -> list[float]:
        return [getattr(one, metric.key) * metric.scale for one in side.rounds]

    return [difference(metric, values(before, metric), values(after, metric)) for metric in METRICS]


def streams(answer: Mapping[str, Any]) -> list[float]:
    """Goodput of each connection of an iperf3 run in bit/s, as counted by its receiver."""
    if "error" in answer:
        raise FourhopError(f"iperf3: {answer['error']}")
    return [float(stream["receiver"]["bits_per_second"]) for stream in answer["end"]["streams"]]


def round_trips(text: str) -> tuple[list[float], int]:
    """Round-trip times in ms from ping's output, and the number of pings sent."""
    sent = re.search(r"(\d+) packets transmitted", text)
    return [float(ms) for ms in re.findall(r"time=([\d.]+) ms", text)], int(sent[1]) if sent else 0


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _ping(host: str, seconds: float) -> tuple[list[float], int]:
    command = ["ping", "-n", "-i", str(_PING_EVERY), "-c", str(max(1, round(seconds / _PING_EVERY))), "-W", "2", host]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=False)
    if done.returncode > 1:
        raise FourhopError(f"ping {host}: {done.stderr.strip() or done.stdout.strip()}")
    return round_trips(done.stdout)


def _iperf(load: Load, host: str) -> list[float]:
    command = ["iperf3", "--json", "--client", host, "--port", str(load.port), "--time", str(load.seconds)]
    command += ["--parallel", str(load.streams), *FLAGS[load.direction]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=load.seconds + 60, check=False)
        return streams(json.loads(done.stdout))
    except FourhopError as error:
        raise FourhopError(f"{host}: {error}; run `iperf3 -s -p {load.port}` there") from None
    except (subprocess.TimeoutExpired, ValueError, KeyError) as error:
        raise FourhopError(f"{host}: iperf3 gives no result: {error}") from None


def one_round(load: Load) -> Round:
    """Ping all hosts, then load them all at once while pinging."""
    with ThreadPoolExecutor(2 * len(load.hosts)) as pool:
        idle = [trip for trips, _ in pool.map(lambda host: _ping(host, 2), load.hosts) for trip in trips]
        loads = {host: pool.submit(_iperf, load, host) for host in load.hosts}
        pings = [pool.submit(_ping, host, load.seconds) for host in load.hosts]
        flows = {host: load.result() for host, load in loads.items()}
        pinged = [ping.result() for ping in pings]
    trips, sent = [trip for trips, _ in pinged for trip in trips], sum(sent for _, sent in pinged)
    if not idle or not trips:
        raise FourhopError(f"ping: no answer from {', '.join(load.hosts)}; allow ICMP echoes there")
    every = [flow for some in flows.values() for flow in some]
    return Round(
        goodput_bps=sum(every),
        rtt_p95_ms=quantile(trips, 0.95),
        jain=jain(every) or 0.0,
        idle_ms=statistics.median(idle),
        lost=1 - len(trips) / sent if sent else 0.0,
        by_host_bps={host: sum(some) for host, some in flows.items()},
    )


def measure(load: Load, rounds: int) -> Measured:
    """Measure `rounds` rounds, one after another.

    Raises `FourhopError` if a program is missing or a host does not answer.
    """
    for program in ("iperf3", "ping"):
        if shutil.which(program) is None:
            raise FourhopError(f"{program} is not installed")
    return Measured(load, [one_round(load) for _ in range(rounds)])
