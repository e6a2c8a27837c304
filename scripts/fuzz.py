#!/usr/bin/env python3
"""Fuzz the targets of fuzz/, and print how much of their code was reached.

    scripts/fuzz.py [--seconds N] [--jobs N] [--record] [TARGET ...]

Each target gets N seconds (an hour). New inputs are kept in fuzz/found, not in the corpus, which the tests replay; an
input that makes a target fail is kept in fuzz/artifacts. `--record` writes a target's row into CONTRIBUTING.md as soon
as it is done, so you can fuzz the targets on several days. Exits with 1 if a target failed. Needs cargo-fuzz;
`make fuzz` installs it. No sanitizer is used, as only unsafe code needs one, so the pinned compiler is sufficient.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
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
    day: str
    commit: str

    @classmethod
    def read(cls, target: str, seconds: int, log: str, day: str, commit: str, *, failed: bool) -> Outcome:
        """Parse the log of libFuzzer; missing values are zero."""

        def last(pattern: str) -> int:
            found = re.findall(pattern, log)
            return int(found[-1]) if found else 0

        inputs, edges = last(r"stat::number_of_executed_units: (\d+)"), last(r"\bcov: (\d+)")
        return cls(target, seconds, inputs, edges, last(r"stat::new_units_added: +(\d+)"), failed, day, commit)

    @property
    def row(self) -> str:
        """A row of the table."""
        counted = (self.seconds, self.inputs, self.edges, self.kept)
        found = "**fails**" if self.failed else "none"
        return (
            f"| `{self.target}` | {' | '.join(f'{each:,}' for each in counted)} | {found} | {self.day}, {self.commit} |"
        )


HEAD = (
    "| target | seconds | inputs tried | edges reached | inputs that reached more | failures | when, on which commit |",
    "|---|---:|---:|---:|---:|---|---|",
)


def table(rows: Iterable[str]) -> str:
    """The whole table."""
    return "\n".join([*HEAD, *rows])


def recorded(text: str, outcome: Outcome, targets: Iterable[str]) -> str:
    """A document with the row of a target in the table between its marks, which has no others than `targets`."""
    before, _, rest = text.partition(BEGIN)
    inside, _, after = rest.partition(END)
    rows = dict(re.findall(r"^\| `(\w+)` (.*)$", inside, flags=re.MULTILINE))
    kept = {name: f"| `{name}` {row}" for name, row in rows.items() if name in targets} | {outcome.target: outcome.row}
    return f"{before}{BEGIN}\n{table(kept[name] for name in sorted(kept))}\n{END}{after}"


def fuzz(target: str, seconds: int, commit: str) -> Outcome:
    """Run one target for a number of seconds."""
    found = FUZZ / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    corpus = [found, FUZZ / "corpus" / target, *(ROOT / each for each in MORE.get(target, ()))]
    command = ["cargo", "fuzz", "run", "--sanitizer", "none", target, *map(str, corpus), "--"]
    command += [f"-max_total_time={seconds}", f"-timeout={SLOWEST}", "-print_final_stats=1"]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        print(done.stderr[-4000:], file=sys.stderr)
    day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return Outcome.read(target, seconds, done.stderr, day, commit, failed=done.returncode != 0)


def output(*command: str) -> str:
    """The output of a command. Raises `CalledProcessError` if it fails."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    """Fuzz the targets on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="one of fuzz/; default: all")
    parser.add_argument("--seconds", type=int, default=3600, help="for each target; default: an hour")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time; default: one")
    parser.add_argument("--record", action="store_true", help="write the rows into CONTRIBUTING.md")
    arguments = parser.parse_args()
    there = output("cargo", "fuzz", "list").split()
    if unknown := [each for each in arguments.targets if each not in there]:
        parser.error(f"found {', '.join(unknown)}, allowed: {', '.join(there)}")
    targets = arguments.targets or there
    commit = output("git", "describe", "--always", "--dirty").strip()
    subprocess.run(["cargo", "fuzz", "build", "--sanitizer", "none"], cwd=ROOT, check=True)
    outcomes = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(fuzz, target, arguments.seconds, commit) for target in targets]
        for number, done in enumerate(as_completed(running), 1):
            outcome = done.result()
            outcomes.append(outcome)
            print(f"{outcome.target}: done, {number} of {len(targets)}", file=sys.stderr, flush=True)
            if arguments.record:
                text = DOCUMENT.read_text(encoding="utf-8")
                DOCUMENT.write_text(recorded(text, outcome, there), encoding="utf-8")
    print(table(each.row for each in sorted(outcomes, key=lambda each: each.target)))
    for each in outcomes:
        if each.failed:
            inputs = sorted((FUZZ / "artifacts" / each.target).glob("*"), key=lambda path: path.stat().st_mtime)
            of = f"on {inputs[-1].relative_to(ROOT)}" if inputs else "and left no input"
            print(f"{each.target}: fails {of}", file=sys.stderr)
    return 1 if any(each.failed for each in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
