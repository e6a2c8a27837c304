"""Cost of short commands: processor time, wall clock and peak memory of whole processes, the median of several.

python3 benches/startup.py [--repetitions N] [--binary PATH]
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = """\
profile = "ns2"
duration = "2s"
[topology]
kind = "chain"
hops = 3
[traffic]
transport = "newreno"
"""
COMMANDS = ("--help", "list", "schema", "check chain.toml", "run chain.toml", "run chain.toml --json")


def measured(binary: str, words: list[str]) -> tuple[float, float, float]:
    """Seconds of processor time, seconds of wall clock, and MB of one process."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(binary, [binary, *words])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"startup: {binary} {' '.join(words)}: failed")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun, usage.ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--binary", type=Path, default=Path(sys.executable).with_name("fourhop"))
    options = parser.parse_args()
    binary = str(options.binary.absolute())
    print(f"{'command':<24}  processor s  wall s    MB")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("chain.toml").write_text(SCENARIO)
        for command in COMMANDS:
            runs = [measured(binary, command.split()) for _ in range(options.repetitions)]
            cpu, wall, peak = (statistics.median(column) for column in zip(*runs, strict=True))
            print(f"{command:<24}  {cpu:>11.2f}  {wall:>6.2f}  {peak:>4.0f}")


if __name__ == "__main__":
    main()
