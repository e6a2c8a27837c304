"""The medium of the kernel's own Wi-Fi, in a virtual machine without KVM.

Three radios of 802.11b in a row, each in a network namespace, in an IBSS and in an 802.11s mesh. `tests/linux/wifi.py`
says what it needs.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import needs
from tests.linux.wifi import FOLDER, boot, disk

PROGRAM = ROOT / "target" / "release" / "fourhop-medium"
# In the order in which they need each other.
MODULES = ("rfkill", "libarc4", "cfg80211", "mac80211", "mac80211_hwsim")

# Neighbours hear each other.
SCENARIO = """profile = "standard"
duration = "9s"
[topology]
kind = "chain"
hops = 2
spacing = "200m"
[radio]
rate = "11Mbps"
"""

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
fourhop-medium run /etc/chain.toml; echo "without module $?"
for m in rfkill libarc4 cfg80211 mac80211 "mac80211_hwsim radios=3"; do
  set -- $m; insmod /modules/$1.ko $2 || echo "no module $1"
done
ip link set lo up
phys=$(ls /sys/class/ieee80211 | sort -V)
n=0
for phy in $phys; do unshare -n sleep 100000 & eval pid$n=$!; n=$((n + 1)); done
sleep 1
at() { eval pid=\\$pid$1; shift; nsenter -t $pid -n "$@"; }
medium() {
  fourhop-medium run /etc/chain.toml --json > /run/report 2> /run/errors & medium=$!
  until grep -q ready /run/errors; do sleep 0.1; done
}
over() { kill -$2 $medium; wait $medium; echo "ended $1 $?"; echo "report $1 $(cat /run/report)"; }
# The answer may take several: stations have to find each other first.
reaches() {
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    at 0 ping -c 1 -W 2 $2 && break
  done; echo "$1 $?"
}
medium
fourhop-medium run /etc/chain.toml; echo "second $?"
n=0
for phy in $phys; do
  eval iw phy $phy set netns \\$pid$n
  at $n iw dev wlan$n set type ibss; at $n ip link set wlan$n up
  at $n iw dev wlan$n ibss join air 2412 fixed-freq 02:ff:00:00:00:01
  at $n ip addr add 10.0.0.$((n + 1))/24 dev wlan$n
  n=$((n + 1))
done
reaches ibss 10.0.0.2
at 0 ping -c 2 -W 2 10.0.0.3; echo "far $?"
at 0 iw dev wlan0 station dump | grep -E "^Station|signal:" | sed 's/^/station /'
over ibss INT
for n in 0 1 2; do
  at $n iw dev wlan$n ibss leave; at $n ip link set wlan$n down
  at $n iw dev wlan$n set type mp; at $n ip link set wlan$n up
done
medium
for n in 0 1 2; do at $n iw dev wlan$n mesh join air freq 2412 basic-rates 1,2; done
reaches mesh 10.0.0.3
at 0 iw dev wlan0 mpath dump | sed 's/^/path /'
over mesh KILL
reaches after 10.0.0.3
poweroff -f
"""


@pytest.mark.skipif(not FOLDER, reason="FOURHOP_WIFI names no kernel's package")
@pytest.mark.skipif(not PROGRAM.exists(), reason="there is no fourhop-medium: `make linux` builds it")
def test_stations_of_an_ibss_and_of_a_mesh_hear_each_other_as_the_scenario_says(tmp_path: Path) -> None:
    needs("qemu-system-x86_64", "busybox", "cpio", "iw")
    scenario = tmp_path / "chain.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    said = boot(disk(tmp_path, INIT, MODULES, [PROGRAM, Path(shutil.which("iw") or "")], [scenario]))
    assert "error: this kernel has no simulated radios. Try: modprobe mac80211_hwsim" in said
    assert "\nwithout module 2\n" in said
    assert "error: another program is the medium of the simulated radios" in said
    assert "\nsecond 2\n" in said

    assert "\nibss 0\n" in said, said
    assert "\nfar 1\n" in said, "two hops away, and nobody relays"
    stations = re.findall(r"^station Station (\S+) .*\nstation \s+signal:\s+(-\d+) ", said, re.M)
    # 281.8 mW over 200 m of two-ray ground: 8.9e-10 W.
    assert stations == [("02:00:00:00:01:00", "-60")], said
    assert "\nended ibss 0\n" in said
    found = re.search(r"^report ibss (\{.*\})$", said, re.M)
    assert found, said
    report = json.loads(found[1])
    assert [(radio["node"], radio["frequency"]) for radio in report["radios"]] == [(f"n{n}", 2412) for n in range(3)]
    frames = report["frames"]
    assert frames["acknowledged"] > 0
    assert frames["delivered"] > frames["acknowledged"]
    assert (report["missed"], report["refused"]) == (0, {})

    assert "\nmesh 0\n" in said, said
    assert re.search(r"^path 02:00:00:00:02:00 02:00:00:00:01:00 ", said, re.M), "a path by the one in the middle"
    assert "\nended mesh 137\n" in said
    assert "\nafter 0\n" in said, "the kernel has forgotten a medium that was killed"
