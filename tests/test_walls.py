"""The check of the walls finds every kind of breach that it looks for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, loaded

SCRIPT = ROOT / "scripts" / "walls.py"


@pytest.fixture(scope="module", autouse=True)
def beside() -> Iterator[None]:
    """Let the script import the module beside it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(SCRIPT.parent)
        yield


def check(root: Path) -> str:
    """The breaches, one line each."""
    return "".join(f"{breach}\n" for breach in loaded("scripts/walls.py").breaches(root))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The manifests of the workspace, each crate without sources."""
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        folder = tmp_path / manifest.parent.relative_to(ROOT)
        (folder / "src").mkdir(parents=True)
        shutil.copy(manifest, folder)
    return tmp_path


@pytest.fixture
def copy(bare: Path) -> Path:
    """The workspace with the sources in which imports are resolved."""
    for crate in ("proto", "sim"):
        shutil.copytree(ROOT / "crates" / crate / "src", bare / "crates" / crate / "src", dirs_exist_ok=True)
    return bare


def test_the_walls_stand() -> None:
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "walls: sound\n")


def test_a_breach_is_printed_and_fails(bare: Path) -> None:
    (bare / "crates" / "cc" / "src" / "breach.rs").write_text("use std::fs::File;\n", encoding="utf-8")
    result = subprocess.run([sys.executable, SCRIPT, bare], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert re.search(r"cc/src/breach\.rs:1: std::fs; .*\nwalls: 1 breaches\n$", result.stdout)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("use std::fs::File;", "std::fs"),
        ("use std::{collections::BTreeMap, time::Instant};", "std::time"),
        ("use std::{\n    process,\n};", "std::process"),
        ('fn f() { let _ = std::net::UdpSocket::bind("[::]:0"); }', "std::net"),
        ("fn f() { std :: thread::yield_now() }", "std::thread"),
        ("fn f(p: *const u8) -> u8 { unsafe { *p } }", "unsafe"),
    ],
)
@pytest.mark.parametrize("crate", ["units", "cc", "proto"])
def test_a_forbidden_name_is_found(bare: Path, crate: str, line: str, named: str) -> None:
    source = bare / "crates" / crate / "src" / "breach.rs"
    source.write_text(f"//! std::fs in a comment is fine.\n{line}\n", encoding="utf-8")
    found = check(bare)
    assert f"{crate}/src/breach.rs:2: {named}" in found


@pytest.mark.parametrize("crate", ["sim", "py", "emu"])
def test_unsafe_code_outside_its_crate_is_found(bare: Path, crate: str) -> None:
    for place in (crate, "live"):
        source = bare / "crates" / place / "src" / "breach.rs"
        source.write_text("//! A breach.\nfn f(p: *const u8) -> u8 { unsafe { *p } }\n", encoding="utf-8")
    found = check(bare)
    assert f"{crate}/src/breach.rs:2: unsafe" in found
    assert "live/src" not in found


def test_a_protocol_that_reads_an_address_as_a_number_of_a_node_is_found(bare: Path) -> None:
    source = bare / "crates" / "proto" / "src" / "breach.rs"
    source.write_text("//! A breach.\nfn f(a: Ipv4Addr) { NodeId::from_ipv4(a); }\n", encoding="utf-8")
    found = check(bare)
    assert "proto/src/breach.rs:2: from_ipv4" in found


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("fn f(x: f64) -> f64 { x.powi(2) }", "powi"),
        ("fn f(x: f64) -> f64 { f64::hypot(x, 1.0) }", "hypot"),
        ("fn f(x: f64) -> f64 { x . sin_cos ().0 }", "sin_cos"),
    ],
)
@pytest.mark.parametrize("crate", ["units", "proto", "sim"])
def test_a_function_of_the_c_library_is_found_outside_tests(bare: Path, crate: str, line: str, named: str) -> None:
    source = bare / "crates" / crate / "src" / "breach.rs"
    fine = "fn g(x: f64) -> f64 { libm::exp(x).sqrt() }"
    test = "#[cfg(test)]\nmod tests {\n    fn h(x: f64) -> f64 { x.ln() }\n}"
    source.write_text(f"//! x.sin()\n{fine}\n{line}\n{test}\n", encoding="utf-8")
    found = check(bare)
    assert f"{crate}/src/breach.rs:3: {named};" in found
    assert found.count("breach.rs") == 1


@pytest.mark.parametrize(
    ("crate", "table", "dependency"),
    [
        ("units", "dependencies", "libc"),
        ("cc", "dependencies", "fourhop-proto"),
        ("proto", "dependencies", "fourhop-sim"),
        ("proto", "build-dependencies", "cc"),
        ("proto", "target.'cfg(unix)'.dependencies", "nix"),
        ("units", "dev-dependencies", "tempfile"),
        ("py", "dependencies", "fourhop-proto"),
        ("py", "dependencies", "fourhop-live"),
        ("live", "dependencies", "fourhop-sim"),
        ("emu", "dependencies", "fourhop-py"),
    ],
)
def test_a_forbidden_dependency_is_found(bare: Path, crate: str, table: str, dependency: str) -> None:
    manifest = bare / "crates" / crate / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8")
    header = f"[{table}]\n"
    line = f'{dependency} = "1"\n'
    changed = text.replace(header, header + line) if header in text else f"{text}\n{header}{line}"
    manifest.write_text(changed, encoding="utf-8")
    found = check(bare)
    assert f"{crate}/Cargo.toml: " in found
    assert dependency in found


def test_two_files_may_know_each_other_and_three_make_a_circle(copy: Path) -> None:
    sources = copy / "crates" / "sim" / "src"
    (sources / "one.rs").write_text("use crate::two::Two;\npub struct One;\n", encoding="utf-8")
    (sources / "two.rs").write_text("use super::{one::One};\npub struct Two;\n", encoding="utf-8")
    assert check(copy) == ""
    # Through a name that another module re-exports, but not in imports that only tests use.
    (sources / "two.rs").write_text("use super::three::Three;\npub struct Two;\n", encoding="utf-8")
    (sources / "four.rs").write_text("pub use crate::one::One;\n", encoding="utf-8")
    three = "#[cfg(test)]\nmod tests {\n    use crate::four::One;\n}\n"
    (sources / "three.rs").write_text(f"pub struct Three;\n{three}", encoding="utf-8")
    assert check(copy) == ""
    (sources / "three.rs").write_text(f"use crate::{{\n    four::{{One}},\n}};\n{three}", encoding="utf-8")
    found = check(copy)
    assert re.search(r"/(one|two|three)\.rs: an import cycle: (\w+) -> \w+ -> \w+ -> \2\n", found), found


def test_an_import_from_above_is_found(copy: Path) -> None:
    breaches = [
        ("wire/breach.rs", "use crate::route::Metric;", "route::metric, which is not a lower layer"),
        ("mac/breach.rs", "use crate::net::Link;", "net::link, which is not a lower layer"),
        ("tcp/breach.rs", "use crate::route::Metric;", "route::metric, which is not a lower layer"),
        ("breach/mod.rs", "use crate::wire::Prefix;", "wire::prefix, which is not a lower layer"),
        ("node/breach.rs", "use super::head;", "node, the head of its folder"),
        ("wire/bytes/breach.rs", "use crate::wire::bytes::head;", "wire::bytes, the head of its folder"),
    ]
    for place, line, _ in breaches:
        source = copy / "crates" / "proto" / "src" / place
        source.parent.mkdir(exist_ok=True)
        source.write_text(f"//! A breach.\n{line}\n", encoding="utf-8")
    found = check(copy)
    for place, _, named in breaches:
        assert re.search(rf"proto/src/{place}: imports (from )?{re.escape(named)}", found), found
    assert found.count("\n") == len(breaches)
