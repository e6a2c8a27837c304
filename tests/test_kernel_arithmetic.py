"""The check of congestion control arithmetic finds operations that BPF programs lack."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "kernel_arithmetic.py"

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc on this machine")


def check(tmp_path: Path, *functions: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "sample.rs"
    source.write_text("\n".join(functions), encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("pub fn f(a: i64, b: i64) -> i64 { a / b }", "a signed division"),
        ("pub fn f(a: i32) -> i32 { a % 8 }", "a signed division"),
        ("pub fn f(a: u64) -> u64 { (a as f64).to_bits() }", "a floating-point number"),
        ("pub fn f(a: u64) -> u64 { (u128::from(a) * 3 >> 7) as u64 }", "a number of 128 bits"),
        ("pub fn f(a: u64) -> u64 { a.saturating_mul(3) }", "a product checked for overflow"),
        ("pub fn f(a: u64) -> Option<u64> { a.checked_mul(a) }", "a product checked for overflow"),
    ],
)
def test_what_bpf_lacks_is_found(tmp_path: Path, function: str, named: str) -> None:
    result = check(tmp_path, "pub fn sound(a: u64) -> u64 { a / 3 }", function)
    assert (result.returncode, result.stdout.splitlines()[0]) == (1, f"sample::f: {named}"), result.stderr


def test_what_bpf_has_passes(tmp_path: Path) -> None:
    result = check(
        tmp_path,
        "pub fn f(a: u64, b: u64) -> u64 { a * b / 3 % 5 + a.abs_diff(b).isqrt() }",
        "pub fn g(a: i64, b: i64) -> i64 { (a * b - 7).saturating_add(1) >> 2 }",
        "pub fn h(a: u32, b: &mut Vec<u64>) { b.push(u64::from(a.saturating_mul(9))) }",
    )
    assert result.returncode == 0, result.stdout + result.stderr
