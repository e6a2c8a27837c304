"""Files installed with the daemons: units for systemd, the script for OpenWrt."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

UNITS = [*sorted((ROOT / "packaging").glob("*.service")), *sorted((ROOT / "crates").glob("*/systemd/*.service"))]
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_understands_each_line_of_a_unit(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    # Programs and manual pages are not installed here.
    text = re.sub(r"^(Exec\w+=[+-]?)/usr/local/\S+", r"\g<1>/bin/true", text, flags=re.M)
    text = re.sub(r"^Documentation=.*$", "", text, flags=re.M)
    copy = tmp_path / unit.name
    copy.write_text(text, encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_never_gives_up_starting_a_unit(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    assert re.search(r"^\[Unit\][^[]*^StartLimitIntervalSec=0$", text, re.M), "by default it does after five tries"
    assert re.search(r"^Restart=(always|on-failure)$", text, re.M)
    assert re.search(r"^RestartSec=[12]$", text, re.M)


@needs_systemd
@pytest.mark.parametrize("unit", [unit for unit in UNITS if "packaging" in unit.parts], ids=lambda unit: unit.stem)
def test_a_unit_lets_its_program_do_little(unit: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=45", "--no-pager", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.splitlines()[-1:]


def test_dashboards_are_those_of_their_script_and_show_figures_that_there_are() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "dashboards.py"))
    sources = {"gateway": "gateway", "aodvd": "aodvd", "cc": "bpf", "emulate": "emu"}
    assert set(script["BOARDS"]) == set(sources)
    for name, crate in sources.items():
        text = (ROOT / "packaging" / f"{name}-grafana.json").read_text(encoding="utf-8")
        assert text == script["board"](name), f"{name}: scripts/dashboards.py writes another"
        code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "crates" / crate / "src").glob("*.rs"))
        prefix = "fourhop_gateway_" if name == "gateway" else ""  # the gateway adds it to every name
        for figure in set(re.findall(r"\bfourhop_\w+", text)):
            assert re.search(rf"\b{figure.removeprefix(prefix).removesuffix('_total')}", code), figure


def test_every_program_has_a_manual_page() -> None:
    pages = {path.name for path in (ROOT / "packaging").glob("*.[18]")}
    programs = {path.stem for path in (ROOT / "crates").glob("*/src/bin/*.rs")}
    assert pages == {"fourhop.1", *(f"{program}.8" for program in programs)}
