"""The medium of the kernel's own Wi-Fi, in a virtual machine without KVM.

Four radios in an IBSS on one channel of 802.11b, each in a network namespace, then in an 802.11s mesh. The clock of the
guest counts its instructions (`-icount`): the load of this machine changes nothing. `tests/linux/wifi.py` says what it
needs.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import fourhop
from tests.conftest import ROOT
from tests.linux.conftest import needs
from tests.linux.wifi import FOLDER, boot, disk

PROGRAM = ROOT / "target" / "release" / "fourhop-medium"
# In the order in which they need each other.
MODULES = ("rfkill", "libarc4", "cfg80211", "mac80211", "mac80211_hwsim")
RADIOS = 4
PAYLOAD = 1400

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
fourhop-medium run /etc/pairs.toml; echo "without module $?"
for m in rfkill libarc4 cfg80211 mac80211 "mac80211_hwsim radios=4"; do
  set -- $m; insmod /modules/$1.ko $2 || echo "no module $1"
done
ip link set lo up
phys=$(ls /sys/class/ieee80211 | sort -V)
n=0
for phy in $phys; do unshare -n sleep 100000 & eval pid$n=$!; eval phy$n=$phy; n=$((n + 1)); done
sleep 1
at() { eval pid=\\$pid$1; shift; nsenter -t $pid -n "$@"; }
medium() { fourhop-medium run /etc/$1.toml --json > /run/report 2> /run/errors & medium=$!; sleep 1; cat /run/errors; }
over() { kill -INT $medium; wait $medium; echo "ended $1 $?"; echo "report $1 $(cat /run/report)"; }
medium pairs
fourhop-medium run /etc/pairs.toml; echo "second $?"
n=0
for phy in $phys; do
  eval iw phy $phy set netns \\$pid$n
  at $n ip link set lo up
  at $n sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
  device=wlan$n
  at $n iw dev $device set type ibss
  at $n ip link set $device up
  at $n iw dev $device ibss join air 2412 fixed-freq 02:ff:00:00:00:01
  at $n iw dev $device set bitrates legacy-2.4 11
  at $n ip addr add 10.0.0.$((n + 1))/24 dev $device
  n=$((n + 1))
done
sleep 3
at 0 ping -c 3 10.0.0.2; echo "ping $?"
at 0 iw dev wlan0 station dump | grep -E "Station|signal:" | sed 's/^/station /'
for n in 0 1 2 3; do for to in 0 1 2 3; do
  [ $n = $to ] || at $n ip neigh replace 10.0.0.$((to + 1)) lladdr 02:00:00:00:0$to:00 dev wlan$n nud permanent
done; done
count() { at $1 awk '/wlan/ {print $3}' /proc/net/dev; }
# Name, seconds, then senders and receivers: packets that receivers get meanwhile.
measure() {
  name=$1; seconds=$2; shift 2; clients=; receivers=
  for flow in $@; do
    from=${flow%-*}; to=${flow#*-}; port=$((5201 + from)); receivers="$receivers $to"
    at $to iperf3 -s -1 -p $port > /dev/null 2>&1 & clients="$clients $!"
    sleep 0.2
    at $from iperf3 -c 10.0.0.$((to + 1)) -p $port -u -b 9M -l 1400 -t 1000 > /run/client$from 2>&1 &
    clients="$clients $!"
  done
  sleep 2
  for to in $receivers; do eval before$to=$(count $to); done
  sleep $seconds
  for to in $receivers; do eval "echo measured $name $to \\$(($(count $to) - before$to)) $seconds"; done
  kill $clients; killall iperf3; sleep 1
}
measure one 6 0-1
measure pairs 10 0-1 2-3
over pairs
medium hidden
measure hidden 8 0-1 2-3
for n in 0 1 2 3; do eval at $n iw phy \\$phy$n set rts 500; done
measure reserved 8 0-1 2-3
for n in 0 1 2 3; do eval at $n iw phy \\$phy$n set rts off; done
over hidden
medium chain
at 0 ip route replace 10.0.0.4 via 10.0.0.2; at 1 ip route replace 10.0.0.4 via 10.0.0.3
at 3 ip route replace 10.0.0.1 via 10.0.0.3; at 2 ip route replace 10.0.0.1 via 10.0.0.2
at 0 ping -c 2 10.0.0.4; echo "chain $?"
measure hop 6 0-1
measure chain 10 0-3
for n in 0 1 2 3; do
  at $n iw dev wlan$n ibss leave; at $n ip link set wlan$n down
  at $n ip neigh flush all nud permanent; at $n ip route flush 10.0.0.0/24
  at $n iw dev wlan$n set type mp; at $n ip link set wlan$n up
  at $n iw dev wlan$n set bitrates legacy-2.4 11
  at $n iw dev wlan$n mesh join air freq 2412 basic-rates 1,2
  at $n ip addr replace 10.0.1.$((n + 1))/24 dev wlan$n
done
sleep 8
at 0 ping -c 5 10.0.1.4; echo "mesh $?"
at 0 iw dev wlan0 mpath dump | sed 's/^/path /'
over chain
at 0 ping -c 3 10.0.1.4; echo "after $?"
poweroff -f
"""


def scenario(places: list[tuple[int, int]], radio: str = "") -> str:
    """Radios of 802.11b at these places, in metres."""
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
    # Nodes 0 and 2 send to 1 and 3, which are between them, and sense each other as little as they receive each other.
    "hidden": scenario([(0, 0), (240, 0), (480, 0), (240, 30)], 'cs_threshold = "-64.4dBm"'),
    # Neighbours receive each other, all sense each other.
    "chain": scenario([(0, 0), (170, 0), (340, 0), (510, 0)]),
}
FLOWS = {"0-1": (0, 1), "2-3": (2, 3), "0-3": (0, 3)}


def simulated(name: str, *flows: str, rts_threshold: str = "64kB", attempts: int = 7) -> float:
    """Packets per second that the simulator carries in all, of flows that send as much as they can."""
    text = SCENARIOS[name] + f'[mac]\nrts_threshold = "{rts_threshold}"\nshort_retry_limit = {attempts}\n'
    text += f"long_retry_limit = {attempts}\n"
    for flow in flows:
        src, dst = FLOWS[flow]
        text += f'[[flows]]\nfrom = {src}\nto = {dst}\ntransport = "udp"\napp = "cbr"\n'
        text += f'rate = "9Mbps"\npayload = "{PAYLOAD}B"\n'
    found = fourhop.run(fourhop.Scenario(text, f"{name}.toml"), runs=8)
    return float(found.aggregate.mean) / (8 * PAYLOAD)


class Guest:
    """Output of the guest."""

    def __init__(self, said: str) -> None:
        self.said = said

    def packets(self, name: str) -> list[float]:
        """Packets per second at the receivers of a measurement."""
        found = re.findall(rf"^measured {name} \d+ (\d+) (\d+)$", self.said, re.M)
        assert found, self.said
        return [int(packets) / int(seconds) for packets, seconds in found]

    def report(self, name: str) -> dict[str, Any]:
        """The report of a medium whose time was true: nothing else can be compared."""
        found = re.search(rf"^report {name} (\{{.*\}})$", self.said, re.M)
        assert found, self.said
        report: dict[str, Any] = json.loads(found[1])
        assert report["truth"]["holds"], report["truth"]
        assert report["missed"] == 0
        return report


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Guest:
    if not FOLDER:
        pytest.skip("FOURHOP_WIFI names no kernel's package")
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-medium: `make linux` builds it")
    needs("qemu-system-x86_64", "busybox", "cpio", "iw", "iperf3")
    folder = tmp_path_factory.mktemp("medium")
    files = [folder / f"{name}.toml" for name in SCENARIOS]
    for file in files:
        file.write_text(SCENARIOS[file.stem], encoding="utf-8")
    programs = [PROGRAM, *(Path(shutil.which(name) or "") for name in ("iw", "iperf3"))]
    return Guest(boot(disk(folder, INIT, MODULES, programs, files), "-icount", "shift=0,sleep=off"))


def test_two_stations_of_an_ibss_ping_each_other(guest: Guest) -> None:
    said = guest.said
    assert "error: this kernel has no simulated radios" in said
    assert "\nwithout module 2\n" in said
    assert "error: another program is the medium of the simulated radios" in said
    assert "\nsecond 2\n" in said
    assert "\nping 0\n" in said, said
    assert re.search(r"^station .*signal:\s+-\d+ ", said, re.M), said
    report = guest.report("pairs")
    assert [radio["node"] for radio in report["radios"]] == [f"n{n}" for n in range(RADIOS)]
    assert {radio["frequency"] for radio in report["radios"]} == {2412}
    assert report["frames"]["acknowledged"] > 1_000


def test_one_pair_carries_what_it_carries_in_the_simulator(guest: Guest) -> None:
    guest.report("pairs")
    (rate,) = guest.packets("one")
    assert rate == pytest.approx(simulated("pairs", "0-1"), rel=0.03)


def test_two_pairs_get_half_each(guest: Guest) -> None:
    guest.report("pairs")
    first, second = guest.packets("pairs")
    assert first / (first + second) == pytest.approx(0.5, rel=0.05)
    assert first + second == pytest.approx(simulated("pairs", "0-1", "2-3"), rel=0.05)


@pytest.mark.parametrize(("name", "threshold"), [("hidden", "64kB"), ("reserved", "500B")])
def test_hidden_pairs_lose_as_much_as_in_the_simulator(guest: Guest, name: str, threshold: str) -> None:
    # How many packets are given up decides what is carried, and Minstrel has limits of its own.
    allowed = guest.report("hidden")["frames"]["attempts_allowed"]
    attempts = int(max(allowed, key=allowed.__getitem__))
    expected = simulated("hidden", "0-1", "2-3", rts_threshold=threshold, attempts=attempts)
    assert sum(guest.packets(name)) == pytest.approx(expected, rel=0.1)


def test_a_chain_of_three_hops_carries_what_it_carries_in_the_simulator(guest: Guest) -> None:
    guest.report("chain")
    assert "\nchain 0\n" in guest.said, guest.said
    (hop,), (chain,) = guest.packets("hop"), guest.packets("chain")
    assert hop == pytest.approx(simulated("chain", "0-1"), rel=0.03)
    assert chain == pytest.approx(simulated("chain", "0-3"), rel=0.1)


def test_a_mesh_of_802_11s_finds_a_path_over_three_hops_and_nothing_is_left(guest: Guest) -> None:
    assert "\nmesh 0\n" in guest.said, guest.said
    # Destination, next hop: the others are too far away.
    assert re.search(r"^path 02:00:00:00:03:00 02:00:00:00:01:00 ", guest.said, re.M), guest.said
    for name in SCENARIOS:
        assert f"\nended {name} 0\n" in guest.said
    assert "\nafter 0\n" in guest.said, "without a medium radios hear each other as before"
