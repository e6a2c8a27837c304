"""An addition touches its own files, its rows and three lines elsewhere; the recipe for a congestion control works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.conftest import HANGS, ROOT, environment, shown

RECIPE = ROOT / "docs" / "add-a-cc.md"
COPY = ROOT / "target" / "recipe" / "sources"
BUILT = ROOT / "target" / "recipe" / "build"
ADDITIONS = ROOT / "tests" / "additions"
MOST_LINES = 3
# Cargo's options for the Rust tests; in CI those for everything else, too.
OPTIONS = os.environ.get("CARGO_TEST", "").split()
PROFILE, COMPILED = ("release", "release") if "--release" in OPTIONS else ("dev", "debug")

# Each addition: its own files, then its row in each table and lines elsewhere, each after an existing line.
PROTOCOL = (
    {
        "direct.rs": "proto/src/route/direct.rs",
        "direct_message.rs": "proto/src/wire/direct.rs",
        "direct_keys.rs": "settings/src/sections/direct.rs",
    },
    {
        "proto/src/wire/routing.rs": (
            "    Babel(BabelMessage);",
            "    /// Neighbours.\n    Direct(super::direct::Beacon);",
        ),
        "proto/src/route/router.rs": (
            "        Babel(Babel);",
            "        /// Neighbours.\n        Direct(super::direct::Direct);",
        ),
        "settings/src/sections/mod.rs": ("            babel: babel::Babel;", "            direct: direct::Direct;"),
        "settings/src/sections/routing.rs": ("    RoutingProtocol {", '        Direct = "direct", "neighbours alone";'),
        "sim/src/scenario/convert.rs": (
            "            RoutingProtocol::Babel => setup::Routing::finding(self.babel_config()),",
            "            RoutingProtocol::Direct => setup::Routing::finding(self.configured(&self.own.direct)),",
        ),
    },
    {
        "proto/src/wire/mod.rs": ("mod decode_babel;", "pub mod direct;"),
        "proto/src/route/mod.rs": ("mod counters;", "pub mod direct;"),
        "settings/src/sections/mod.rs": ("mod c3tcp;", "pub mod direct;"),
    },
)
TRANSPORT = (
    {
        "trickle.rs": "proto/src/trickle.rs",
        "trickle_packet.rs": "proto/src/wire/trickle.rs",
        "trickle_keys.rs": "settings/src/sections/trickle.rs",
    },
    {
        "proto/src/wire/segment.rs": (
            "    Atp(AtpPacket);",
            "    /// No answers.\n    Trickle(super::trickle::TricklePacket);",
        ),
        "proto/src/node/own_transport.rs": (
            "transports! {",
            '    /// No answers.\n    Trickle = "trickle", "a packet now and then", crate::trickle::End;',
        ),
        "settings/src/sections/mod.rs": ("            atp: atp::Atp;", "            trickle: trickle::Trickle;"),
        "sim/src/scenario/convert.rs": (
            "            OwnTransport::Atp => self.atp_config().into(),",
            "            OwnTransport::Trickle => self.configured(&self.own.trickle).into(),",
        ),
    },
    {
        "proto/src/wire/mod.rs": ("mod tcp;", "pub mod trickle;"),
        "proto/src/lib.rs": ("pub mod tcp;", "pub mod trickle;"),
        "settings/src/sections/mod.rs": ("mod traffic;", "pub mod trickle;"),
    },
)
COLUMN: tuple[dict[str, str], dict[str, tuple[str, str]], dict[str, tuple[str, str]]] = (
    {},
    {
        "sim/src/result.rs": (
            "        delivered_bytes: u64;",
            "        /// Twice as many.\n        delivered_twice_bytes: u64;",
        ),
    },
    {
        "sim/src/run.rs": ("        delivered_bytes,", "        delivered_twice_bytes: 2 * delivered_bytes,"),
    },
)
SCENARIO = """
profile = "standard"
duration = "20s"
[topology]
kind = "chain"
hops = 1
[routing]
protocol = "direct"
[direct]
interval = "500ms"
[trickle]
interval = "100ms"
[[flows]]
from = "first"
to = "last"
transport = "trickle"
"""


def insert(path: Path, after: str, added: str) -> None:
    """Insert lines after the only line that equals `after`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.count(after) == 1, f"{path}: {after!r}"
    at = lines.index(after) + 1
    path.write_text("\n".join([*lines[:at], *added.splitlines(), *lines[at:]]) + "\n", encoding="utf-8")


# Runs the scenario with the module found first, and prints the result.
RUN = """
import pathlib, sys
from fourhop import _core
run = _core.Run(_core.check(pathlib.Path(sys.argv[1]).read_text()), 1)
while (result := run.poll(1.0)) is None:
    pass
print(result)
"""


@dataclass(frozen=True)
class Grown:
    """A copy of the project with all additions, and the output of the recipe's commands there."""

    folder: Path
    printed: str
    lines_of_the_recipe: int

    def environment(self) -> dict[str, str]:
        """An environment in which the copy's modules and commands are found first."""
        return environment() | {
            "CARGO_TARGET_DIR": str(BUILT),
            "CARGO_PROFILE_DEV_DEBUG": "0",
            "PATH": os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(self.folder / "python"),
        }


def lines_of(sources: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources)


def borrow_compiled() -> None:
    """Copy the compiled dependencies of the project's folder; cargo compiles those that do not fit.

    A fingerprint is complete only when its crate is, so copy fingerprints first: another cargo may be running.
    """
    ours, theirs = ROOT / "target" / COMPILED, BUILT / COMPILED
    if theirs.exists() or not (ours / ".fingerprint").exists():
        return
    finished: set[str] = set()
    for kind in (".fingerprint", "build", "deps"):
        (theirs / kind).mkdir(parents=True)
        for path in (ours / kind).iterdir():
            found = re.search(r"-([0-9a-f]{16})(?:\.|$)", path.name)
            if found is None or "fourhop" in path.name or (kind != ".fingerprint" and found[1] not in finished):
                continue
            finished.add(found[1])
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, theirs / kind / path.name)


@pytest.fixture(scope="module")
def grown() -> Grown:
    """One copy with all additions, compiled once."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo on this machine")
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"):
        shutil.copy(ROOT / name, COPY)
    leave = shutil.ignore_patterns("*.so", "__pycache__", "target", "found")
    for name in (".ci", "benches", "crates", "fuzz", "python", "scenarios"):
        shutil.copytree(ROOT / name, COPY / name, ignore=leave)
    for files, rows, lines in (PROTOCOL, TRANSPORT, COLUMN):
        for file, place in files.items():
            shutil.copy(ADDITIONS / file, COPY / "crates" / place)
        for place, (after, added) in [*rows.items(), *lines.items()]:
            insert(COPY / "crates" / place, after, added)
    (COPY / "crates/cc/src/gentle.rs").write_text(shown(RECIPE, "rust")[0], encoding="utf-8")
    # Like the real one except for the optimization and the environment, which is this one.
    commands = COPY / "bin"
    commands.mkdir()
    # Only the tests of `cc` run long; compiling the other crates without optimization saves more than it costs.
    levels = {each.name: int(each.name == "cc") for each in (COPY / "crates").iterdir()}
    less = [f"--config profile.{PROFILE}.package.fourhop-{name}.opt-level={level}" for name, level in levels.items()]
    # As maturin does: otherwise pyo3 links with libpython, which bare systems lack.
    build = "PYO3_BUILD_EXTENSION_MODULE=1 cargo build --locked --quiet --package fourhop-py"
    place = f"cp {BUILT}/{COMPILED}/lib_core.so python/fourhop/_core.abi3.so"
    for name, script in {
        "cargo": f'exec {shutil.which("cargo")} "$@" {" ".join([*OPTIONS, *less])}',
        "make": f'[ "$*" = quick ] && {build} && {place}',
        "fourhop": f'exec {sys.executable} -m fourhop.cli "$@"',
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    borrow_compiled()
    sources = [COPY / "crates/cc/src" / name for name in ("lib.rs", "registry.rs")]
    before = lines_of(sources)
    grown = Grown(COPY, "", 0)
    ran = subprocess.run(
        ["bash", "-ec", "".join(shown(RECIPE, "sh"))],
        cwd=COPY,
        env=grown.environment(),
        capture_output=True,
        text=True,
        timeout=3500,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return replace(grown, printed=ran.stdout, lines_of_the_recipe=lines_of(sources) - before)


def test_ci_optimises_the_same_crates_of_others_as_make_test() -> None:
    def optimised(file: str, profile: str) -> set[str]:
        packages = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["profile"][profile]["package"]
        others = {name: each["opt-level"] for name, each in packages.items() if not name.startswith("fourhop-")}
        assert others.pop("*") == 0
        return set(others)

    assert optimised(".ci/cargo.toml", "release") == optimised("Cargo.toml", "dev")


def depends_on(folder: Path, target: Path) -> list[str]:
    """Fingerprints in `target` that depend on files in `folder` instead of on the project's."""
    told = target.glob("*/.fingerprint/*/dep-*")
    return [str(path) for path in told if str(folder.relative_to(ROOT / "target")).encode() in path.read_bytes()]


@pytest.mark.timeout(3600)
def test_the_recipe_for_a_congestion_control_works(grown: Grown) -> None:
    # "One file and three lines", as three documents say.
    assert grown.lines_of_the_recipe == 3
    assert re.search(r"^test gentle::tests::\w+ \.\.\. ok$", grown.printed, re.M), grown.printed
    assert re.search(r"^  gentle +Reno that keeps 70 % after a loss$", grown.printed, re.M), grown.printed
    # Each of the two runs has the scenario's one flow, over the requested transport.
    assert re.findall(r"^flow-\d+ +0→4 +4 +(\w+) ", grown.printed, re.M) == ["gentle", "newreno"]


@pytest.mark.timeout(3600)
def test_what_is_added_is_written_down_once(grown: Grown) -> None:
    for _, _, lines in (PROTOCOL, TRANSPORT, COLUMN):
        assert len(lines) <= MOST_LINES
        assert all("\n" not in added for _, added in lines.values())
    scenario = grown.folder / "both.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(scenario)],
        env=grown.environment(),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    result = json.loads(ran.stdout)
    [flow] = result["flows"]
    # Two beacons per second and node.
    assert 76 <= result["counters"]["direct"]["beacons"] <= 82
    # 500 bytes ten times a second.
    assert flow["transport"] == "trickle"
    assert flow["goodput_bps"] == pytest.approx(40_000, rel=0.02)
    assert flow["delivered_twice_bytes"] == 2 * flow["delivered_bytes"] > 0
    for layer in result["conservation"].values():
        assert layer["in"] == layer["out"] + layer["dropped"] + layer["held"]


@pytest.mark.timeout(3600)
def test_the_copy_is_tidy_and_apart(grown: Grown) -> None:
    tidy = subprocess.run(
        ["cargo", "fmt", "--all", "--check"], cwd=grown.folder, capture_output=True, text=True, check=False
    )
    assert tidy.returncode == 0, tidy.stdout
    # In a separate folder: the names are the same, so cargo would take what it compiles of a copy for the project's.
    assert depends_on(grown.folder, ROOT / "target") == []
