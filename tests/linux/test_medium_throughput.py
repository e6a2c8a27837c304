"""The medium of the kernel's own Wi-Fi, in a virtual machine without KVM.

Four radios in an IBSS on one 802.11b channel, each in a network namespace, then in an 802.11s mesh. The guest's clock
counts its instructions (`-icount`), so the load of this machine does not matter. `tests/linux/wifi.py` lists the
requirements.
"""

from __future__ import annotations

import re

import pytest

from tests.linux.wifi import guest, packets, simulated, true

RADIOS = 4
OFFERED = "9Mbps"

BODY = """fourhop-medium run /etc/pairs.toml; echo "without module $?"
load; namespaces
medium pairs
fourhop-medium run /etc/pairs.toml; echo "second $?"
move
cell "$b" 0 1 2 3
reaches ping 0 10.0.0.2
at 0 iw dev wlan0 station dump | grep -E "Station|signal:" | sed 's/^/station /'
known 0 1 2 3
measure one 6 9M 0-1
measure pairs 10 9M 0-1 2-3
over pairs
medium hidden
measure hidden 8 9M 0-1 2-3
for n in 0 1 2 3; do eval at $n iw phy \\$phy$n set rts 500; done
measure reserved 8 9M 0-1 2-3
for n in 0 1 2 3; do eval at $n iw phy \\$phy$n set rts off; done
over hidden
medium chain
hops
reaches chain 0 10.0.0.4
measure hop 6 9M 0-1
measure chain 10 9M 0-3
for n in 0 1 2 3; do at $n ip neigh flush all nud permanent; done
reset mp
mesh "$b" 0 1 2 3
sleep 8
reaches mesh 0 10.0.1.4
at 0 iw dev wlan0 mpath dump | sed 's/^/path /'
over chain
at 0 ping -c 3 10.0.1.4; echo "after $?"
"""


def scenario(places: list[tuple[int, int]], radio: str = "") -> str:
    """802.11b radios at these positions, in metres."""
    positions = ", ".join(f'["{x}m", "{y}m"]' for x, y in places)
    return f"""profile = "standard"
duration = "20s"
[topology]
kind = "positions"
positions = [{positions}]
[radio]
rate = "11Mbps"
{radio}
[routing]
protocol = "static"
"""


SCENARIOS = {
    # All hear each other.
    "pairs": scenario([(0, 0), (50, 0), (0, 50), (50, 50)]),
    # Nodes 0 and 2 send to 1 and 3, which are between them, and neither receive nor sense each other.
    "hidden": scenario([(0, 0), (240, 0), (480, 0), (240, 30)], 'cs_threshold = "-64.4dBm"'),
    # Neighbours receive each other; all sense each other.
    "chain": scenario([(0, 0), (170, 0), (340, 0), (510, 0)]),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    files = {f"{name}.toml": text for name, text in SCENARIOS.items()}
    folder = tmp_path_factory.mktemp("throughput")
    return guest(folder, RADIOS, BODY, ours=["fourhop-medium"], tools=["iperf3"], files=files)


def test_two_stations_of_an_ibss_ping_each_other(said: str) -> None:
    assert "error: this kernel has no simulated radios" in said
    assert "\nwithout module 2\n" in said
    assert "error: another program is the medium of the simulated radios" in said
    assert "\nsecond 2\n" in said
    assert "\nping 0\n" in said, said
    assert re.search(r"^station .*signal:\s+-\d+ ", said, re.M), said
    report = true(said, "pairs")
    assert [radio["node"] for radio in report["radios"]] == [f"n{n}" for n in range(RADIOS)]
    assert {radio["frequency"] for radio in report["radios"]} == {2412}
    assert report["frames"]["acknowledged"] > 1_000


def test_one_pair_carries_what_it_carries_in_the_simulator(said: str) -> None:
    true(said, "pairs")
    (rate,) = packets(said, "one")
    assert rate == pytest.approx(simulated(SCENARIOS["pairs"], "0-1", rate=OFFERED), rel=0.03)


def test_two_pairs_get_half_each(said: str) -> None:
    true(said, "pairs")
    first, second = packets(said, "pairs")
    assert first / (first + second) == pytest.approx(0.5, rel=0.05)
    assert first + second == pytest.approx(simulated(SCENARIOS["pairs"], "0-1", "2-3", rate=OFFERED), rel=0.05)


@pytest.mark.parametrize(("name", "threshold"), [("hidden", "64kB"), ("reserved", "500B")])
def test_hidden_pairs_lose_as_much_as_in_the_simulator(said: str, name: str, threshold: str) -> None:
    # The throughput depends on how many packets are given up, and Minstrel has its own limits.
    allowed = true(said, "hidden")["frames"]["attempts_allowed"]
    attempts = int(max(allowed, key=allowed.__getitem__))
    expected = simulated(SCENARIOS["hidden"], "0-1", "2-3", rate=OFFERED, rts_threshold=threshold, attempts=attempts)
    assert sum(packets(said, name)) == pytest.approx(expected, rel=0.1)


def test_a_chain_of_three_hops_carries_what_it_carries_in_the_simulator(said: str) -> None:
    true(said, "chain")
    assert "\nchain 0\n" in said, said
    (hop,), (chain,) = packets(said, "hop"), packets(said, "chain")
    assert hop == pytest.approx(simulated(SCENARIOS["chain"], "0-1", rate=OFFERED), rel=0.03)
    assert chain == pytest.approx(simulated(SCENARIOS["chain"], "0-3", rate=OFFERED), rel=0.1)


def test_a_mesh_of_802_11s_finds_a_path_over_three_hops_and_nothing_is_left(said: str) -> None:
    assert "\nmesh 0\n" in said, said
    # Destination and next hop: the others are too far away.
    assert re.search(r"^path 02:00:00:00:03:00 02:00:00:00:01:00 ", said, re.M), said
    for name in SCENARIOS:
        assert f"\nended {name} 0\n" in said
    assert "\nafter 0\n" in said, "without a medium radios hear each other as before"
