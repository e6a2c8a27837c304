"""Pacing over the medium, in a virtual machine without KVM: `fourhop-gateway` and `fourhop-cc` above Linux's own Wi-Fi.

A host, the router next to it, which is the first of three 802.11b radios in a row, and the last radio two hops away.
The guest's clock counts its instructions (`-icount`). `tests/linux/wifi.py` lists the requirements.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.linux.wifi import MODULES, THREE, guest, true

GATEWAY = """[mesh]
devices = ["wlan0"]
rate = "11Mbps"
[pace]
mode = "gap"
[rules]
backend = "nft"
[service]
user = "root"
socket = "/run/gw/control"
"""
CC = """[[system]]
devices = ["wlan0"]
[[destination]]
to = "10.0.0.0/8"
rate = "11Mbps"
"""
# In order of dependency.
PACKETS = ("crc32c_generic", "libcrc32c", "nfnetlink", "nf_tables", "nfnetlink_queue", "nft_queue", "veth")
TRACKED = ("nf_defrag_ipv4", "nf_defrag_ipv6", "nf_conntrack", "nft_ct")

BODY = """load; namespaces; move
mount -t cgroup2 none /sys/fs/cgroup; mount -t bpf bpf /sys/fs/bpf
medium chain
cell "$b" 0 1 2
unshare -n sleep 100000 & pid3=$!; sleep 1
at 0 ip link add wire0 type veth peer name eth0; at 0 ip link set eth0 netns $pid3
at 0 ip addr add 192.0.2.1/24 dev wire0; at 3 ip addr add 192.0.2.2/24 dev eth0
at 0 ip link set wire0 up; at 3 ip link set eth0 up; at 3 ip link set lo up
at 3 ip route add default via 192.0.2.1; at 2 ip route add default via 10.0.0.2
at 0 ip route add 10.0.0.3 via 10.0.0.2; at 2 ip route add 10.0.0.1 via 10.0.0.2
at 1 ip route add 192.0.2.0/24 via 10.0.0.1
reaches host 3 10.0.0.3

at 0 fourhop-gateway run --config /etc/gateway.toml & gateway=$!
for try in $(seq 60); do [ -e /run/gw/control ] && break; sleep 1; done
tcp gateway 3 2 10.0.0.3 8
sleep 3; echo "status gateway $(at 0 fourhop-gateway status --json --socket /run/gw/control)"
killall fourhop-gateway; wait $gateway; echo "stopped $?"

at 0 fourhop-cc load --config /etc/cc.toml --pin; echo "load $?"
at 2 iperf3 -s -1 > /dev/null 2>&1 & sleep 1
at 0 iperf3 -c 10.0.0.3 -C fh_tcp_ap -t 8 > /run/cc & client=$!
sleep 6; echo "status cc $(fourhop-cc status --json)"
wait $client; echo "paced $?"; grep receiver /run/cc
at 0 fourhop-cc unload; echo "unload $?"
over chain
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    return guest(
        tmp_path_factory.mktemp("pacing"),
        3,
        BODY,
        ours=["fourhop-medium", "fourhop-gateway", "fourhop-cc"],
        tools=["ip", "iperf3", "nft"],
        files={"chain.toml": THREE, "gateway.toml": GATEWAY, "cc.toml": CC},
        modules=[*MODULES, *PACKETS, *TRACKED],
    )


def test_a_gateway_paces_into_the_cell(said: str) -> None:
    true(said, "chain")
    assert "\nhost 0\n" in said, said
    found = re.search(r"^status gateway (\{.*\})$", said, re.M)
    assert found, said
    state = json.loads(found[1])
    (node,) = (node for node in state["nodes"] if node["address"] == "10.0.0.3")
    assert node["hops"] == 2
    assert node["into_bytes"] > 1 << 20
    assert state["totals"]["waited"] > 500, state["totals"]
    assert "\nstopped 0\n" in said


def test_a_connection_over_the_cell_is_paced_by_the_kernel(said: str) -> None:
    true(said, "chain")
    assert "\nload 0\n" in said, said
    assert "\npaced 0\n" in said, said
    found = re.search(r"^status cc (\[.*\])$", said, re.M)
    assert found, said
    # The other end shares the kernel, and so the congestion control.
    (connection,) = (one for one in json.loads(found[1]) if one["remote"].startswith("10.0.0.3:"))
    assert (connection["algorithm"], connection["hops"]) == ("fh_tcp_ap", 2)
    # A segment takes more than 1 ms on the air per hop.
    assert 0.002 < connection["interval_s"] < 0.02, connection
    assert connection["samples"] > 100
    assert "\nunload 0\n" in said
