#!/usr/bin/env python3
"""Fuzz every target of fuzz/, one after the other, and print how much of its code was reached.

    scripts/fuzz.py [--seconds N] [--record] [TARGET ...]

The targets share N seconds (an hour). New inputs are kept in fuzz/found, not in the corpus, which the tests replay; an
input that makes a target fail is kept in fuzz/artifacts. `--record` writes the table into CONTRIBUTING.md. Exits with 1
if a target failed. Needs cargo-fuzz; `make fuzz` installs it. No sanitizer is used, as only unsafe code needs one, so
the pinned compiler is sufficient.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
DOCUMENT = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- fuzz.py: begin -->", "<!-- fuzz.py: end -->"
# Further folders of seed inputs.
MORE = {"scenario": ("scenarios",), "ns2_text": ("crates/sim/tests/data/ns2",)}
SLOWEST = 20  # seconds that one input may take


@dataclass(frozen=True)
class Outcome:
    """The fuzzer's progress with a target."""

    target: str
    seconds: int
    inputs: int
    edges: int
    kept: int
    failed: bool

    @classmethod
    def read(cls, target: str, seconds: int, log: str, *, failed: bool) -> Outcome:
        """Parse the log of libFuzzer; missing values are zero."""

        def last(pattern: str) -> int:
            found = re.findall(pattern, log)
            return int(found[-1]) if found else 0

        inputs, edges = last(r"stat::number_of_executed_units: (\d+)"), last(r"\bcov: (\d+)")
        return cls(target, seconds, inputs, edges, last(r"stat::new_units_added: +(\d+)"), failed)

    @property
    def row(self) -> str:
        """A row of the table."""
        counted = (self.seconds, self.inputs, self.edges, self.kept)
        found = "**fails**" if self.failed else "none"
        return f"| `{self.target}` | {' | '.join(f'{each:,}' for each in counted)} | {found} |"


def table(outcomes: list[Outcome]) -> str:
    """The whole table."""
    head = "| target | seconds | inputs tried | edges reached | inputs that reached more | failures |"
    return "\n".join([head, "|---|---:|---:|---:|---:|---|", *(each.row for each in outcomes)])


def recorded(text: str, outcomes: list[Outcome], day: str, commit: str) -> str:
    """A document with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{day}, commit {commit}:\n\n{table(outcomes)}\n{END}{after}"


def fuzz(target: str, seconds: int) -> Outcome:
    """Run one target for a number of seconds."""
    found = FUZZ / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    corpus = [found, FUZZ / "corpus" / target, *(ROOT / each for each in MORE.get(target, ()))]
    command = ["cargo", "fuzz", "run", "--sanitizer", "none", target, *map(str, corpus), "--"]
    command += [f"-max_total_time={seconds}", f"-timeout={SLOWEST}", "-print_final_stats=1"]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        print(done.stderr[-4000:], file=sys.stderr)
    return Outcome.read(target, seconds, done.stderr, failed=done.returncode != 0)


def output(*command: str) -> str:
    """The output of a command. Raises `CalledProcessError` if it fails."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    """Fuzz the targets on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="one of fuzz/; default: all")
    parser.add_argument("--seconds", type=int, default=3600, help="for all targets together; default: an hour")
    parser.add_argument("--record", action="store_true", help="write the table into CONTRIBUTING.md")
    arguments = parser.parse_args()
    there = output("cargo", "fuzz", "list").split()
    if unknown := [each for each in arguments.targets if each not in there]:
        parser.error(f"found {', '.join(unknown)}, allowed: {', '.join(there)}")
    if arguments.record and arguments.targets:
        parser.error("--record covers all targets; leave TARGET out")
    targets = arguments.targets or there
    commit = output("git", "describe", "--always", "--dirty").strip()
    subprocess.run(["cargo", "fuzz", "build", "--sanitizer", "none"], cwd=ROOT, check=True)
    each_s = max(1, arguments.seconds // len(targets))
    outcomes = []
    for number, target in enumerate(targets, 1):
        print(f"{target}: {number} of {len(targets)}, {each_s} s", file=sys.stderr, flush=True)
        outcomes.append(fuzz(target, each_s))
    print(table(outcomes))
    for each in outcomes:
        if each.failed:
            inputs = sorted((FUZZ / "artifacts" / each.target).glob("*"), key=lambda path: path.stat().st_mtime)
            of = f"on {inputs[-1].relative_to(ROOT)}" if inputs else "and left no input"
            print(f"{each.target}: fails {of}", file=sys.stderr)
    if arguments.record:
        day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        DOCUMENT.write_text(recorded(DOCUMENT.read_text(encoding="utf-8"), outcomes, day, commit), encoding="utf-8")
    return 1 if any(each.failed for each in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
