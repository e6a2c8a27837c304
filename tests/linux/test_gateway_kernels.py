"""The gateway on other kernels, in a virtual machine without KVM: nft rules and VLANs, which not every kernel has.

`FOURHOP_MODULES` names folders, separated by colons, with `boot/vmlinuz-*` and `lib/modules/*` of a distribution's
kernel package, as `dpkg -x linux-image-*.deb FOLDER` unpacks them. Without it the test is skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.linux.border import PROGRAM
from tests.linux.conftest import needs

FOLDERS = [Path(name) for name in os.environ.get("FOURHOP_MODULES", "").split(":") if name]
MODULES = ["crc32c_generic", "veth", "nf_tables", "nft_queue", "nfnetlink_queue", "nft_counter", "nft_ct", "8021q"]
TOOLS = ["ip", "nft", "iperf3", "busybox"]

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/real:/bin
# The shell would take its own.
ip() { /real/ip "$@"; }
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
mkdir -p /run/netns
for module in $(cat /modules); do insmod $module 2>&1; done
for n in h g m; do ip netns add $n; ip -n $n link set lo up; done
ip link add wire0 netns g type veth peer name eth0 netns h
ip link add mesh0 netns g type veth peer name eth0 netns m
ip -n h addr add 192.0.2.2/24 dev eth0; ip -n g addr add 192.0.2.1/24 dev wire0
ip -n g addr add 10.9.0.1/24 dev mesh0; ip -n m addr add 10.9.0.2/24 dev eth0
ip -n g link add link mesh0 name mesh0.7 type vlan id 7; ip -n m link add link eth0 name eth0.7 type vlan id 7
ip -n g addr add 10.77.0.1/24 dev mesh0.7; ip -n m addr add 10.77.0.2/24 dev eth0.7
for d in "h eth0" "g wire0" "g mesh0" "m eth0" "g mesh0.7" "m eth0.7"; do set -- $d; ip -n $1 link set $2 up; done
ip -n h route add default via 192.0.2.1; ip -n m route add default via 10.9.0.1
ip -n m route add default via 10.77.0.1 table 7; ip -n m rule add from 10.77.0.2 lookup 7
g() { ip netns exec g "$@"; }
g sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec m iperf3 -s -D; sleep 2
g fourhop-gateway check --config /gateway.toml; echo "check $?"
await() { n=0; while ! eval "$1" && [ $n -lt 60 ]; do sleep 1; n=$((n+1)); done; }
g fourhop-gateway run --config /gateway.toml & await '[ -e /run/gw/control ]'
g nft list ruleset
ip netns exec h iperf3 -c 10.9.0.2 -n 2M >/dev/null; echo "transfer $?"
sleep 3; echo "status $(g fourhop-gateway status --json --socket /run/gw/control)"
ip netns exec h iperf3 -c 10.77.0.2 -n 2M >/dev/null; echo "vlan $?"
sleep 3; echo "status $(g fourhop-gateway status --json --socket /run/gw/control)"
killall -9 fourhop-gateway; sleep 1
ip netns exec h iperf3 -c 10.9.0.2 -n 2M >/dev/null; echo "without $?"
echo "left $(g nft list tables)"
rm /run/gw/control; g fourhop-gateway run --config /gateway.toml & await '[ -e /run/gw/control ]'
killall fourhop-gateway; await '! pidof fourhop-gateway >/dev/null'
echo "after [$(g nft list tables)]"
poweroff -f
"""
CONFIG = """
[mesh]
devices = ["mesh0", "mesh0.7"]
rate = "6Mbps"
[pace]
mode = "gap"
[rules]
backend = "nft"
[service]
user = "root"
socket = "/run/gw/control"
"""


def modules(folder: Path) -> list[Path]:
    """The files of the modules and their dependencies, in loading order."""
    (place,) = folder.glob("lib/modules/*")
    depend = place / "modules.dep"
    if not depend.exists():
        subprocess.run(["depmod", "-b", folder, place.name], check=True)
    needed = {line.split(":")[0]: line.split(":")[1].split() for line in depend.read_text().splitlines()}
    names = {Path(file).name.split(".")[0].replace("-", "_"): file for file in needed}
    order: list[str] = []
    for name in MODULES:
        # Built-in modules have no file.
        if (file := names.get(name)) is not None:
            order += [other for other in [*reversed(needed[file]), file] if other not in order]
    return [depend.parent / file for file in order]


def disk(folder: Path, kernel: Path) -> Path:
    """Pack the guest's root."""
    root = folder / "root"
    for name in ("bin", "real", "dev", "proc", "sys", "run", "tmp", "etc", "modules.d"):
        (root / name).mkdir(parents=True)
    programs = {name: Path(shutil.which(name) or "") for name in TOOLS} | {"fourhop-gateway": PROGRAM}
    for name, program in programs.items():
        shutil.copy(program, root / ("bin" if name == "busybox" else "real") / name)
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+)", listed):
            place = root / library.removeprefix("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    loaded = []
    for n, module in enumerate(modules(kernel)):
        plain = module.name.removesuffix(".xz")
        place = root / "modules.d" / f"{n:02}-{plain}"
        if module.suffix == ".xz":
            place.write_bytes(subprocess.run(["xz", "-dc", module], capture_output=True, check=True).stdout)
        else:
            shutil.copy(module, place)
        loaded.append(f"/modules.d/{place.name}")
    (root / "modules").write_text("\n".join(loaded) + "\n", encoding="ascii")
    (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\n", encoding="ascii")
    (root / "gateway.toml").write_text(CONFIG, encoding="ascii")
    (root / "init").write_text(INIT, encoding="utf-8")
    (root / "init").chmod(0o755)
    subprocess.run(["sh", "-c", "find . | cpio --quiet -o -H newc | gzip -1 > ../disk"], cwd=root, check=True)
    return folder / "disk"


@pytest.mark.timeout(400)
@pytest.mark.skipif(not FOLDERS, reason="FOURHOP_MODULES names no kernels")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nft_brings_packets_and_lets_them_pass_when_nobody_listens(folder: Path, tmp_path: Path) -> None:
    needs("qemu-system-x86_64", "cpio", "depmod", "xz", *TOOLS)
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-gateway: `make linux` builds it")
    (kernel,) = folder.glob("boot/vmlinuz-*")
    command = ["qemu-system-x86_64", "-accel", "tcg", "-m", "768", "-nographic", "-no-reboot", "-net", "none"]
    command += ["-kernel", str(kernel), "-initrd", str(disk(tmp_path, folder))]
    command += ["-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    said = done.stdout.decode(errors="replace").replace("\r", "")
    assert "good: nft accepts the rules" in said, said
    assert re.search(r"queue flags bypass to 7100|queue to 7100 bypass|queue num 7100 bypass", said), said
    for line in ("transfer 0", "vlan 0", "without 0", "left table inet fourhop_gateway", "after []"):
        assert f"\n{line}\n" in said, said
    states = [json.loads(line) for line in re.findall(r"^status (.*)$", said, re.M)]
    waited = 0
    for state, address in zip(states, ("10.9.0.2", "10.77.0.2"), strict=True):
        (node,) = (node for node in state["nodes"] if node["address"] == address)
        assert node["hops"] == 1, node
        assert node["into_bytes"] > 1 << 20, node
        assert state["totals"]["waited"] > waited + 100, state
        waited = state["totals"]["waited"]
        assert state["rules"] == "nft"
