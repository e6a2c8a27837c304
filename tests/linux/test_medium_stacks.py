"""Linux's own programs and protocols over the medium, in a virtual machine without KVM.

Six 802.11g radios in a row, each in a network namespace: an access point of hostapd with stations, a routing daemon
that listens on a monitor interface, an 802.11s mesh, batman-adv. The guest's clock counts its instructions (`-icount`).
`tests/linux/wifi.py` lists the requirements.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.linux.wifi import MODULES, guest, true

BATMAN = ("crc16", "crc32c_generic", "libcrc32c", "llc", "stp", "bridge", "batman-adv")
NODES = 6

# Neighbours hear each other; radios sense each other up to two hops away.
CHAIN = f"""profile = "standard"
duration = "9s"
[topology]
kind = "chain"
hops = {NODES - 1}
spacing = "200m"
[radio]
phy = "erp-ofdm"
rate = "24Mbps"
"""

BODY = """load; namespaces; move
medium chain --tick 20us
reset managed
cat > /run/hostapd.conf <<END
interface=wlan1
driver=nl80211
ssid=air
hw_mode=g
channel=1
supported_rates=60 120 240 540
basic_rates=60 120 240
END
at 1 ip link set wlan1 up; at 1 ip addr add 10.0.2.2/24 dev wlan1
at 1 hostapd /run/hostapd.conf > /run/hostapd 2>&1 &
sleep 2; sed 's/^/hostapd /' /run/hostapd
for n in 0 2 5; do at $n ip link set wlan$n up; at $n ip addr add 10.0.2.$((n + 1))/24 dev wlan$n; done
# Probe requests go out at 1 Mbit/s, which the scenario lacks: stations wait for a beacon.
for n in 0 2 5; do at $n iw dev wlan$n scan freq 2412 passive | grep -E "SSID|signal" | sed "s/^/scan $n /"; done
for n in 0 2 5; do at $n iw dev wlan$n connect air; done
sleep 4
for n in 0 2 5; do at $n iw dev wlan$n link | head -1 | sed "s/^/link $n /"; done
reaches ap 0 10.0.2.2; reaches relayed 0 10.0.2.3
at 1 iw dev wlan1 station dump | grep -E "^Station" | sed 's/^/associated /'
killall hostapd; sleep 1

reset ibss; cell "$g" 0 1 2
at 0 iw dev wlan0 interface add mon0 type monitor; at 0 ip link set mon0 up
for n in 0 1 2; do
  source='source = "nl80211"'; [ $n = 0 ] && source='source = "monitor"
monitor = "mon0"'
  cat > /run/$n.toml <<END
address = "10.0.0.$((n + 1))"
interfaces = ["wlan$n"]
mesh = ["10.0.0.0/24"]
[routing]
reboot_wait = false
[signal]
$source
threshold = "-80dBm"
[system]
control = "/run/control$n"
state = "/run/state$n"
user = "root"
END
  at $n fourhop-aodvd run --config /run/$n.toml &
done
sleep 10
reaches aodvd 0 10.0.0.3
at 0 ping -c 3 10.0.0.3 > /dev/null  # it tells what it knew up to a second ago
echo "routes $(fourhop-aodvd routes --json --control /run/control0)"
killall fourhop-aodvd; sleep 1; at 0 iw dev mon0 del

reset mp
mesh "$g" 0 1 2 3 4 5
sleep 6
reaches mesh 0 10.0.1.6
at 0 iw dev wlan0 mpath dump | sed 's/^/path /'
tcp mesh 0 5 10.0.1.6 10

reset ibss; cell "$g" 0 1 2
for n in 0 1 2; do
  at $n ip link set wlan$n mtu 1560; at $n ip link add bat0 type batadv || echo "no batman"
  at $n ip link set wlan$n master bat0; at $n ip addr add 10.0.3.$((n + 1))/24 dev bat0; at $n ip link set bat0 up
done
# For its first half minute batman-adv drops all broadcasts, so that two bridges make no loop.
sleep 35
reaches batman 0 10.0.3.3
before=$(count 1); tcp batman 0 2 10.0.3.3 5; echo "relayed batman $(($(count 1) - before))"

over chain
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    return guest(
        tmp_path_factory.mktemp("stacks"),
        NODES,
        BODY,
        ours=["fourhop-medium", "fourhop-aodvd"],
        tools=["ip", "iperf3", "hostapd"],
        files={"chain.toml": CHAIN},
        modules=[*MODULES, "tun", *BATMAN],
    )


def test_stations_find_an_access_point_and_associate(said: str) -> None:
    assert re.search(r"^scan 0 .*SSID: air$", said, re.M), said
    assert not re.search(r"^scan 5 .*SSID: air$", said, re.M), "it is four hops away"
    for station in (0, 2):
        assert f"\nlink {station} Connected to 02:00:00:00:01:00" in said, said
    assert "\nlink 5 Not connected." in said, said
    assert re.findall(r"^associated Station (\S+)", said, re.M) == ["02:00:00:00:00:00", "02:00:00:00:02:00"]
    assert "\nap 0\n" in said
    assert "\nrelayed 0\n" in said, "the access point passes frames on"


def test_a_routing_daemon_sees_signals_on_a_monitor_interface(said: str) -> None:
    assert "\naodvd 0\n" in said, said
    found = re.search(r"^routes (\{.*\})$", said, re.M)
    assert found, said
    state = json.loads(found[1])
    neighbours = {one["address"]: one for one in state["neighbours"]}
    assert set(neighbours) == {"10.0.0.2"}
    # 281.8 mW over 200 m of two-ray ground.
    assert neighbours["10.0.0.2"]["signal_dbm"] == pytest.approx(-60, abs=1)
    far = next(one for one in state["routes"] if one["destination"] == "10.0.0.3")
    assert (far["hops"], far["next_hop"]) == (2, "10.0.0.2")


def test_a_mesh_of_six_carries_tcp(said: str) -> None:
    true(said, "chain")
    assert "\nmesh 0\n" in said, said
    assert re.search(r"^path 02:00:00:00:05:00 02:00:00:00:01:00 ", said, re.M), said
    found = re.search(r"^tcp mesh (\S+)$", said, re.M)
    assert found, said
    assert float(found[1]) > 500_000


def test_batman_adv_carries_tcp_over_two_hops(said: str) -> None:
    if "\nno batman\n" in said:
        pytest.skip("the kernel has no batman-adv")
    assert "\nbatman 0\n" in said, said
    found = re.search(r"^tcp batman (\S+)\nrelayed batman (\d+)$", said, re.M)
    assert found, said
    carried, relayed = float(found[1]), int(found[2])
    # Twice over the air at 24 Mbit/s.
    assert 5_000_000 < carried < 12_000_000
    # That is all segments of 1,448 bytes in 5 s, plus acknowledgements.
    assert relayed > carried * 5 / (8 * 1448)
