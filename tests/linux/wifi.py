"""A virtual machine without KVM, whose kernel has simulated Wi-Fi radios (mac80211_hwsim).

`FOURHOP_WIFI` names a folder with a kernel's package unpacked, as `dpkg -x linux-image-...-unsigned_*.deb FOLDER`
leaves it. The guest holds nothing but busybox, a few programs and modules, and sends to itself alone.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.linux.conftest import LONGEST

FOLDER = os.environ.get("FOURHOP_WIFI", "")


def disk(folder: Path, init: str, modules: Iterable[str], programs: Iterable[Path], files: Iterable[Path] = ()) -> Path:
    """The guest's root, packed: `init` is its only script, `files` are in its `/etc`."""
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
        # Built-in modules have no file; Debian compresses modules since 6.12.
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
    """Boot the guest; its output until it switches itself off."""
    kernel = next(Path(FOLDER).glob("boot/vmlinuz-*"))
    command = ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-net", "none", *options]
    command += ["-kernel", str(kernel), "-initrd", str(disk), "-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(command, capture_output=True, timeout=LONGEST * 3, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace").replace("\r", "")


# Radios in namespaces of their own, cells of 802.11g, and a medium whose time is true.
_PRELUDE = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
for m in MODULES; do
  radios=; [ $m = mac80211_hwsim ] && radios=radios=RADIOS
  [ ! -f /modules/$m.ko ] || insmod /modules/$m.ko $radios || echo "no module $m"
done
[ -c /dev/net/tun ] || { mkdir -p /dev/net; mknod /dev/net/tun c 10 200; }
ip link set lo up
phys=$(ls /sys/class/ieee80211 | sort -V)
n=0
for phy in $phys; do unshare -n sleep 100000 & eval pid$n=$!; eval phy$n=$phy; n=$((n + 1)); done
sleep 1
at() { eval pid=\\$pid$1; shift; nsenter -t $pid -n "$@"; }
medium() {
  fourhop-medium run /etc/$1.toml --json --tick 20us > /run/report 2> /run/errors & medium=$!; sleep 1; cat /run/errors
}
over() { kill -INT $medium; wait $medium; echo "ended $1 $?"; echo "report $1 $(cat /run/report)"; }
n=0
for phy in $phys; do
  eval iw phy $phy set netns \\$pid$n; at $n ip link set lo up
  at $n sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
  n=$((n + 1))
done
ofdm="set bitrates legacy-2.4 6 9 12 18 24 36 48 54"
cell() {  # nodes
  for n in $@; do
    at $n iw dev wlan$n set type ibss; at $n ip link set wlan$n up
    at $n iw dev wlan$n ibss join air 2412 fixed-freq 02:ff:00:00:00:01 basic-rates 6,12,24
    at $n iw dev wlan$n $ofdm
    at $n ip addr replace 10.0.0.$((n + 1))/24 dev wlan$n
  done
}
reset() {
  for n in $(seq 0 $((RADIOS - 1))); do
    at $n ip addr flush dev wlan$n; at $n ip link set wlan$n down; at $n iw dev wlan$n set type $1
  done
}
reaches() {
  for try in 1 2 3 4 5 6 7 8 9 10; do at $2 ping -c 1 -W 2 $3 > /dev/null && break; done; echo "$1 $?"
}
tcp() {  # name, from, to, address, seconds
  at $3 iperf3 -s -1 > /dev/null 2>&1 &
  sleep 0.3
  at $2 iperf3 -c $4 -t $5 -O 2 -J > /run/tcp
  echo "tcp $1 $(grep -A 12 sum_received /run/tcp | grep bits_per | tr -dc '0-9.')"
  killall iperf3 2> /dev/null
}
"""


def script(radios: int, modules: Iterable[str], body: str) -> str:
    """The script of a guest whose radios share a medium: `at 0 COMMAND` runs at the first one."""
    return f"{_PRELUDE}{body}poweroff -f\n".replace("MODULES", " ".join(modules)).replace("RADIOS", str(radios))


def reported(said: str, name: str) -> dict[str, Any]:
    """The report of a medium whose time was true."""
    found = re.search(rf"^report {name} (\{{.*\}})$", said, re.M)
    assert found, said
    report: dict[str, Any] = json.loads(found[1])
    assert report["truth"]["holds"], report["truth"]
    return report
