"""Converted configurations of wmediumd over the medium, and hwsim alone, in a virtual machine without KVM.

Four 802.11g radios at 24 Mbit/s, and senders that offer 18 Mbit/s each. `tests/linux/wifi.py` lists the requirements.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fourhop import wmediumd
from tests.linux.wifi import PAYLOAD, guest, packets, simulated, true

OFFERED = "18Mbps"
IDS = ", ".join(f'"02:00:00:00:0{n}:00"' for n in range(4))
# SNR in dB. Senders 0 and 2 of the hidden pairs do not hear each other. In the chain, nodes within two hops do.
LINKS = {
    "pairs": {(a, b): 30 for a in range(4) for b in range(a + 1, 4)},
    "hidden": {(0, 1): 25, (2, 3): 25, (0, 3): 25, (1, 2): 25, (0, 2): -20, (1, 3): 25},
    "chain": {(0, 1): 25, (1, 2): 25, (2, 3): 25, (0, 2): 6, (1, 3): 6, (0, 3): -10},
}
FLOWS = {"pairs": ("0-1", "2-3"), "hidden": ("0-1", "2-3"), "chain": ("0-3",)}

BODY = """load; namespaces; move
cell "$g" 0 1 2 3
known 0 1 2 3
for n in 0 1 2 3; do at $n iw dev wlan$n set bitrates legacy-2.4 24; done
for name in pairs hidden chain; do
  [ $name = chain ] && { hops; flows=0-3; } || flows="0-1 2-3"
  measure alone-$name 3 18M $flows
  medium $name --tick 20us
  measure $name 5 18M $flows
  over $name
done
"""


def scenario(name: str) -> str:
    links = ", ".join(f"({a}, {b}, {snr})" for (a, b), snr in LINKS[name].items())
    text = wmediumd.convert(Path(f"{name}.cfg"), f"ifaces: {{ ids = [{IDS}]; links = ({links}); }};").toml
    return text.replace("[radio]", '[radio]\nrate = "24Mbps"')


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    files = {f"{name}.toml": scenario(name) for name in LINKS}
    folder = tmp_path_factory.mktemp("wmediumd")
    return guest(folder, 4, BODY, ours=["fourhop-medium"], tools=["iperf3"], files=files)


@pytest.mark.parametrize("name", LINKS)
def test_a_converted_configuration_carries_what_the_simulator_says(said: str, name: str) -> None:
    allowed = true(said, name)["frames"]["attempts_allowed"]
    attempts = int(max(allowed, key=allowed.__getitem__))
    found = packets(said, name)
    text = scenario(name)
    if name == "chain":
        text += "".join(f"[[routes]]\nnode = {n}\nto = 3\nvia = {n + 1}\n" for n in (0, 1))
    expected = simulated(text, *FLOWS[name], rate=OFFERED, attempts=attempts)
    alone = packets(said, f"alone-{name}")
    kbps = [[round(8 * PAYLOAD * each / 1e3) for each in some] for some in (found, [expected], alone)]
    shown = f"medium {kbps[0]}, simulator {kbps[1]}, hwsim alone {kbps[2]} kbit/s"
    sys.stdout.write(f"{name}, {attempts} attempts: {shown}\n")
    assert sum(found) == pytest.approx(expected, rel=0.1)
    # Without a shared medium, everything offered arrives at once.
    assert all(each == pytest.approx(18e6 / (8 * PAYLOAD), rel=0.02) for each in alone)
