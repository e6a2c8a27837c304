"""A routing protocol, a transport or a column of results touches its own files, its rows, and three lines elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ADDITIONS = ROOT / "tests" / "additions"
MOST_LINES = 3

# What is added: the files of its own, then its row in each table and the lines elsewhere, after a line that is there.
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
    """Put lines behind the only line that is `after`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.count(after) == 1, f"{path}: {after!r}"
    at = lines.index(after) + 1
    path.write_text("\n".join([*lines[:at], *added.splitlines(), *lines[at:]]) + "\n", encoding="utf-8")


@pytest.mark.timeout(3600)
def test_what_is_added_is_written_down_once() -> None:
    if (cargo := shutil.which("cargo")) is None:
        pytest.skip("no cargo on this machine")
    copy = ROOT / "target" / "additions"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"):
        shutil.copy(ROOT / name, copy)
    for name in ("crates", "fuzz"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("target", "found", "corpus"))
    for files, rows, lines in (PROTOCOL, TRANSPORT, COLUMN):
        assert len(lines) <= MOST_LINES
        assert all("\n" not in added for _, added in lines.values())
        for file, place in files.items():
            shutil.copy(ADDITIONS / file, copy / "crates" / place)
        for place, (after, added) in [*rows.items(), *lines.items()]:
            insert(copy / "crates" / place, after, added)
    scenario = copy / "both.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    # What it compiles of other sources is there already where the recipe for a congestion control was tried.
    ran = subprocess.run(
        [cargo, "run", "--locked", "--quiet", "-p", "fourhop-sim", "--example", "run", str(scenario)],
        cwd=copy,
        env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target" / "recipe" / "build")},
        capture_output=True,
        text=True,
        timeout=3500,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    result = json.loads(ran.stdout)
    [flow] = result["flows"]
    # Two beacons a second of each node.
    assert 76 <= result["counters"]["direct"]["beacons"] <= 82
    # 500 bytes ten times a second.
    assert flow["transport"] == "trickle"
    assert flow["goodput_bps"] == pytest.approx(40_000, rel=0.02)
    assert flow["delivered_twice_bytes"] == 2 * flow["delivered_bytes"] > 0
    for layer in result["conservation"].values():
        assert layer["in"] == layer["out"] + layer["dropped"] + layer["held"]
    tidy = subprocess.run([cargo, "fmt", "--all", "--check"], cwd=copy, capture_output=True, text=True, check=False)
    assert tidy.returncode == 0, tidy.stdout
