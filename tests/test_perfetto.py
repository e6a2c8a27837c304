"""Files for Perfetto are traces of Perfetto's own messages, and show the content of the tables."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fourhop
from fourhop import perfetto
from fourhop import trace as traces
from tests.conftest import Command
from tests.test_trace import network

messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed")
unknown = pytest.importorskip("google.protobuf.unknown_fields").UnknownFieldSet


class Shown:
    """A trace as Perfetto imports TrackEvents: slices by track, counters, instants, arrows."""

    def __init__(self, path: Path) -> None:
        trace = messages.Trace()
        trace.ParseFromString(path.read_bytes())
        assert trace.ByteSize() == path.stat().st_size
        self.names: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.counters: dict[int, str] = {}
        self.slices: list[tuple[int, int, int, Any]] = []
        self.instants: list[tuple[int, int, str]] = []
        self.values: dict[int, list[tuple[int, float]]] = defaultdict(list)
        assert trace.packet[0].sequence_flags == messages.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        for packet in trace.packet:
            # A parser separates unknown fields; there must be none.
            within = packet.track_event if packet.HasField("track_event") else packet.track_descriptor
            assert len(unknown(packet)) == len(unknown(within)) == 0
            if packet.HasField("track_descriptor"):
                self._describe(packet.track_descriptor)
        events = [packet for packet in trace.packet if packet.HasField("track_event")]
        # Perfetto sorts by time and keeps the file's order within an instant.
        open_: dict[int, list[tuple[int, Any]]] = defaultdict(list)
        kinds = messages.TrackEvent
        for packet in sorted(events, key=lambda packet: packet.timestamp):
            event, at = packet.track_event, packet.timestamp
            assert packet.trusted_packet_sequence_id == 1
            assert event.track_uuid in self.names, "every track is described"
            if event.type == kinds.TYPE_SLICE_BEGIN:
                open_[event.track_uuid].append((at, event))
            elif event.type == kinds.TYPE_SLICE_END:
                begun, first = open_[event.track_uuid].pop()
                self.slices.append((event.track_uuid, begun, at, first))
                assert not open_[event.track_uuid], "slices of a track follow each other"
            elif event.type == kinds.TYPE_INSTANT:
                self.instants.append((event.track_uuid, at, event.name))
            else:
                assert event.type == kinds.TYPE_COUNTER
                assert event.track_uuid in self.counters
                value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
                self.values[event.track_uuid].append((at, value))
        assert not any(open_.values()), "every slice ends"

    def _describe(self, track: Any) -> None:
        assert track.uuid not in self.names
        self.names[track.uuid] = track.process.process_name if track.HasField("process") else track.name
        if track.HasField("parent_uuid"):
            assert track.parent_uuid in self.names, "parents come first"
            self.parents[track.uuid] = track.parent_uuid
        if track.HasField("counter"):
            self.counters[track.uuid] = track.counter.unit_name

    def path(self, track: int) -> tuple[str, str]:
        return self.names.get(self.parents.get(track, 0), ""), self.names[track]


@pytest.fixture(scope="module", params=["chain", "two-gateways", "noise"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[traces.Trace, Shown]:
    folder = tmp_path_factory.mktemp("perfetto")
    fourhop.run(network(request.param), trace=traces.Request(folder / "trace", start="2s", end="3500ms"))
    trace = traces.open(folder / "trace")
    perfetto.write(trace, folder / "it.pftrace")
    return trace, Shown(folder / "it.pftrace")


def test_nodes_are_tracks_and_frames_slices(both: tuple[traces.Trace, Shown]) -> None:
    trace, shown = both
    names = {node["node"]: f"node {node['name']}" for node in trace.meta["nodes"]}
    assert set(names.values()) <= set(shown.names.values())
    slices = Counter((shown.path(track), start, end) for track, start, end, _ in shown.slices)
    expected = Counter(
        ((names[node], "sent"), start, end)
        for node, start, end in trace.table("frames").select("node", "start_ns", "end_ns").iter_rows()
    )
    for node, start, end, state in trace.table("mac").select("node", "start_ns", "end_ns", "state").iter_rows():
        expected[(names[node], "medium" if state in perfetto.MEDIUM else "backoff"), start, end] += 1
    assert expected
    assert {key: slices[key] for key in expected} == expected
    received = Counter({key: count for key, count in slices.items() if key[0][1] == "received"})
    good = trace.table("receptions").filter(pl.col("fate") == "received")
    assert 0.99 * good.height <= received.total() <= good.height
    # Losses where they are.
    lost = trace.table("receptions").filter(pl.col("fate").is_in(["collision", "frame-error"]))
    dropped = trace.table("packets").filter(pl.col("event") == "dropped")
    what = Counter(name for _, _, name in shown.instants if name not in ("timeout", "fast-retransmit"))
    assert what == Counter(lost["fate"]) + Counter(f"dropped: {reason}" for reason in dropped["reason"])


def test_packets_are_arrows_from_hop_to_hop(both: tuple[traces.Trace, Shown]) -> None:
    trace, shown = both
    arrows: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for track, start, _, event in sorted(shown.slices, key=lambda each: each[1]):
        for flow in event.flow_ids:
            arrows[flow].append((start, shown.path(track)[0]))
    data = trace.table("frames").filter(pl.col("kind") == "data", pl.col("packet").is_not_null())
    assert set(arrows) == set(data["packet"])
    # A packet that crossed several nodes is drawn through all of them, in this order.
    names = {node["node"]: f"node {node['name']}" for node in trace.meta["nodes"]}
    for packet in data["packet"].unique().to_list()[:200]:
        senders = [names[node] for node in data.filter(pl.col("packet") == packet)["node"]]
        way = [node for _, node in arrows[packet]]
        assert next(node for node in way if node in senders) == senders[0]
        assert set(senders) <= set(way)


def test_counters_hold_windows_and_queues(both: tuple[traces.Trace, Shown]) -> None:
    trace, shown = both
    by_path = {shown.path(track): values for track, values in shown.values.items()}
    for number, name in enumerate(trace.flows):
        rows = trace.table("tcp").filter(pl.col("flow") == number, pl.col("end") == "sender")
        windows = rows.drop_nulls("cwnd_segments")
        if windows.height:
            counted = by_path[f"flow {name}", "window"]
            assert counted[-1][1] == windows["cwnd_segments"][-1]
            assert max(value for _, value in counted) == windows["cwnd_segments"].max()
    queues = trace.table("queues").filter(pl.col("queue") == "interface")
    for (node,), rows in queues.group_by("node"):
        name = next(each["name"] for each in trace.meta["nodes"] if each["node"] == node)
        counted = by_path[f"node {name}", "queue: interface"]
        assert [value for _, value in counted[1:]] == rows["packets"].to_list()


def test_the_command_writes_it_from_a_run_and_from_a_trace(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    done = fourhop("run", chain, "--duration", "2s", "--trace", tmp_path / "t", "--perfetto", tmp_path / "one.pftrace")
    assert done.returncode == 0, done.stderr
    assert f"for Perfetto: {tmp_path / 'one.pftrace'}" in done.stderr
    again = fourhop("trace", "perfetto", tmp_path / "t", tmp_path / "two.pftrace")
    assert again.returncode == 0, again.stderr
    alone = fourhop("run", chain, "--duration", "2s", "--perfetto", tmp_path / "three.pftrace")
    assert alone.returncode == 0, alone.stderr
    assert "trace:" not in alone.stderr
    first = (tmp_path / "one.pftrace").read_bytes()
    assert first == (tmp_path / "two.pftrace").read_bytes() == (tmp_path / "three.pftrace").read_bytes()
    refused = fourhop("trace", "perfetto", tmp_path, tmp_path / "x")
    assert (refused.returncode, "found no meta.json" in refused.stderr) == (2, True)


def test_perfettos_own_trace_processor_takes_it_without_a_complaint(tmp_path: Path) -> None:
    """The program is not in the package: it is fetched at first use, or is on the path."""
    program = shutil.which("trace_processor_shell")
    if program is None:
        pytest.skip("trace_processor_shell is not installed")
    processor = pytest.importorskip("perfetto.trace_processor")
    fourhop.run(network("chain"), trace=tmp_path / "trace")
    perfetto.write(traces.open(tmp_path / "trace"), tmp_path / "it.pftrace")
    config = processor.TraceProcessorConfig(bin_path=program)
    with processor.TraceProcessor(trace=str(tmp_path / "it.pftrace"), config=config) as loaded:
        complaints = loaded.query(
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
        )
        assert [(row.name, row.value) for row in complaints] == []
        slices = next(iter(loaded.query("select count(*) as n from slice where dur >= 0"))).n
    shown = Shown(tmp_path / "it.pftrace")
    assert slices == len(shown.slices) + len(shown.instants)
