"""Our Minstrel-HT beside that of Linux, over synthetic channels.

    benches/minstrel/run.py [ARCHIVE]     # linux-source-6.1.tar.xz of Debian's package, if not in /usr/src

Takes rc80211_minstrel_ht.c and its header from the archive unmodified, compiles them with shim.h and driver.c, and
runs crates/proto/examples/minstrel.rs, which has the channels, for each of SEEDS (10) seeds and with STREAMS (2)
streams. Prints a table; VALIDATION.md shows it. Without the archive or a C compiler it says what is missing and exits
with 2.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "target" / "minstrel"
ARCHIVE = "/usr/src/linux-source-6.1.tar.xz"
FILES = ("rc80211_minstrel_ht.c", "rc80211_minstrel_ht.h")
SEEDS = range(1, int(os.environ.get("SEEDS", "10")) + 1)
STREAMS = os.environ.get("STREAMS", "2")
# 95 % quantiles of Student's t by degrees of freedom; 2.0 beyond.
STUDENT = {1: 12.7, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def extract(archive: Path) -> None:
    """Put the kernel's files into the build directory, and a header that leads to ours for each that they include."""
    BUILD.mkdir(parents=True, exist_ok=True)
    missing = {name for name in FILES if not (BUILD / name).exists()}
    if missing:
        # As a stream: the archive is large, and these files come early.
        with tarfile.open(archive, "r|xz") as files:
            for member in files:
                where = Path(member.name)
                if where.name in missing and where.parts[1:-1] == ("net", "mac80211"):
                    content = files.extractfile(member)
                    assert content is not None
                    (BUILD / where.name).write_bytes(content.read())
                    missing.remove(where.name)
                    if not missing:
                        break
    for name in FILES:
        for header in re.findall(r'^#include [<"]([^>"]+)', (BUILD / name).read_text(encoding="utf-8"), re.MULTILINE):
            if header not in FILES:
                (BUILD / header).parent.mkdir(exist_ok=True)
                (BUILD / header).write_text('#include "shim.h"\n', encoding="utf-8")


def compiled(compiler: str) -> Path:
    """Linux's Minstrel-HT as a program."""
    program = BUILD / "driver"
    paths = ["-I", str(BUILD), "-I", str(HERE)]
    # The kernel is built with the last two flags: its throughput formula overflows an int. Its warnings are not ours.
    flags = ["-O2", "-w", "-std=gnu11", "-fno-strict-overflow", "-fno-strict-aliasing"]
    sources = [str(HERE / "driver.c"), str(BUILD / FILES[0])]
    subprocess.run([compiler, *flags, *paths, *sources, "-o", str(program)], check=True)
    return program


def mean(values: list[float]) -> str:
    """Mean and half-width of the 95 % interval, if there are several."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    half = STUDENT.get(len(values) - 1, 2.0) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.3f} ± {half:.3f}"


def main() -> int:
    """Build, run, print."""
    archive = Path(sys.argv[1] if len(sys.argv) > 1 else ARCHIVE)
    compiler = shutil.which("cc")
    if compiler is None:
        print("no C compiler: apt-get install gcc libc6-dev", file=sys.stderr)
        return 2
    if not archive.exists() and not all((BUILD / name).exists() for name in FILES):
        print(f"no {archive}: apt-get install linux-source-6.1, or name the archive", file=sys.stderr)
        return 2
    extract(archive)
    program = compiled(compiler)
    cargo = ["cargo", "run", "--release", "--quiet", "-p", "fourhop-proto", "--example", "minstrel", "--"]
    found: dict[str, dict[str, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    for seed in SEEDS:
        command = [*cargo, str(seed), STREAMS, str(program)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for channel, control, *row in csv.reader(run.stdout.splitlines()):
            found[channel][control].append(row)
    heads = ["channel", "Linux, Mbit/s", "ours", "ours / Linux", "best fixed", "most used: Linux", "ours"]
    heads += ["90 % after: Linux", "ours"]
    print("|", " | ".join(heads), "|")
    print("|" + "---|" * len(heads))
    for channel, controls in found.items():
        cells = {}
        for control, rows in controls.items():
            goodput = statistics.mean(float(row[0]) for row in rows) / 1e3
            most = statistics.mode(row[1] for row in rows)
            share = statistics.mean(float(row[2]) for row in rows if row[1] == most)
            late = [float(row[3]) for row in rows if row[3]]
            after = f"{statistics.mean(late) / 1e3:.1f} s" if late else ""
            cells[control] = (f"{goodput:.2f}", f"{most}, {share:.0f} %", after)
        linux, ours, best = cells["linux"], cells["ours"], cells.get("best", ("", "", ""))
        ratio = mean([float(a[0]) / float(b[0]) for a, b in zip(controls["ours"], controls["linux"], strict=True)])
        fixed = f"{best[0]} ({best[1].split(',')[0]})" if best[0] else ""
        print("|", " | ".join([channel, linux[0], ours[0], ratio, fixed, linux[1], ours[1], linux[2], ours[2]]), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
