"""Captures open in Wireshark without a complaint."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import fourhop
from tests.conftest import Command

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def tshark(path: Path, display_filter: str) -> list[str]:
    """The frames of a capture that a display filter shows, a line each."""
    command = ["tshark", "-n", "-r", str(path), "-Y", display_filter]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()


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
    for path in files:
        assert tshark(path, "radiotap && wlan")
        assert tshark(path, "aodv")
        assert tshark(path, "arp")
        assert tshark(path, "tcp.flags.syn == 1")
        assert len(tshark(path, "tcp.len > 0")) > 50
        assert not tshark(path, "_ws.malformed || _ws.expert.severity == error")
