"""A virtual machine without KVM, whose kernel has simulated Wi-Fi radios (mac80211_hwsim).

`FOURHOP_WIFI` names a folder with an unpacked kernel package (`dpkg -x linux-image-...-unsigned_*.deb FOLDER`). The
guest contains only busybox, a few programs and modules, and sends only to itself.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import fourhop
from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, needs

FOLDER = os.environ.get("FOURHOP_WIFI", "")
THREE = """profile = "standard"
duration = "9s"
[topology]
kind = "chain"
hops = 2
spacing = "200m"
[radio]
rate = "11Mbps"
"""
"""A scenario: three 802.11b radios in a row. Only neighbours hear each other."""


def disk(folder: Path, init: str, modules: Iterable[str], programs: Iterable[Path], files: Iterable[Path] = ()) -> Path:
    """Pack the guest's root: `init` is its only script, `files` are in its `/etc`."""
    root = folder / "root"
    for name in ("bin", "dev", "proc", "sys", "run", "tmp", "modules", "etc"):
        (root / name).mkdir(parents=True)
    (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\n", encoding="utf-8")
    for program in (Path(shutil.which("busybox") or ""), *programs):
        shutil.copy(program, root / "bin" / program.name)
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", listed):
            place = root / library.removeprefix("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    for file in files:
        shutil.copy(file, root / "etc" / file.name)
    for module in modules:
        # Built-in modules have no file. Debian has compressed modules since 6.12.
        for found in Path(FOLDER).glob(f"lib/modules/*/kernel/**/{module}.ko*"):
            content = found.read_bytes()
            plain = lzma.decompress(content) if found.suffix == ".xz" else content
            (root / "modules" / f"{module}.ko").write_bytes(plain)
    (root / "init").write_text(init, encoding="utf-8")
    (root / "init").chmod(0o755)
    pack = "find . | cpio --quiet -o -H newc | gzip -1 > ../disk"
    subprocess.run(["sh", "-c", pack], cwd=root, check=True)
    return folder / "disk"


def boot(disk: Path, *options: str) -> str:
    """Boot the guest; returns its output until it powers off."""
    kernel = next(Path(FOLDER).glob("boot/vmlinuz-*"))
    command = ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-net", "none", *options]
    command += ["-kernel", str(kernel), "-initrd", str(disk), "-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(command, capture_output=True, timeout=LONGEST * 3, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace").replace("\r", "")


MODULES = ("rfkill", "libarc4", "cfg80211", "mac80211", "mac80211_hwsim")
"""Modules of the radios, in order of dependency."""

# Functions of the guest's script. Each radio gets a network namespace: `at 0 COMMAND` runs in the first one.
_BEGIN = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
ip link set lo up
[ -c /dev/net/tun ] || { mkdir -p /dev/net; mknod /dev/net/tun c 10 200; }
load() {
  for m in MODULES; do
    radios=; [ $m = mac80211_hwsim ] && radios=radios=RADIOS
    [ ! -f /modules/$m.ko ] || insmod /modules/$m.ko $radios || echo "no module $m"
  done
}
namespaces() { for n in $(seq 0 $((RADIOS - 1))); do unshare -n sleep 100000 & eval pid$n=$!; done; sleep 1; }
at() { eval pid=\\$pid$1; shift; nsenter -t $pid -n "$@"; }
move() {
  n=0
  for phy in $(ls /sys/class/ieee80211 | sort -V); do
    eval phy$n=$phy
    eval iw phy $phy set netns \\$pid$n; at $n ip link set lo up
    at $n sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
    n=$((n + 1))
  done
}
medium() {  # name of the scenario, options
  local scenario=$1; shift
  fourhop-medium run /etc/$scenario.toml --json $@ > /run/report 2> /run/errors & medium=$!
  for try in $(seq 100); do grep -q ready /run/errors && break; sleep 0.1; done
  cat /run/errors
}
over() {  # name, signal
  kill -${2:-INT} $medium; wait $medium; echo "ended $1 $?"; echo "report $1 $(cat /run/report)"
}
b="1,2 11"; g="6,12,24 6 9 12 18 24 36 48 54"
cell() {  # basic rates and rates, nodes
  local n basic="${1%% *}" rates="${1#* }"; shift
  for n in $@; do
    at $n iw dev wlan$n set type ibss; at $n ip link set wlan$n up
    at $n iw dev wlan$n set bitrates legacy-2.4 $rates
    at $n iw dev wlan$n ibss join air 2412 fixed-freq 02:ff:00:00:00:01 basic-rates $basic
    at $n ip addr add 10.0.0.$((n + 1))/24 dev wlan$n
  done
}
mesh() {  # basic rates and rates, nodes
  local n basic="${1%% *}" rates="${1#* }"; shift
  for n in $@; do
    at $n iw dev wlan$n set type mp; at $n ip link set wlan$n up
    at $n iw dev wlan$n set bitrates legacy-2.4 $rates
    at $n iw dev wlan$n mesh join air freq 2412 basic-rates $basic
    at $n ip addr add 10.0.1.$((n + 1))/24 dev wlan$n
  done
}
reset() {  # type
  local n
  for n in $(seq 0 $((RADIOS - 1))); do
    at $n ip addr flush dev wlan$n; at $n ip link set wlan$n down; at $n iw dev wlan$n set type $1
  done
}
known() {  # nodes; nobody asks for addresses in the middle of a measurement
  local n to
  for n in $@; do for to in $@; do
    [ $n = $to ] || at $n ip neigh replace 10.0.0.$((to + 1)) lladdr 02:00:00:00:0$to:00 dev wlan$n nud permanent
  done; done
}
hops() {  # of the chain 0, 1, 2, 3, both ways
  at 0 ip route replace 10.0.0.4 via 10.0.0.2; at 1 ip route replace 10.0.0.4 via 10.0.0.3
  at 3 ip route replace 10.0.0.1 via 10.0.0.3; at 2 ip route replace 10.0.0.1 via 10.0.0.2
}
reaches() {  # name, from, address; the answer may take several: stations have to find each other first
  for try in $(seq 20); do at $2 ping -c 1 -W 2 $3 > /dev/null && break; done; echo "$1 $?"
}
count() { at $1 awk '/wlan/ {print $3}' /proc/net/dev; }
measure() {  # name, seconds, rate, flows as 0-1: packets that receivers get meanwhile
  local name=$1 seconds=$2 rate=$3 clients= receivers= flow from to port; shift 3
  for flow in $@; do
    from=${flow%-*}; to=${flow#*-}; port=$((5201 + from)); receivers="$receivers $to"
    at $to iperf3 -s -1 -p $port > /dev/null 2>&1 & clients="$clients $!"
    sleep 0.2
    at $from iperf3 -c 10.0.0.$((to + 1)) -p $port -u -b $rate -l 1400 -t 1000 > /run/client$from 2>&1 &
    clients="$clients $!"
  done
  sleep 2
  for to in $receivers; do eval before$to=$(count $to); done
  sleep $seconds
  for to in $receivers; do eval "echo measured $name $to \\$(($(count $to) - before$to)) $seconds"; done
  kill $clients; killall iperf3; sleep 1
}
tcp() {  # name, from, to, address, seconds
  at $3 iperf3 -s -1 > /dev/null 2>&1 &
  sleep 0.3
  at $2 iperf3 -c $4 -t $5 -O 2 -J > /run/tcp
  echo "tcp $1 $(grep -A 12 sum_received /run/tcp | grep bits_per | tr -dc '0-9.')"
  killall iperf3 2> /dev/null
}
"""
PAYLOAD = 1400
"""Payload bytes per datagram of `measure`."""


def guest(
    folder: Path,
    radios: int,
    body: str,
    *,
    ours: Iterable[str],
    tools: Iterable[str] = (),
    files: Mapping[str, str],
    modules: Iterable[str] = MODULES,
    options: Iterable[str] = ("-icount", "shift=0,sleep=off"),
) -> str:
    """Output of a guest that runs a script, with our programs, tools of this machine and files by name.

    By default the guest's clock counts its instructions, so the load of this machine does not matter. Skipped without a
    kernel or a program.
    """
    if not FOLDER:
        pytest.skip("FOURHOP_WIFI names no kernel's package")
    programs = [ROOT / "target" / "release" / name for name in ours]
    if not all(program.exists() for program in programs):
        pytest.skip("there are no programs for Linux: `make linux` builds them")
    needs("qemu-system-x86_64", "busybox", "cpio", "iw", *tools)
    programs += [Path(shutil.which(name) or "") for name in ("iw", *tools)]
    written = [folder / name for name in files]
    for file in written:
        file.write_text(files[file.name], encoding="utf-8")
    init = f"{_BEGIN}{body}poweroff -f\n".replace("MODULES", " ".join(modules)).replace("RADIOS", str(radios))
    return boot(disk(folder, init, modules, programs, written), *options)


def reported(said: str, name: str) -> dict[str, Any]:
    """The report of a medium."""
    found = re.search(rf"^report {name} (\{{.*\}})$", said, re.M)
    assert found, said
    report: dict[str, Any] = json.loads(found[1])
    return report


def true(said: str, name: str) -> dict[str, Any]:
    """The report of a medium whose time was true; no others can be compared."""
    report = reported(said, name)
    assert report["truth"]["holds"], report["truth"]
    assert report["missed"] == 0
    return report


def packets(said: str, name: str) -> list[float]:
    """Packets per second at the receivers of a measurement."""
    found = re.findall(rf"^measured {name} \d+ (\d+) (\d+)$", said, re.M)
    assert found, said
    return [int(number) / int(seconds) for number, seconds in found]


def simulated(scenario: str, *flows: str, rate: str, rts_threshold: str = "64kB", attempts: int = 7) -> float:
    """Total packets per second that the simulator carries for flows like those of `measure`."""
    text = f'{scenario}[mac]\nrts_threshold = "{rts_threshold}"\nshort_retry_limit = {attempts}\n'
    text += f"long_retry_limit = {attempts}\n"
    for flow in flows:
        src, dst = flow.split("-")
        text += f'[[flows]]\nfrom = {src}\nto = {dst}\ntransport = "udp"\napp = "cbr"\n'
        text += f'rate = "{rate}"\npayload = "{PAYLOAD}B"\n'
    found = fourhop.run(fourhop.Scenario(text, "simulated.toml"), runs=8)
    return float(found.aggregate.mean) / (8 * PAYLOAD)
