#!/usr/bin/env python3
"""Check that congestion control uses only arithmetic that BPF programs have.

    scripts/kernel_arithmetic.py [FILE.rs]

The algorithms of crates/cc must run in the Linux kernel as BPF programs, and for BPF, clang 14 compiles no floating
point, no signed division and no 128-bit products, which include 64-bit products checked for overflow. As source text
does not show the types of operands, this compiles the crate (or one file) without optimisation and reads LLVM's code.
Prints one line per breach and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The compiler's checks would hide the operations; without optimisation, nothing is folded or replaced.
FLAGS = ("-Coverflow-checks=off", "-Cdebug-assertions=off", "-Copt-level=0", "-Ccodegen-units=1")
FUNCTION = re.compile(r"^; (.+)\n(?:; .*\n)*define (.+ \{\n(?:.*\n)*?)\}$", re.MULTILINE)
BREACH = re.compile(
    r"\b(?:(?P<signed>sdiv|srem)|(?P<float>double|float)|(?P<wide>i128)|[su]mul\.with\.overflow\.(?P<product>i64))\b"
    r"|call core::num::<impl (?P<checked>[iu]64|[iu]size)>::(?:checked|saturating|overflowing|widening|carrying)_mul\b"
)
WORDS = {
    "signed": "a signed division",
    "float": "a floating-point number",
    "wide": "a number of 128 bits",
    "product": "a product checked for overflow",
    "checked": "a product checked for overflow",
}


def breaches(code: str, crate: str) -> Iterator[str]:
    """Every breach in `code`, LLVM's text, as `function: what`; functions of other crates do not count."""
    for function in FUNCTION.finditer(code):
        if crate in function[1]:
            for found in {WORDS[breach.lastgroup or ""] for breach in BREACH.finditer(function[2])}:
                yield f"{function[1]}: {found}"


def compiled(source: Path | None) -> tuple[str, str]:
    """LLVM's text of crates/cc, or of one file, and the name of the crate."""
    target = ROOT / "target" / "kernel-arithmetic"
    if source is None:
        text = target / "fourhop_cc.ll"
        command = ["cargo", "rustc", "--quiet", "-p", "fourhop-cc", "--lib", "--locked", f"--target-dir={target}", "--"]
        subprocess.run([*command, f"--emit=llvm-ir={text}", *FLAGS], cwd=ROOT, check=True)
        return text.read_text(encoding="utf-8"), "fourhop_cc"
    command = ["rustc", "--edition=2024", "--crate-type=lib", f"--crate-name={source.stem}", str(source)]
    ran = subprocess.run([*command, "--emit=llvm-ir", "-o-", *FLAGS], check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout, source.stem


def main() -> int:
    """Check the file named on the command line, or crates/cc."""
    code, crate = compiled(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    if crate not in code:
        raise SystemExit(f"no function of {crate} in what rustc wrote")
    found = sorted(breaches(code, crate))
    print(*found, f"kernel arithmetic: {len(found) or 'no'} breaches", sep="\n")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
