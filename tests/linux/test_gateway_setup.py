"""`fourhop-gateway setup` and the self-test of `check`, in emulated nodes beside babeld."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, Emulated, Starter, needs

PROGRAM = ROOT / "target" / "release" / "fourhop-gateway"


@pytest.fixture
def net(emulate: Starter) -> Emulated:
    if not PROGRAM.exists():
        pytest.skip("fourhop-gateway is not built: `make linux`")
    # The kernels route, as on a router; no driver or default has this rate.
    return emulate("--tap", "--without-flows", "--set", "radio.rate=5.5Mbps", hops=1)


def setup(net: Emulated, file: Path, *words: str) -> str:
    done = net.run("n0", str(PROGRAM), "setup", "--config", str(file), *words)
    return f"{done.returncode} {done.stdout}{done.stderr}"


def test_the_mesh_its_routing_and_its_rate_are_found(net: Emulated, tmp_path: Path) -> None:
    needs("babeld", "ping")
    file = tmp_path / "gateway.toml"
    said = setup(net, file)
    assert said.startswith("2 "), "nothing says what the mesh is"
    assert "name one with --device: mesh0" in said
    assert not file.exists()
    assert net.run("n0", "ping", "-c", "1", "10.0.0.2").returncode == 0, "so that the kernel knows the neighbour"
    files = ["-I", "", "-S", str(tmp_path / "state"), "-c", "/dev/null"]
    net.start("n0", "babeld", "-r", *files, "mesh0")
    deadline = time.monotonic() + LONGEST
    while not (said := setup(net, file)).startswith("0 "):
        assert time.monotonic() < deadline, said
        time.sleep(0.2)
    assert "babeld uses it" in said
    assert "measured: echoes" in said
    text = file.read_text(encoding="utf-8")
    assert 'devices = ["mesh0"]' in text
    assert 'hops = "ttl"' in text
    rate = re.search(r'rate = "(\d+)kbps"', text)
    assert rate is not None
    # A test in setup/rate.rs, where no machine is late, checks the precision.
    assert 0.5 * 5500 < int(rate[1]) < 2 * 5500
    assert net.run("n0", str(PROGRAM), "run", "--print-rules", "iptables", "--config", str(file)).returncode == 0


def test_check_sends_a_packet_through_the_queue_of_the_kernel(net: Emulated, tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    assert setup(net, file, "--device", "mesh0", "--rate", "5.5Mbps").startswith("0 ")
    said = net.run("n0", str(PROGRAM), "check", "--config", str(file)).stdout
    if "accepts the rules" not in said:
        pytest.skip(f"neither nft nor iptables accepts the rules here: {said}")
    assert "good: a packet went through the kernel's queue and back" in said
    rules = net.run("n0", "iptables-save").stdout.splitlines()
    assert [line for line in rules if line.startswith("-A") or "FOURHOP" in line] == [], (
        "the node has none of its rules"
    )
