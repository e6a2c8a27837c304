"""A trace of an emulation says what its report and its captures say."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from fourhop import trace as traces
from fourhop.emulation import program, traced
from fourhop.errors import FourhopError
from tests.linux.conftest import LONGEST, Starter, needs


def test_packets_of_programs_are_followed_from_hop_to_hop(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    net = emulate("--without-flows", "--trace", str(tmp_path), hops=3)
    assert net.run("n0", "ping", "-c", "4", "-i", "0.2", "n3").returncode == 0
    report = net.end()
    trace = traces.open(tmp_path)
    assert (trace.meta["complete"], trace.meta["kind"]) == (True, "emulated")
    assert trace.table("frames").height == report["frames"]
    packets = trace.table("packets")
    pings = packets.filter(pl.col("flow").is_not_null())
    (flow,) = trace.meta["flows"]
    assert (flow["src"], flow["dst"], flow["transport"], flow["app"]) == (0, 3, "icmp", "program")
    # Each request visits every node in order, each reply in reverse.
    ways = [
        group["node"].to_list()
        for _, group in pings.filter(pl.col("event").is_in(["created", "received"])).group_by(
            "packet", maintain_order=True
        )
    ]
    assert sorted(ways) == sorted([[0, 1, 2, 3]] * 4 + [[3, 2, 1, 0]] * 4)
    assert pings.filter(pl.col("event") == "delivered").height == 8
    mac = report["counters"]["mac"]
    assert trace.table("frames").filter(pl.col("kind") == "rts").height == mac["rts_sent"]


def test_the_last_seconds_can_be_followed_while_they_come(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    net = emulate("--without-flows", "--trace", str(tmp_path), "--trace-last", "3s", hops=2)
    listed = subprocess.run([program(), "list", "--json"], capture_output=True, text=True, check=True).stdout
    state = next(line for line in map(json.loads, listed.splitlines()) if line["id"] == net.id)
    assert state["trace"] == str(tmp_path)
    assert traced(net.id) == tmp_path
    with pytest.raises(FourhopError, match="emulation: found 'nobody', allowed: one with --trace"):
        traced("nobody")
    net.start("n0", "ping", "-i", "0.2", "n2")
    deadline = time.monotonic() + LONGEST
    followed = traces.follow(tmp_path, ended=lambda: time.monotonic() > deadline)
    parts = [next(followed) for _ in range(4)]
    assert [part.number for part in parts] == list(range(parts[0].number, parts[0].number + 4))
    for part in parts[1:]:
        times = part.tables["packets"]["time_ns"]
        assert times.is_between(part.number * 10**9, (part.number + 1) * 10**9).all()
    assert parts[-1].tables["packets"].height > 20
    assert [flow["transport"] for flow in parts[-1].meta["flows"]] == ["icmp"]
    net.end()
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 3
