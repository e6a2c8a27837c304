"""Rates over the medium, in a virtual machine without KVM: Minstrel with eight rates of 802.11g, and the kernel's TCP.

The guest's clock counts its instructions (`-icount`). `tests/linux/wifi.py` lists the requirements.
"""

from __future__ import annotations

import re

import pytest

import fourhop
from tests.linux.wifi import PAYLOAD, guest, packets, true

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
FADING = RATES.replace('"sinr"', '"sinr"\nfading = "rayleigh"\ndoppler = "20Hz"')
SNRS = (9, 13, 18, 24)
# The losses that give these SNRs, from 20 dBm to the noise.
NOISE_DBM = -93.965

BODY = """load; namespaces; move
medium rates --tick 20us
cell "$g" 0 1
reaches rates 0 10.0.0.2
for snr in SNRS; do
  fourhop-emulate change n0 --link n1=${snr#*:}dB
  measure ${snr%:*} 4 26M 0-1
done
fourhop-emulate change n0 --link n1=80dB
for n in 0 1; do at $n iw dev wlan$n set bitrates legacy-2.4 54; done
sleep 1
tcp fast 0 1 10.0.0.2 4
over rates
medium fading --tick 20us
for n in 0 1; do at $n iw dev wlan$n set bitrates legacy-2.4 ${g#* }; done
measure fading 8 26M 0-1
over fading
"""
LOSSES = '[[losses]]\nfrom = 0\nto = 1\nsnr = "{snr}dB"\n'
FLOW = f'transport = "udp"\napp = "cbr"\nrate = "26Mbps"\npayload = "{PAYLOAD}B"'


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    losses = " ".join(f"{snr}:{20 - NOISE_DBM - snr:.3f}" for snr in SNRS)
    body = BODY.replace("SNRS", losses)
    ours = ["fourhop-medium", "fourhop-emulate"]
    files = {"rates.toml": RATES, "fading.toml": FADING + LOSSES.format(snr=24)}
    folder = tmp_path_factory.mktemp("rates")
    return guest(folder, 2, body, ours=ours, tools=["iperf3"], files=files)


def simulated(snr: float, flow: str, *keys: str, rate_control: str = "fixed", scenario: str = RATES) -> fourhop.Result:
    """Simulates the two radios."""
    text = f'{scenario}[mac]\nrts_threshold = "64kB"\nrate_control = "{rate_control}"\n'
    text += f"{LOSSES.format(snr=snr)}[[flows]]\nfrom = 0\nto = 1\n{flow}\n"
    return fourhop.run(fourhop.Scenario(text, "rates.toml", overrides=keys), runs=5)


@pytest.mark.parametrize("snr", SNRS)
def test_minstrel_settles_where_the_simulators_does(said: str, snr: int) -> None:
    true(said, "rates")
    assert "\nrates 0\n" in said, said
    (found,) = packets(said, str(snr))
    expected = float(simulated(snr, FLOW, rate_control="minstrel").aggregate.mean) / (8 * PAYLOAD)
    assert found == pytest.approx(expected, rel=0.1)


def test_minstrel_follows_a_fading_link_as_the_simulators_does(said: str) -> None:
    true(said, "fading")
    (found,) = packets(said, "fading")
    result = simulated(24, FLOW, rate_control="minstrel", scenario=FADING)
    # In the simulator, the standard deviation between stretches of 8 s is 3 or 4 %.
    assert found == pytest.approx(float(result.aggregate.mean) / (8 * PAYLOAD), rel=0.15)


def test_the_kernels_tcp_carries_what_the_simulators_does(said: str) -> None:
    true(said, "rates")
    found = re.search(r"^tcp fast (\S+)$", said, re.M)
    assert found, said
    expected = simulated(34, 'transport = "cubic"', "tcp.mss=1448B").aggregate.mean
    assert float(found[1]) == pytest.approx(expected, rel=0.05)
