"""Examples in the documents work. test_docs_numbers.py checks the numbers they state."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fourhop
from fourhop import _core
from fourhop.cli.commands import COMMANDS, app
from fourhop.cli.options import Group
from fourhop.sweeps import document
from tests.conftest import HANGS, ROOT, Command, environment

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Recipes, which have separate tests: test_site.py, study/test_reproduce.py.
RECIPES = ("add-a-cc.md", "add-a-figure.md")

# Commands that are not run here, and why.
ELSEWHERE = {
    "pip": "builds the package: `make dist` tries a wheel in an empty environment",
    "apt": "installs packages: tests/linux/test_packages.py does, in a bare root",
    "make": "is looked up in the Makefile",
    "fourhop-cc": "tests/linux/test_kernel.py loads it into the kernel",
    "dask": "test_cluster.py runs sweeps on a cluster",
    "opkg": "needs OpenWrt",
    "apk": "needs OpenWrt",
    "helm": "needs a Kubernetes cluster",
    "tshark": "test_pcap.py and test_local_acks.py read captures with it",
    "fourhop-aodvd": "tests/linux/test_aodvd.py runs it",
    "fourhop-gateway": "tests/linux/test_gateway.py runs it",
    "install": "writes into folders of the system",
    "ip": "gives a device of the machine an address",
    "iw": "gives a device of the machine a network",
    "kill": "ends what another line has started",
    "modprobe": "loads a module into the kernel of the machine",
    "systemctl": "needs systemd",
}

# Commands that need root and the programs for Linux: tests/linux runs those of README.md.
# `measure` loads other hosts: tests/linux/test_measure.py runs it.
EMULATION = ("fourhop emulate ", "fourhop exec ", "fourhop shell ", "fourhop measure ", "fourhop medium ")


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for path in DOCUMENTS:
        for number, block in enumerate(re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.S)):
            found.append((f"{path.name}-{number}", block))
    return found


@pytest.mark.parametrize(("name", "text"), blocks("toml"), ids=lambda value: value if len(value) < 40 else "")
def test_scenarios_and_sweeps_shown_are_sound(name: str, text: str, tmp_path: Path) -> None:
    if "[over]" in text:
        # The path of the scenario file is up to the reader; that the sweep fits one is up to us.
        found = re.search(r'^scenario = "(.*)"', text, re.M)
        assert found is not None
        scenario = (ROOT / "scenarios" / Path(found[1]).name).read_text(encoding="utf-8")
        (tmp_path / "chain.toml").write_text(scenario, encoding="utf-8")
        (tmp_path / "sweep.toml").write_text(text.replace(found[1], "chain.toml"), encoding="utf-8")
        assert len(document.load(tmp_path / "sweep.toml").points) > 1
    elif "profile" in text:
        fourhop.Scenario(text, name)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios" / "sweeps").glob("*.toml")), ids=lambda path: path.stem)
def test_the_sweeps_of_the_repository_are_sound(path: Path) -> None:
    assert len(document.load(path).points) > 1


def shown(path: Path) -> list[tuple[str, str, str]]:
    """The code blocks of a document in order: the paragraph before each, its language and its text."""
    text = path.read_text(encoding="utf-8")
    blocks = re.finditer(r"^ *```(\w+)\n(.*?)^ *```", text, re.S | re.M)
    return [(text[: found.start()].strip().split("\n\n")[-1], found[1], found[2]) for found in blocks]


def short(text: str) -> str:
    """The command with less simulated time, `whatif` and `compare` with few runs: here it only has to work."""
    few = re.sub(r"^fourhop whatif \S+", r"\g<0> --runs 2 --places 1 --duration 12s", text)
    # Without a number of runs, `compare` takes ten.
    few = re.sub(r"^fourhop compare (?=[^#]*\.toml)(?!.*--runs)", r"\g<0>--runs 2 ", few)
    return re.sub(r"\b[18]00s\b", "10s", few)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like a reader's: the scenarios, and `fourhop` as a command."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shutil.copytree(ROOT / "docs" / "lessons", tmp_path / "docs" / "lessons")
    for path in (tmp_path / "scenarios").glob("**/*.toml"):
        text = path.read_text(encoding="utf-8")
        shorter = re.sub(r'^duration = "([1-9]\d\d|30)s"', 'duration = "20s"', text, flags=re.M)
        path.write_text(shorter, encoding="utf-8")
    command = tmp_path / "bin" / "fourhop"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fourhop.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def typed(fourhop: Command, folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line that a user types, in a shell if it needs one."""
    words = shlex.split(line, comments=True)
    plain = words[0] == "fourhop" and not set(line.partition(" #")[0]) & set("|&;<>$*")
    return fourhop(*words[1:]) if plain else run(folder, line)


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=environment() | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


TRIED: set[str] = set()
"""Blocks that another document shows, too; readers of both get the same result."""


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path.name not in RECIPES], ids=lambda path: path.name)
def test_commands_shown_work(path: Path, folder: Path, fourhop: Command) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for before, language, text in shown(path):
        named = re.findall(r"`([\w-]+\.toml)`", before)
        if language == "toml" and named:
            (folder / named[-1]).write_text(short(text), encoding="utf-8")
        if language == "sh" and text in TRIED and len(text.splitlines()) > 1:
            continue
        for line in text.splitlines() if language == "sh" else []:
            word = line.split()[0]
            if line.startswith(EMULATION):
                continue
            # Commands that serve a page run until Ctrl-C: here they write the page instead.
            if line.startswith("fourhop view ") and "--html" not in line:
                line = f"{line.partition(' #')[0]} --html page.html"
            if word == "make":
                assert re.search(rf"^{line.split()[1]}:", makefile, re.M), line
            elif word not in ELSEWHERE and "--dask" not in line:
                assert word == "fourhop", f"{line}: run it here, or say in ELSEWHERE why not"
                done = typed(fourhop, folder, short(line))
                assert done.returncode == 0, f"{line}: {done.stderr}"
                assert "not met" not in done.stderr, line
        if language == "sh":
            TRIED.add(text)


@pytest.mark.parametrize(
    "path", [ROOT / "docs" / name for name in ("quickstart.md", "sweeps.md")], ids=lambda p: p.name
)
def test_mistakes_are_answered_as_shown(path: Path, folder: Path, fourhop: Command) -> None:
    blocks = shown(path)
    commands = [text for _, language, text in blocks if language == "text" and text.startswith("$ ")]
    assert commands
    (folder / "chain.toml").write_text(
        next(text for _, language, text in blocks if language == "toml"), encoding="utf-8"
    )
    sweep = 'scenario = "scenarios/chain.toml"\n[over]\ntcp.window = [0, 2]\n'
    (folder / "window.toml").write_text(sweep, encoding="utf-8")
    for text in commands:
        command, answer = text.removeprefix("$ ").split("\n", 1)
        done = typed(fourhop, folder, command)
        assert (done.returncode, done.stderr) == (2, answer)


def test_the_map_of_the_code_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) < 1_500


def test_the_inventory_has_every_command() -> None:
    text = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"`fourhop {name}\b", text)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "VALIDATION.md", "docs"])
def test_commands_named_in_the_text_exist(name: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in sorted((ROOT / name).glob("*.md")) if name == "docs" else [ROOT / name]:
        text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
        for line in re.findall(r"`((?:\.venv/bin/)?(?:fourhop|make) [^`]*)`", text):
            first, *words = line.removeprefix(".venv/bin/").split()
            if first == "make":
                assert re.search(rf"^{words[0]}:", makefile, re.M), f"{path.name}: {line}"
                continue
            if words[0].startswith("--"):
                assert words[0] in {"--help", *(option for each in app.params for option in each.opts)}, line
                continue
            command = app.get_command(None, words[0])
            assert command is not None, f"{path.name}: {line}"
            options = {option for each in command.params for option in each.opts}
            if words[:2] == ["validate", "ns2"]:
                assert isinstance(command, Group)
                within = command.get_command(None, "ns2")
                assert within is not None
                options = {option for each in within.params for option in each.opts}
            for word in words[1:]:
                if word.startswith("--"):
                    assert word in options, f"{path.name}: {line}"
                elif word.startswith("scenarios/"):
                    assert (ROOT / word).is_file(), f"{path.name}: {line}"


@pytest.mark.parametrize(("name", "text"), blocks("python"), ids=lambda value: value if len(value) < 40 else "")
def test_python_shown_runs(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s", sample_every="1s"), out="results")
    exec(compile(text.replace('duration="100s"', 'duration="5s"'), name, "exec"), {})


def test_the_recipe_lists_every_hook_of_a_congestion_control() -> None:
    trait = (ROOT / "crates/cc/src/lib.rs").read_text(encoding="utf-8").partition("pub trait CongestionControl {")[2]
    hooks = re.findall(r"^    fn (\w+)\(", trait.partition("\n}\n")[0], re.M)
    table = (ROOT / "docs/add-a-cc.md").read_text(encoding="utf-8").partition("| hook |")[2]
    assert len(hooks) > 10
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.M)) == sorted(set(hooks) - {"name"})


def test_the_scenario_reference_is_current() -> None:
    written = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    assert written.rstrip() == _core.reference().rstrip(), "run `make docs`"


def test_the_columns_of_results_are_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "result_columns.py", "--check"], check=False)
    assert done.returncode == 0, "run `make docs`"


def test_links_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"
