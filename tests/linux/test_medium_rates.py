"""Rates over the medium, in a virtual machine without KVM: Minstrel among eight of 802.11g, and the kernel's TCP.

The clock of the guest counts its instructions (`-icount`). `tests/linux/wifi.py` says what it needs.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import fourhop
from tests.conftest import ROOT
from tests.linux.conftest import needs
from tests.linux.wifi import FOLDER, boot, disk, reported, script

PROGRAMS = [ROOT / "target" / "release" / f"fourhop-{name}" for name in ("medium", "emulate")]
# In the order in which they need each other.
MODULES = ("rfkill", "libarc4", "cfg80211", "mac80211", "mac80211_hwsim")
PAYLOAD = 1400

RATES = """profile = "standard"
duration = "12s"
warmup = "4s"
[topology]
kind = "positions"
positions = [["0m", "0m"], ["10m", "0m"]]
[radio]
model = "sinr"
phy = "erp-ofdm"
[routing]
protocol = "static"
"""
SNRS = (9, 13, 18, 24)
# The losses that make them, between 20 dBm and the noise.
NOISE_DBM = -93.965

BODY = """medium rates
cell 0 1
reaches rates 0 10.0.0.2
for snr in SNRS; do
  set -- $(echo $snr | tr : ' ')
  fourhop-emulate change n0 --link n1=$2dB
  at 1 iperf3 -s -1 > /dev/null 2>&1 & server=$!
  sleep 0.3
  at 0 iperf3 -c 10.0.0.2 -u -b 26M -l 1400 -t 1000 > /dev/null 2>&1 & client=$!
  sleep 2
  before=$(at 1 awk '/wlan/ {print $3}' /proc/net/dev)
  for second in 1 2 3 4; do
    sleep 1; at 0 iw dev wlan0 station dump | grep -E "tx bitrate" | sed "s/^/rate $1 /"
  done
  echo "measured $1 $(($(at 1 awk '/wlan/ {print $3}' /proc/net/dev) - before)) 4"
  kill $client $server; killall iperf3; sleep 1
done
fourhop-emulate change n0 --link n1=80dB
for n in 0 1; do at $n iw dev wlan$n set bitrates legacy-2.4 54; done
sleep 1
tcp fast 0 1 10.0.0.2 4
over rates
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    if not FOLDER:
        pytest.skip("FOURHOP_WIFI names no kernel's package")
    if not all(program.exists() for program in PROGRAMS):
        pytest.skip("there are no programs for Linux: `make linux` builds them")
    needs("qemu-system-x86_64", "busybox", "cpio", "iw", "iperf3")
    folder = tmp_path_factory.mktemp("rates")
    file = folder / "rates.toml"
    file.write_text(RATES, encoding="utf-8")
    programs = [*PROGRAMS, *(Path(shutil.which(name) or "") for name in ("iw", "iperf3"))]
    losses = " ".join(f"{snr}:{20 - NOISE_DBM - snr:.3f}" for snr in SNRS)
    init = script(2, MODULES, BODY.replace("SNRS", losses))
    return boot(disk(folder, init, MODULES, programs, [file]), "-icount", "shift=0,sleep=off")


def simulated(snr: float, flow: str, *keys: str, rate_control: str = "fixed") -> fourhop.Result:
    """The two radios in the simulator."""
    text = f'{RATES}[mac]\nrts_threshold = "64kB"\nrate_control = "{rate_control}"\n'
    text += f'[[losses]]\nfrom = 0\nto = 1\nsnr = "{snr}dB"\n[[flows]]\nfrom = 0\nto = 1\n{flow}\n'
    return fourhop.run(fourhop.Scenario(text, "rates.toml", overrides=keys), runs=5)


@pytest.mark.parametrize("snr", SNRS)
def test_minstrel_settles_where_the_simulators_does(said: str, snr: int) -> None:
    reported(said, "rates")
    assert "\nrates 0\n" in said, said
    found = re.search(rf"^measured {snr} (\d+) (\d+)$", said, re.M)
    assert found, said
    flow = f'transport = "udp"\napp = "cbr"\nrate = "26Mbps"\npayload = "{PAYLOAD}B"'
    expected = float(simulated(snr, flow, rate_control="minstrel").aggregate.mean) / (8 * PAYLOAD)
    assert int(found[1]) / int(found[2]) == pytest.approx(expected, rel=0.1)


def test_the_kernels_tcp_carries_what_the_simulators_does(said: str) -> None:
    reported(said, "rates")
    found = re.search(r"^tcp fast (\S+)$", said, re.M)
    assert found, said
    expected = simulated(34, 'transport = "cubic"', "tcp.mss=1448B").aggregate.mean
    assert float(found[1]) == pytest.approx(expected, rel=0.05)
