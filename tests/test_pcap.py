"""Captures open in Wireshark without complaints."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import fourhop
from tests.conftest import HANGS, Command

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def tshark(path: Path, display_filter: str) -> list[str]:
    """The frames of a capture that a display filter shows, one line each."""
    command = ["tshark", "-n", "-r", str(path), "-Y", display_filter]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANGS).stdout.splitlines()


def test_one_file_a_node_and_one_folder_a_seed(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    one = fourhop("run", chain, "--pcap", tmp_path / "one")
    assert one.returncode == 0, one.stderr
    assert f"captures: {tmp_path / 'one'}" in one.stderr
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 4
    two = fourhop("run", chain, "--runs", "2", "--pcap", tmp_path / "two")
    assert two.returncode == 0, two.stderr
    for seed in ("seed-1", "seed-2"):
        assert sorted(path.name for path in (tmp_path / "two" / seed).iterdir()) == names
    same = tmp_path / "two" / "seed-1" / names[0]
    assert same.read_bytes() == (tmp_path / "one" / names[0]).read_bytes()


def test_one_file_for_all_nodes_and_frames_that_were_lost(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    done = fourhop("run", chain, "--pcap", tmp_path / "all", "--pcap-merged", "--pcap-lost")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["capture.pcapng"]
    # The magic number of a pcapng section.
    assert (tmp_path / "all" / "capture.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    refused = fourhop("run", chain, "--pcap-merged")
    assert refused.returncode == 2
    assert refused.stderr == "error: pcap_merged: needs pcap\n"


@needs_tshark
def test_tshark_tells_nodes_and_lost_frames_apart(tmp_path: Path) -> None:
    result = fourhop.run(fourhop.Scenario.chain(hops=4, duration="5s"), pcap=tmp_path, pcap_merged=True, pcap_lost=True)
    file = tmp_path / "capture.pcapng"
    lost = result.drops.filter(pl.col("reason") == "collision")["count"].sum()
    assert lost > 0
    assert len(tshark(file, "radiotap.flags.badfcs == 1")) == lost
    assert len(tshark(file, 'frame.interface_name == "node-4" && tcp.len > 0')) > 10
    assert not tshark(file, "_ws.malformed || _ws.expert.severity == error")


def test_a_capture_changes_no_result(tmp_path: Path) -> None:
    scenario = fourhop.Scenario.chain(hops=3, duration="5s")
    plain = fourhop.run(scenario)
    captured = fourhop.run(scenario, pcap=tmp_path)
    assert captured.flows.equals(plain.flows)
    assert captured.counters.equals(plain.counters)


@needs_tshark
@pytest.mark.parametrize("profile", ["ns2", "standard"])
def test_tshark_decodes_every_frame(tmp_path: Path, profile: str) -> None:
    fourhop.run(fourhop.Scenario.chain(hops=2, duration="5s", profile=profile), pcap=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    wanted = ("frame.protocols", "tcp.flags.syn", "tcp.len", "_ws.malformed", "_ws.expert.severity")
    for path in files:
        frames = fields(path, "frame", *wanted)
        protocols = {protocol for row in frames for protocol in row[0].split(":")}
        assert {"radiotap", "wlan", "aodv", "arp", "tcp"} <= protocols
        assert any(row[1] in ("1", "True") for row in frames)
        assert sum(int(row[2] or 0) > 0 for row in frames) > 50
        assert not [row for row in frames if row[3] or EXPERT_ERROR in row[4].split(",")]


EXPERT_ERROR = "8388608"
"""Text that tshark prints for the severity of an error (PI_ERROR of its epan/proto.h)."""

SCRIPT = Path(__file__).parent.parent / "scripts" / "c3tcp.lua"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of a chain of two hops with C3TCP."""
    folder = tmp_path_factory.mktemp("c3tcp")
    scenario = fourhop.Scenario.chain(hops=2, duration="3s", c3tcp={"enabled": True})
    fourhop.run(scenario, pcap=folder)
    return folder


def fields(path: Path, display_filter: str, *names: str) -> list[list[str]]:
    """Fields of the frames that a display filter shows, with the options of C3TCP decoded."""
    command = ["tshark", "-n", "-X", f"lua_script:{SCRIPT}", "-r", str(path), "-Y", display_filter, "-T", "fields"]
    command += [word for name in names for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANGS)
    return [line.split("\t") for line in done.stdout.splitlines()]


def lua() -> bool:
    if shutil.which("tshark") is None:
        return False
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True, timeout=HANGS).stdout
    return "with Lua" in " ".join(version.split())


@pytest.mark.skipif(not lua(), reason="no tshark with Lua is installed")
def test_tshark_decodes_the_options_of_c3tcp(measured: Path) -> None:
    relay = measured / "node-1.pcap"
    data = fields(relay, "c3tcp.path.links", "c3tcp.path.links", "c3tcp.path.bandwidth", "c3tcp.path.delay", "tcp.len")
    assert len(data) > 50
    assert {row[0] for row in data} == {"1", "2"}
    assert {row[3] for row in data} == {"1460"}
    # At most 2 Mbit/s, and a segment of 1,500 bytes takes at least the 6 ms that it is on the air.
    assert all(0 < int(row[1]) < 2_000_000 and int(row[2]) > 6_000 * int(row[0]) for row in data)
    echoes = fields(relay, "c3tcp.echo.delay", "c3tcp.echo.delay", "c3tcp.back.links", "tcp.len")
    assert {tuple(row[1:]) for row in echoes} == {("1", "0"), ("2", "0")}
    assert not fields(relay, "_ws.malformed || _ws.expert.severity == error", "frame.number")


@needs_tshark
def test_the_options_of_c3tcp_do_no_harm_without_the_script(measured: Path) -> None:
    relay = measured / "node-1.pcap"
    assert len(tshark(relay, "llc.type == 0x88b5")) > 50
    assert not tshark(relay, "_ws.malformed || _ws.expert.severity == error")


def test_captures_without_c3tcp_have_no_options(tmp_path: Path) -> None:
    fourhop.run(fourhop.Scenario.chain(hops=1, duration="3s"), pcap=tmp_path)
    snap = bytes([0xAA, 0xAA, 3, 0, 0, 0])
    assert snap + b"\x08\x00" in (tmp_path / "node-0.pcap").read_bytes()
    assert snap + b"\x88\xb5" not in (tmp_path / "node-0.pcap").read_bytes()


@needs_tshark
def test_tshark_sees_marks_and_their_answers(tmp_path: Path) -> None:
    """RFC 3168: the handshake, ECT(0), a mark, its echo and the answer, with valid checksums."""
    red = {"red": True, "red_low": "0", "red_high": "0.5", "ecn": True}
    tcp = {"ecn": True, "window": 64}
    chain = fourhop.Scenario.chain(4, transport="cubic", duration="20s", profile="standard", link=red, tcp=tcp)
    result = fourhop.run(chain, pcap=tmp_path, pcap_merged=True)
    assert result.counters.filter(pl.col("name") == "marked")["count"].sum() > 0
    file = tmp_path / "capture.pcapng"
    handshake = "tcp.flags.syn == 1 && tcp.flags.ece == 1 && ip.dsfield.ecn == 0"
    for shown in (
        f"{handshake} && tcp.flags.cwr == 1 && tcp.flags.ack == 0",
        f"{handshake} && tcp.flags.cwr == 0 && tcp.flags.ack == 1",
        "ip.dsfield.ecn == 2 && tcp.len > 0",
        "ip.dsfield.ecn == 3 && tcp.len > 0",
        "tcp.flags.ece == 1 && tcp.flags.syn == 0 && tcp.len == 0",
        "tcp.flags.cwr == 1 && tcp.flags.syn == 0 && tcp.len > 0",
    ):
        assert tshark(file, shown), shown
    assert not tshark(file, "ip.dsfield.ecn != 0 && (udp || tcp.len == 0)")
    assert not tshark(file, "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0")
