"""A trace says what happened: its tables agree with the run's numbers, with captures and with each other."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fourhop
from fourhop import trace as traces
from fourhop.errors import FourhopError, ScenarioError
from tests.conftest import ROOT, Command

MEDIUM = ("transmitting", "receiving", "busy", "waiting", "nav", "eifs")

# Networks of every kind: moving, wired, acknowledged hop by hop, with noise in the radio, with every kind of flow.
NETWORKS: dict[str, tuple[str, list[str]]] = {
    "chain": ("chain.toml", ["duration=20s"]),
    "chain-standard": ("chain-standard.toml", ["duration=10s"]),
    "moving": ("random-waypoint.toml", ["duration=10s"]),
    "gateway": ("gateway-chain.toml", ["duration=10s"]),
    "two-gateways": ("two-gateways.toml", ["duration=10s"]),
    "c3tcp": ("c3tcp.toml", ["duration=20s"]),
    "local-acks": ("c3tcp.toml", ["duration=20s", "c3tcp.local_acks=true"]),
    "noise": ("hallway.toml", ["duration=5s"]),
    "udp": ("udp.toml", ["duration=10s"]),
    "ping": ("ping.toml", ["duration=60s"]),
    "adhoc": ("adhoc-mix.toml", ["duration=10s"]),
    "files": (
        "parallel.toml",
        ["duration=10s", "traffic.app=files", "traffic.connection=fresh", "traffic.mean_pause=300ms"],
    ),
    "atp": ("chain.toml", ["duration=10s", "flows[*].transport=atp"]),
    "static": ("grid.toml", ["duration=5s", "routing.protocol=static"]),
}


def network(name: str) -> fourhop.Scenario:
    file, overrides = NETWORKS[name]
    return fourhop.Scenario.from_toml(ROOT / "scenarios" / file, overrides=overrides)


def traced(name: str, folder: Path, **what: Any) -> tuple[traces.Trace, dict[str, Any]]:
    """A trace and the numbers of its run."""
    fourhop.run(network(name), trace=traces.Request(folder, **what))
    return traces.open(folder), json.loads((folder / "result.json").read_text())


@pytest.fixture(scope="module", params=NETWORKS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[traces.Trace, Any]:
    return traced(request.param, tmp_path_factory.mktemp("trace"))


def counted(table: pl.DataFrame, *columns: str) -> Counter[Any]:
    rows = table.group_by(columns).len().iter_rows()
    return Counter({row[0] if len(columns) == 1 else row[:-1]: row[-1] for row in rows})


def test_tables_agree_with_the_numbers_of_the_run_and_with_each_other(recorded: tuple[traces.Trace, Any]) -> None:
    trace, result = recorded
    frames, copies = trace.table("frames"), trace.table("receptions")
    assert (frames.height, copies.height) == (result["frames"], result["receptions"])
    assert frames["frame"].to_list() == list(range(frames.height))

    # The fates of copies match the radios' counters.
    radio = dict(result["drops"].get("radio", {}))
    fates = counted(copies, "fate")
    assert {fate: count for fate, count in fates.items() if fate not in ("received", "overheard")} == radio
    both = copies.join(frames, on="frame", suffix="_sent")
    assert both.height == copies.height
    assert both.filter((pl.col("dst") == pl.col("node")) & (pl.col("fate") == "overheard")).is_empty()
    delay = both["start_ns"] - both["start_ns_sent"]
    assert delay.min() >= 0  # type: ignore[operator]
    assert (delay == both["end_ns"] - both["end_ns_sent"]).all()

    # The MAC's counters match the frames sent.
    mac = result["counters"]["mac"]
    kinds = counted(frames, "kind")
    unicast = frames.filter(pl.col("kind") == "data", pl.col("dst").is_not_null()).height
    assert (kinds["rts"], kinds["cts"], kinds["ack"], unicast) == (
        mac["rts_sent"], mac["cts_sent"], mac["acks_sent"], mac["data_sent"]
    )  # fmt: skip
    assert kinds["data"] - unicast - mac["broadcasts"] in range(len(trace.meta["nodes"]) + 1)

    # Each layer lost what it reports as lost; ARP messages are no packets.
    packets = trace.table("packets")
    dropped = counted(packets.filter(pl.col("event") == "dropped"), "reason")
    for layer in ("network", "wire"):
        assert {reason: dropped[reason] for reason in result["drops"].get(layer, {})} == result["drops"].get(layer, {})
    for reason, count in result["drops"].get("link", {}).items():
        assert 0 <= count - dropped[reason] <= count // 10, reason
    failed = counted(packets.filter(pl.col("event") == "failed"), "reason")
    given_up = sum(failed[reason] for reason in ("rts-retry-limit", "data-retry-limit"))
    arp = counted(frames.filter(pl.col("content") == "arp"), "dst")
    assert 0 <= mac["rts_limit_drops"] + mac["data_limit_drops"] - given_up <= arp.total()


def test_nothing_is_lost_without_a_reason_and_nothing_comes_from_nowhere(recorded: tuple[traces.Trace, Any]) -> None:
    trace, result = recorded
    packets = trace.table("packets")
    count = counted(packets, "node", "event")
    inside = 0
    for node in trace.meta["nodes"]:
        number = node["node"]
        came = sum(count[number, event] for event in ("created", "received", "wire-in"))
        went = sum(count[number, event] for event in ("sent", "wire-out", "delivered", "absorbed", "dropped"))
        assert came >= went, node["name"]
        inside += came - went
    layers = result["conservation"]
    known = sum(layers[layer]["held"] for layer in ("mac", "link", "network"))
    # The layers also contain ARP messages, and packets on the way from a MAC up to IP.
    assert known - layers["link"]["held"] <= inside <= known

    # Packets with a sequence number show it.
    without = pl.col("kind").is_in(["rerr", "rrep-ack", "probe", "other"])
    assert packets.filter(without)["seq"].is_null().all()
    assert packets.filter(~without)["seq"].is_not_null().all()

    # A packet is created once, and arrives where it is said to go next.
    created = packets.filter(pl.col("event") == "created")
    assert created["packet"].is_unique().all()
    assert set(packets["packet"]) == set(created["packet"])
    sent = packets.filter(pl.col("event") == "sent").select("packet", "node", sent_ns="time_ns")
    queued = packets.filter(pl.col("event") == "queued").select("packet", "node", "peer")
    received = packets.filter(pl.col("event") == "received")
    # The address of a neighbour that ARP has not resolved may be unknown.
    hops = received.filter(pl.col("peer").is_not_null())
    ways = set(queued.filter(pl.col("peer").is_not_null()).iter_rows())
    unicast = hops.join(queued, left_on=["packet", "peer"], right_on=["packet", "node"], how="semi")
    assert unicast.height == hops.height
    assert {(p, a, b) for p, b, a in hops.select("packet", "node", "peer").iter_rows() if (p, a, b) in ways} or not ways
    assert sent.height <= queued.height


def test_frames_name_their_packets_where_a_mac_has_several(tmp_path: Path) -> None:
    """With access categories and aggregates, the packet of a frame is one of several that the MAC has."""
    slow = [
        "duration=7s",
        "link.arp=false",
        "flows[0].transport=udp",
        "flows[0].rate=200kbps",
        "flows[0].payload=1kB",
    ]
    scenario = fourhop.Scenario.from_toml(ROOT / "scenarios" / "80211n.toml", overrides=slow)
    fourhop.run(scenario, trace=traces.Request(tmp_path))
    trace = traces.open(tmp_path)
    data = trace.table("frames").filter(pl.col("kind") == "data", pl.col("dst").is_not_null())
    assert data.height > 100
    assert data["packet"].is_not_null().all()
    assert set(data["content"]) == {"udp"}
    heads = trace.table("packets").filter(pl.col("event") == "head").select("packet", "node", "flow")
    assert data.join(heads, on=["packet", "node", "flow"], how="anti").is_empty()


def test_times_run_forwards_and_intervals_do_not_overlap(recorded: tuple[traces.Trace, Any]) -> None:
    trace, result = recorded
    end = round(result["simulated_s"] * 1e9)
    for table, column in (
        ("frames", "start_ns"), ("receptions", "end_ns"), ("packets", "time_ns"), ("queues", "time_ns"),
        ("tcp", "time_ns"), ("routes", "time_ns"), ("positions", "time_ns"),
    ):  # fmt: skip
        times = trace.table(table)[column]
        assert times.is_sorted(), table
        assert times.is_empty() or 0 <= times.min() <= times.max() <= end  # type: ignore[operator]
    mac = trace.table("mac").with_columns(medium=pl.col("state").is_in(MEDIUM))
    assert (mac["end_ns"] > mac["start_ns"]).all()
    rows = mac.sort("node", "medium", "start_ns", maintain_order=True)
    same = (pl.col("node") == pl.col("node").shift()) & (pl.col("medium") == pl.col("medium").shift())
    assert rows.filter(same & (pl.col("start_ns") < pl.col("end_ns").shift())).is_empty()
    # A node transmits when its frames say so.
    radiated = (
        trace.table("frames")
        .select("node", "start_ns", pl.col("end_ns").clip(upper_bound=end))
        .sort("node", "start_ns")
    )
    said = mac.filter(pl.col("state") == "transmitting").select("node", "start_ns", "end_ns").sort("node", "start_ns")
    assert radiated.filter(pl.col("start_ns") < pl.col("end_ns")).equals(said)
    # The receiver was receiving until the end of each received frame.
    receiving = mac.filter(pl.col("state") == "receiving").select("node", "end_ns")
    good = trace.table("receptions").filter(pl.col("fate").is_in(["received", "overheard"]))
    assert good.join(receiving, on=["node", "end_ns"], how="anti").is_empty()


def test_back_offs_count_while_the_medium_is_idle_and_end_in_frames(recorded: tuple[traces.Trace, Any]) -> None:
    trace, _ = recorded
    slot = trace.meta["mac"]["slot_ns"]
    mac = trace.table("mac")
    runs = mac.filter(pl.col("state").is_in(["ifs", "counting"]))
    taken = mac.filter(pl.col("state").is_in(MEDIUM), pl.col("state") != "waiting").select(
        "node", start_ns="start_ns", medium_ends_ns="end_ns"
    )
    # During SIFS before an answer, the medium is idle for everybody, and DIFS is longer. The last activity on the
    # medium that begins before a part of a backoff ends is over before that part begins.
    last = runs.sort("end_ns").join_asof(
        taken.sort("start_ns"), left_on="end_ns", right_on="start_ns", by="node", allow_exact_matches=False
    )  # fmt: skip
    assert last.filter(pl.col("medium_ends_ns") > pl.col("start_ns")).is_empty()
    counting = mac.filter(pl.col("state") == "counting")
    spent = counting["end_ns"] - counting["start_ns"]
    assert (spent <= counting["slots"].cast(pl.Int64) * slot).all()
    # A node that transmits after counting has counted all its slots.
    radiated = trace.table("frames").select("node", end_ns="start_ns")
    won = counting.join(radiated, on=["node", "end_ns"], how="semi")
    assert won.height > 10
    answers = trace.table("frames").filter(pl.col("kind").is_in(["cts", "ack"])).select("node", end_ns="start_ns")
    own = won.join(answers, on=["node", "end_ns"], how="anti")
    assert (own["end_ns"] - own["start_ns"] == own["slots"].cast(pl.Int64) * slot).all()
    # When it resumes, the slots left are those not yet counted.
    rows = mac.filter(pl.col("state").is_in(["counting", "frozen"])).sort("node", "start_ns")
    after = rows.filter(
        (pl.col("state") == "frozen") & (pl.col("node") == pl.col("node").shift())
        & (pl.col("state").shift() == "counting") & (pl.col("start_ns") == pl.col("end_ns").shift())
    )  # fmt: skip
    before = counting.join(after.select("node", end_ns="start_ns", left="slots"), on=["node", "end_ns"])
    passed = (before["end_ns"] - before["start_ns"]) // slot
    assert before.height > 10
    assert (before["slots"].cast(pl.Int64) - passed == before["left"].cast(pl.Int64)).all()


def test_ends_of_tcp_say_what_the_flows_count(recorded: tuple[traces.Trace, Any]) -> None:
    trace, result = recorded
    rows = trace.table("tcp").filter(pl.col("end") == "sender")
    for number, flow in enumerate(result["flows"]):
        own = rows.filter(pl.col("flow") == number)
        if flow["transport"] in ("udp", "ping", "atp"):
            continue
        data = counted(own.filter(pl.col("payload") > 0), "event")
        assert data["resent"] <= flow["retransmitted"] <= data["resent"] + 5
        assert 0 <= flow["sent"] - data["sent"] - data["resent"] <= flow["sent"] // 20 + 5, "FINs count, too"
        if own.height:
            for count in ("timeouts", "fast_retransmits", "retransmitted"):
                assert own[count].max() == flow[count], count
            assert counted(own, "event")["timeout"] == flow["timeouts"]
            assert own["seq"].min() == 0


def test_segments_with_data_show_their_acknowledgement(tmp_path: Path) -> None:
    trace, _ = traced("chain", tmp_path)
    segments = trace.table("tcp").filter(pl.col("packet").is_not_null(), pl.col("payload") > 0)
    assert segments.height > 100
    assert segments["ack"].is_not_null().all()


def test_moving_nodes_have_a_place_ten_times_a_second_and_fixed_ones_one(tmp_path: Path) -> None:
    for name, times in (("moving", range(0, 10_000_000_001, 100_000_000)), ("chain", [0])):
        trace, _ = traced(name, tmp_path / name)
        places = trace.table("positions")
        assert places["node"].n_unique() == len(trace.meta["nodes"])
        for _, own in places.group_by("node"):
            assert own["time_ns"].to_list() == list(times), name


def test_a_trace_changes_no_result(tmp_path: Path) -> None:
    for name in ("moving", "two-gateways", "noise"):
        plain, beside = (fourhop.run(network(name), trace=folder) for folder in (None, tmp_path / name))
        first, second = (json.loads(each.to_json()) for each in (plain, beside))
        for each in (first, second):
            for run in each.get("runs", [each]):
                run.pop("wall_s", None)
        assert first == second, name


def test_a_filter_takes_exactly_what_it_says(tmp_path: Path) -> None:
    whole, _ = traced("two-gateways", tmp_path / "whole")
    start, end = 4_000_000_000, 7_500_000_000
    some, _ = traced(
        "two-gateways", tmp_path / "some", start="4s", end="7500ms", nodes=[0, "n5", "B"], flows=["download"]
    )
    assert some.meta["filter"] == {"from_ns": start, "to_ns": end, "nodes": [0, 5, 7], "flows": [0]}
    here = pl.col("node").is_in([0, 5, 7])
    interval = (pl.col("start_ns") < end) & (pl.col("end_ns") >= start)
    instant = (pl.col("time_ns") >= start) & (pl.col("time_ns") < end)
    of_flow = whole.scan("frames").filter(pl.col("flow") == 0).select("frame")
    expected = {
        "frames": whole.scan("frames").filter(here, interval, pl.col("flow") == 0),
        "receptions": whole.scan("receptions").filter(here, interval).join(of_flow, on="frame", how="semi"),
        "mac": whole.scan("mac").filter(here, interval),
        "packets": whole.scan("packets").filter(here, instant, pl.col("flow") == 0),
        "queues": whole.scan("queues").filter(here, instant),
        "tcp": whole.scan("tcp").filter(here, instant, pl.col("flow") == 0),
        "routes": whole.scan("routes").filter(here, instant),
        "positions": whole.scan("positions").filter(here, instant | (pl.col("time_ns") == 0)),
    }
    assert set(expected) == set(traces.TABLES)
    for table, rows in expected.items():
        assert some.table(table).equals(rows.collect()), table
        assert some.table(table).height < whole.table(table).height, f"{table}: something is left out"
        assert table == "routes" or some.table(table).height > 0, table


def test_captures_and_traces_show_the_same(tmp_path: Path) -> None:
    def records(path: Path) -> list[int]:
        """The timestamps of a capture (draft-ietf-opsawg-pcap), in nanoseconds."""
        content, at, stamps = path.read_bytes(), 24, []
        while at < len(content):
            seconds, nanos, length, _ = struct.unpack_from("<IIII", content, at)
            stamps.append(seconds * 1_000_000_000 + nanos)
            at += 16 + length
        return stamps

    fourhop.run(network("chain"), pcap=tmp_path / "pcap", pcap_lost=True, trace=tmp_path / "trace")
    trace = traces.open(tmp_path / "trace")
    lost = ["collision", "frame-error"]
    for node in range(5):
        sent = trace.scan("frames").filter(pl.col("node") == node).select("start_ns").collect()["start_ns"]
        heard = trace.scan("receptions").filter(
            pl.col("node") == node, pl.col("fate").is_in(["received", "overheard", *lost])
        ).select("end_ns").collect()["end_ns"]  # fmt: skip
        assert sorted([*sent, *heard]) == sorted(records(tmp_path / "pcap" / f"node-{node}.pcap"))


def test_an_end_of_a_trace_is_what_the_whole_one_ends_with(tmp_path: Path) -> None:
    whole, _ = traced("chain", tmp_path / "whole")
    folder = tmp_path / "last"
    last, _ = traced("chain", folder, last="5s")
    parts = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert len(parts) == 5, "a folder for each second"
    for table in ("frames", "receptions", "packets", "tcp", "queues"):
        rows = last.table(table)
        assert rows.equals(whole.table(table).tail(rows.height)), table
        assert 0 < rows.height < whole.table(table).height
    seen = list(traces.follow(folder, last=3))
    assert [part.number for part in seen] == [int(name) for name in parts[-3:]]
    assert seen[-1].meta["complete"]
    assert seen[1].tables["frames"].height > 0


def test_the_description_says_what_is_there(tmp_path: Path) -> None:
    trace, _ = traced("two-gateways", tmp_path)
    meta = trace.meta
    assert (meta["format"], meta["complete"], meta["kind"], meta["profile"]) == (1, True, "simulated", "standard")
    assert meta["scenario"]["duration"] == "10s"
    assert trace.flows == [flow["name"] for flow in meta["flows"]]
    page = (ROOT / "docs" / "trace.md").read_text()
    for table in meta["tables"]:
        rows = trace.table(table["name"])
        assert rows.height == table["rows"]
        assert rows.columns == [column["name"] for column in table["columns"]]
        for column in table["columns"]:
            assert f"`{column['name']}`" in page, column["name"]
            assert column["optional"] or rows[column["name"]].null_count() == 0
            names = {"uint16": pl.UInt16, "uint32": pl.UInt32, "int64": pl.Int64, "float": pl.Float32,
                     "double": pl.Float64, "bool": pl.Boolean, "string": pl.String}  # fmt: skip
            assert rows.schema[column["name"]] == names[column["type"]], column["name"]
    hosts = [node["name"] for node in meta["nodes"] if not node["radio"]]
    assert hosts
    assert {node["node"] for node in meta["nodes"]} == set(range(len(meta["nodes"])))


def test_pandas_opens_a_table_as_well(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    trace, _ = traced("ping", tmp_path)
    table = pandas.read_parquet(tmp_path / "frames.parquet")
    assert len(table) == trace.table("frames").height
    assert list(trace.pandas("frames").columns) == list(table.columns)


def test_what_cannot_be_traced_is_said(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    scenario = network("chain")
    import fourhop as package

    with pytest.raises(ScenarioError, match=r'--trace-flows: found "flow-2", allowed: a name or a number from 0 to 0'):
        package.run(scenario, trace=traces.Request(tmp_path / "a", flows=["flow-2"]))
    with pytest.raises(ScenarioError, match=r'--trace-nodes: found "9", allowed: a name or a number from 0 to 4'):
        package.run(scenario, trace=traces.Request(tmp_path / "a", nodes=[9]))
    with pytest.raises(ScenarioError, match="--trace-to: found an end at 2 s, allowed: an end after the start at 3 s"):
        package.run(scenario, trace=traces.Request(tmp_path / "a", start="3s", end="2s"))
    with pytest.raises(FourhopError, match="trace start: found 'soon', allowed: a time"):
        package.run(scenario, trace=traces.Request(tmp_path / "a", start="soon"))
    with pytest.raises(FourhopError, match=r"found no meta.json; name the folder of a trace"):
        traces.open(tmp_path)
    refused = fourhop("run", chain, "--trace-nodes", "0")
    assert (refused.returncode, refused.stderr) == (2, "error: --trace-nodes: needs --trace\n")
    refused = fourhop("run", chain, "--runs", "2", "--perfetto", tmp_path / "x")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: --perfetto: traces one run; leave out --runs and --precision\n",
    )
    (tmp_path / "file").write_text("")
    refused = fourhop("run", chain, "--trace", tmp_path / "file")
    assert refused.returncode == 2
    assert f"{tmp_path / 'file'}" in refused.stderr


def test_the_command_traces_each_run_and_shows_the_tables(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    done = fourhop("run", chain, "--runs", "2", "--trace", tmp_path / "t", "--trace-from", "2s", "--trace-to", "3s")
    assert done.returncode == 0, done.stderr
    assert f"trace: {tmp_path / 't'}" in done.stderr
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["seed-1", "seed-2"]
    shown = fourhop("trace", "tables", tmp_path / "t" / "seed-2")
    assert shown.returncode == 0, shown.stderr
    rows = traces.open(tmp_path / "t" / "seed-2").table("frames").height
    assert f"frames: {rows} rows. A frame that a node has transmitted." in shown.stdout
    as_json = json.loads(fourhop("trace", "tables", tmp_path / "t" / "seed-2", "--json").stdout)
    assert [table["name"] for table in as_json] == list(traces.TABLES)
