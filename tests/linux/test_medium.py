"""The medium of the kernel's own Wi-Fi, in a virtual machine without KVM.

Three 802.11b radios in a row, each in a network namespace, in an IBSS and in an 802.11s mesh. `tests/linux/wifi.py`
lists the requirements.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.linux.wifi import THREE, guest, reported

BODY = """fourhop-medium run /etc/chain.toml; echo "without module $?"
load; namespaces
medium chain --name air --pcap /run/air --metrics 127.0.0.1:9464
fourhop-medium run /etc/chain.toml; echo "second $?"
fourhop-emulate list
move; cell "$b" 0 1 2
reaches ibss 0 10.0.0.2
at 0 ping -c 2 -W 2 10.0.0.3; echo "far $?"
at 0 iw dev wlan0 station dump | grep -E "^Station|signal:" | sed 's/^/station /'
wget -q -O - http://127.0.0.1:9464/metrics | sed 's/^/metrics /'
fourhop-emulate change n0 --link n7=70dB; echo "nobody $?"
fourhop-emulate exec n0 true; echo "exec $?"
fourhop-emulate change n0 --link n2=85dB; echo "change $?"
reaches near 0 10.0.0.3
over ibss
fourhop-emulate list; ls /run/fourhop | sed 's/^/left /'
echo "capture $(head -c 4 /run/air/2412/capture.pcapng | od -t x1 -A n) $(wc -c < /run/air/2412/capture.pcapng)"
reset mp
medium chain --metrics 127.0.0.1:9464
mesh "$b" 0 1 2
reaches mesh 0 10.0.1.3
at 0 iw dev wlan0 mpath dump | sed 's/^/path /'
at 0 ping -q -i 0.002 -s 1400 10.0.1.3 > /dev/null &
sleep 3; wget -q -O - http://127.0.0.1:9464/metrics | sed 's/^/busy /'
over mesh KILL
killall ping; sleep 1
reaches after 0 10.0.1.3
medium chain
reaches still 0 10.0.1.3
rmmod mac80211_hwsim
insmod /modules/mac80211_hwsim.ko radios=RADIOS; sleep 3
move; cell "$b" 0 1 2
reaches again 0 10.0.0.2
over again
"""


def test_stations_of_an_ibss_and_of_a_mesh_hear_each_other_as_the_scenario_says(tmp_path: Path) -> None:
    ours = ["fourhop-medium", "fourhop-emulate"]
    said = guest(tmp_path, 3, BODY, ours=ours, files={"chain.toml": THREE}, options=())
    assert "error: this kernel has no simulated radios. Try: modprobe mac80211_hwsim" in said
    assert "\nwithout module 2\n" in said
    assert "error: another program is the medium of the simulated radios" in said
    assert "\nsecond 2\n" in said

    assert "\nibss 0\n" in said, said
    assert "\nfar 1\n" in said, "two hops away, and nobody relays"
    stations = re.findall(r"^station Station (\S+) .*\nstation \s+signal:\s+(-\d+) ", said, re.M)
    # 281.8 mW over 200 m of two-ray ground: 8.9e-10 W.
    assert stations == [("02:00:00:00:01:00", "-60")], said
    assert "\nair  /etc/chain.toml  3 nodes  running\n" in said
    assert re.search(r'^metrics fourhop_frames_done_total\{fate="acknowledged"\} [1-9]', said, re.M), said
    assert re.search(r'^metrics fourhop_radio_frames_total\{node="n2",radio="42:00:00:00:02:00"\} [1-9]', said, re.M)
    assert 'error: change: found "n7", allowed: nodes with radios\n' in said
    assert "\nnobody 2\n" in said
    assert "error: air: is a medium; its radios are in namespaces of yours" in said
    assert "\nexec 2\n" in said
    assert "\nchange 0\n" in said
    assert "\nnear 0\n" in said, "the two ends hear each other from now on"
    assert "\nended ibss 0\n" in said
    assert "\nleft " not in said
    assert re.search(r"^capture  0a 0d 0d 0a \d{4,}$", said, re.M), said
    report = reported(said, "ibss")
    assert len(report["warnings"]) == 1, report["warnings"]
    assert report["warnings"][0].startswith("n0 was changed at ")
    assert [(radio["node"], radio["frequency"]) for radio in report["radios"]] == [(f"n{n}", 2412) for n in range(3)]
    frames = report["frames"]
    assert frames["acknowledged"] > 0
    assert frames["delivered"] > frames["acknowledged"]
    assert (report["missed"], report["refused"]) == (0, {})

    assert "\nmesh 0\n" in said, said
    assert re.search(r"^path 02:00:00:00:02:00 02:00:00:00:01:00 ", said, re.M), "a path by the one in the middle"
    taken = re.search(r"^busy fourhop_frames_taken_total (\d+)$", said, re.M)
    assert taken, said
    done = re.findall(r"^busy fourhop_frames_done_total\{.*\} (\d+)$", said, re.M)
    assert int(taken[1]) > sum(map(int, done)) > 0, "frames wait when it is killed"
    assert "\nended mesh 137\n" in said
    assert "\nafter 0\n" in said, "the kernel has forgotten a medium that was killed"

    assert "\nstill 0\n" in said, said
    assert "\nagain 0\n" in said, "the module was loaded again"
    report = reported(said, "again")
    assert list(report["gone"]) == [f"42:00:00:00:0{n}:00" for n in range(3)], report
    assert report["frames"]["acknowledged"] > 0
    assert any("module of the radios was unloaded" in warning for warning in report["warnings"])
