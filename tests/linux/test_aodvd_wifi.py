"""The routing daemon over the kernel's own Wi-Fi, simulated by mac80211_hwsim, in a virtual machine without KVM.

`FOURHOP_WIFI` names a folder with an unpacked kernel package (`dpkg -x linux-image-...-unsigned_*.deb FOLDER`);
without it the test is skipped. The guest has three radios in an IBSS, each in a network namespace; the first and the
last do not hear each other. It contains only busybox, iw, our program and eight modules, and sends only to itself.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.linux.aodvd import PROGRAM
from tests.linux.conftest import needs
from tests.linux.wifi import FOLDER, boot, disk

# In order of dependency.
MODULES = ("rfkill", "libarc4", "cfg80211", "mac80211", "virtio", "virtio_ring", "mac80211_hwsim", "tun")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
mount -t debugfs none /sys/kernel/debug
for m in rfkill libarc4 cfg80211 mac80211 virtio virtio_ring "mac80211_hwsim radios=3" tun; do
  set -- $m; insmod /modules/$1.ko $2 || echo "no module $1"
done
[ -c /dev/net/tun ] || { mkdir -p /dev/net; mknod /dev/net/tun c 10 200; }
phys=$(ls /sys/class/ieee80211 | sort -V)
n=0; mask=1
for phy in $phys; do
  # A chain: radios hear those with which they share a group.
  case $n in 0) group=1;; 1) group=3;; 2) group=2;; esac
  echo $group > /sys/kernel/debug/ieee80211/$phy/hwsim/group
  unshare -n sleep 100000 & eval pid$n=$!
  n=$((n + 1))
done
sleep 2
n=0
for phy in $phys; do
  eval pid=\\$pid$n
  iw phy $phy set netns $pid || echo "phy $phy stays"
  inside="nsenter -t $pid -n"
  device=$($inside iw dev | awk '$1 == "Interface" {print $2; exit}')
  $inside ip link set lo up
  $inside iw dev $device set type ibss
  $inside ip link set $device up
  $inside iw dev $device ibss join mesh 2412
  $inside ip addr add 10.0.0.$((n + 1))/24 dev $device
  echo "node $n $phy $device"
  eval device$n=$device phy$n=$phy
  n=$((n + 1))
done
run() {  # node, source of signals, more keys
  eval device=\\$device$1
  cat > /run/$1.toml <<END
address = "10.0.0.$(($1 + 1))"
interfaces = ["$device"]
mesh = ["10.0.0.0/24"]
[routing]
reboot_wait = false
[signal]
source = "$2"
threshold = "-80dBm"
$3
[failures]
frames = 1
arp = false
[system]
control = "/run/control$1"
state = "/run/state$1"
user = "root"
END
  eval pid=\\$pid$1
  nsenter -t $pid -n fourhop-aodvd run --config /run/$1.toml & eval daemon$1=$!
}
sleep 5
for n in 0 1 2; do run $n nl80211; done
sleep 12
nsenter -t $pid0 -n ping -c 5 10.0.0.3; echo "ping $?"
echo "state0 $(fourhop-aodvd routes --json --control /run/control0)"
echo "state1 $(fourhop-aodvd routes --json --control /run/control1)"
nsenter -t $pid0 -n iw dev $device0 station dump | grep -E "signal:|tx failed|Station" | sed 's/^/station /'
# Each frame, by a device in monitor mode.
kill $daemon0; wait $daemon0
nsenter -t $pid0 -n iw dev $device0 interface add mon0 type monitor
nsenter -t $pid0 -n ip link set mon0 up
run 0 monitor 'monitor = "mon0"'
sleep 8
echo "monitor0 $(fourhop-aodvd routes --json --control /run/control0)"
kill $daemon0; wait $daemon0
# The one in the middle goes out of reach: the driver gives frames up.
run 0 nl80211; sleep 8
nsenter -t $pid0 -n ping -c 3 10.0.0.2 > /dev/null
kill -STOP $daemon1
echo 4 > /sys/kernel/debug/ieee80211/$phy1/hwsim/group
nsenter -t $pid0 -n ping -c 2 -W 1 10.0.0.2 > /dev/null
echo "lost0 $(fourhop-aodvd routes --json --control /run/control0)"
for n in 0 2; do eval kill \\$daemon$n; done
sleep 2
echo "rules [$(nsenter -t $pid0 -n ip rule | grep -c 142)]"
poweroff -f
"""


@pytest.mark.skipif(not FOLDER, reason="FOURHOP_WIFI names no kernel's package")
@pytest.mark.skipif(not PROGRAM.exists(), reason="there is no fourhop-aodvd: `make linux` builds it")
def test_three_radios_of_hwsim_discover_route_and_see_the_signal(tmp_path: Path) -> None:
    needs("qemu-system-x86_64", "busybox", "cpio", "iw")
    said = boot(disk(tmp_path, INIT, MODULES, [PROGRAM, Path(shutil.which("iw") or "")]))

    def state(name: str) -> dict[str, dict[str, object]]:
        found = re.search(rf"^{name} (\{{.*\}})$", said, re.M)
        assert found, said
        whole = json.loads(found[1])
        routes = {one["destination"]: one for one in whole["routes"] if one["state"] == "valid"}
        neighbours = {one["address"]: one for one in whole["neighbours"]}
        return {"routes": routes, "neighbours": neighbours, "daemon": whole["daemon"]}

    assert "\nping 0" in said, said
    first = state("state0")
    far = first["routes"]["10.0.0.3"]
    assert isinstance(far, dict)
    assert (far["hops"], far["next_hop"]) == (2, "10.0.0.2"), "the one in the middle relays"
    assert "10.0.0.3" not in first["neighbours"]
    near = first["neighbours"]["10.0.0.2"]
    assert isinstance(near, dict)
    assert re.search(rf"station\s+signal:\s+{near['signal_dbm']:.0f} ", said), "what iw says, too"
    assert near["stable"] is True
    assert set(state("state1")["neighbours"]) == {"10.0.0.1", "10.0.0.3"}
    watched = state("monitor0")["neighbours"]["10.0.0.2"]
    assert isinstance(watched, dict)
    assert watched["signal_dbm"] == near["signal_dbm"], "by each frame as by the driver"
    assert state("lost0")["daemon"]["link_failures_frames"] != 0
    assert "\nrules [0]" in said, said
