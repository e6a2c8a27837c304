"""Adaptive pacing on kernels other than this machine's, in a virtual machine without KVM.

`FOURHOP_KERNELS` names their files, such as /boot/vmlinuz-6.12.0-amd64, separated by colons; without it the test is
skipped. A guest contains only busybox, iperf3 and our programs, needs no modules, and sends only to itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import needs
from tests.linux.test_kernel import PROGRAM

KERNELS = [Path(name) for name in os.environ.get("FOURHOP_KERNELS", "").split(":") if name]

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
mount -t cgroup2 none /sys/fs/cgroup; mount -t bpf bpf /sys/fs/bpf
ip link set lo up
parity kernel; echo "parity $?"
fourhop-cc load --pin; loaded=$?; echo "load $loaded"
if [ $loaded = 0 ]; then
  iperf3 -s -D; sleep 2
  iperf3 -c 127.0.0.1 -C fh_tcp_ap -t 10 >/dev/null &
  for n in 1 2 3 4 5 6 7 8; do sleep 1; echo "status $(fourhop-cc status --json)"; done
  wait $!
  for name in fh_tcp_ap fh_rbp fh_ap_cubic fh_ap2; do
    iperf3 -c 127.0.0.1 -C $name -t 1 >/dev/null; echo "$name $?"
  done
  fourhop-cc unload; echo "unload $?"; killall iperf3; sleep 3
fi
echo "left [$(fourhop-cc status --objects)$(ls /sys/fs/bpf)]"
poweroff -f
"""


def disk(folder: Path) -> Path:
    """Pack the guest's root."""
    root = folder / "root"
    for name in ("bin", "dev", "proc", "sys", "run", "tmp"):
        (root / name).mkdir(parents=True)
    command = ["cargo", "test", "--locked", "-p", "fourhop-bpf", "--test", "parity", "--no-run"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stderr
    parity = ROOT / re.findall(r"\((target/.*/parity-\w+)\)", built)[0]
    installed = {name: Path(shutil.which(name) or "") for name in ("busybox", "iperf3")}
    for name, program in {"fourhop-cc": PROGRAM, "parity": parity, **installed}.items():
        shutil.copy(program, root / "bin" / name)
        # A static program has no libraries.
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+)", listed):
            place = root / library.removeprefix("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    (root / "init").write_text(INIT, encoding="utf-8")
    (root / "init").chmod(0o755)
    pack = "find . | cpio --quiet -o -H newc | gzip -1 > ../disk"
    subprocess.run(["sh", "-c", pack], cwd=root, check=True)
    return folder / "disk"


@pytest.mark.timeout(400)
@pytest.mark.skipif(not KERNELS, reason="FOURHOP_KERNELS names no kernels")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_it_loads_and_paces_or_says_why_not(kernel: Path, tmp_path: Path) -> None:
    needs("qemu-system-x86_64", "busybox", "cpio", "iperf3")
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-cc: `make bpf` builds it, and says what it needs")
    command = ["qemu-system-x86_64", "-accel", "tcg", "-m", "768", "-nographic", "-no-reboot", "-net", "none"]
    command += ["-kernel", str(kernel), "-initrd", str(disk(tmp_path)), "-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    said = done.stdout.decode(errors="replace").replace("\r", "")
    assert "a_hundred_thousand_round_trips_make_the_same_intervals ... ok" in said, said
    assert "parity 0" in said
    assert "\nleft []" in said, said
    if "\nload 2" in said:
        assert re.search(r"error: this kernel \(\S+\) lacks .+: .+", said), said
        return
    for line in ("load 0", "fh_tcp_ap 0", "fh_rbp 0", "fh_ap_cubic 0", "fh_ap2 0", "unload 0"):
        assert f"\n{line}\n" in said, said
    assert re.search(r'^status .*"algorithm":"fh_tcp_ap".*"hops":1,.*"interval_s":\d', said, re.M), said
