"""A virtual machine without KVM, whose kernel has simulated Wi-Fi radios (mac80211_hwsim).

`FOURHOP_WIFI` names a folder with a kernel's package unpacked, as `dpkg -x linux-image-...-unsigned_*.deb FOLDER`
leaves it. The guest holds nothing but busybox, a few programs and modules, and sends to itself alone.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

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
