#!/usr/bin/env python3
"""Measure which changes of the code the tests notice: mutation testing by random sample.

    scripts/mutants.py [--sample N] [--seed N] [--floor PERCENT] [--again] [--woven] [--rust] [AREA ...]

cargo-mutants lists possible changes (an inverted operator, a function that returns a fixed value, a removed match arm).
A sample of each area is drawn with a fixed seed, every mutant in it is run against the tests, and a table shows how
many were killed. Exits with 1 if an area is below the floor. Mutants that do not compile do not count; a mutant with
which the tests take five times their processor time counts as killed. `--again` runs only those that survived last
time.

Compiling each mutant separately would take most of the time, so a copy of the sources in target/mutants gets all of
them at once: each function selects its body by an environment variable. Other mutants (const functions, tables) are
compiled alone.

The tests of the mutant's own module run first, then those of its crate and of the crates above it, then the Python
tests of its area, until one fails. Only tests that reach the mutant's function are run, as found by a run without
mutants. Those of tests/linux are chosen one by one, the fastest first. They run in namespaces of their own, so that
processes, nodes and settings that a mutant leaves behind disappear.
Needs cargo-mutants: cargo install --locked cargo-mutants
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
RESULTS = WORK / "results.json"


@dataclass(frozen=True)
class Area:
    """Sources that are sampled together, and the tests that must notice."""

    sources: tuple[str, ...]  # below crates/
    first: tuple[str, ...] = ()  # the tests of its crate that are run first
    networks: tuple[str, ...] = ()  # the tests of the simulator that are run after those of its crates
    python: tuple[str, ...] = ()  # files of Python tests that are run last, against an extension with the mutants


AREAS: dict[str, Area] = {
    "cc": Area(("cc/src/",)),
    "gateway": Area(("proto/src/gateway/",), ("gateway::",)),
    "adhoc": Area(
        ("proto/src/tcp/adhoc/", "proto/src/tcp/sender/freezing.rs"),
        ("tcp::adhoc::", "tcp::tests::adhoc_sender"),
    ),
    "ccm": Area(("proto/src/ccm/",), ("ccm::",)),
    "aodv": Area(("proto/src/route/aodv/",), ("route::aodv::",)),
    "wire": Area(("proto/src/wire/",), ("wire::",)),
    "mac": Area(("proto/src/mac/",), ("mac::",)),
    "tcp": Area(("proto/src/tcp/",), ("tcp::",)),
    "aqm": Area(("proto/src/aqm/",), ("aqm::",)),
    "phy": Area(("proto/src/phy/",), ("phy::",)),
    "babel": Area(("proto/src/route/babel/",), ("route::babel::",)),
    "net": Area(("proto/src/net/",), ("net::",)),
    # A node joins the layers, so its behaviour shows in networks of nodes.
    "node": Area(
        ("proto/src/node/",),
        ("node::",),
        ("conservation::", "worked_example::", "packets::", "aodv_messages::", "radios::", "trace::"),
    ),
    "atp": Area(("proto/src/atp/",), ("atp::",)),
    "scenario": Area(("sim/src/scenario/",), ("scenario::",)),
    # It shows in networks of nodes, first in those that take less than a second.
    "world": Area(
        ("sim/src/world.rs", "sim/src/world/"),
        ("driver::", "outside::", "worked_example::", "packets::", "aodv_messages::", "gateway::", "far_apart::"),
        python=("tests/test_trace.py",),
    ),
    "channel": Area(("sim/src/channel.rs", "sim/src/channel_choice.rs"), ("channel::", "channel_choice::")),
    "events": Area(("sim/src/event_queue.rs", "sim/src/event_queue/"), ("event_queue::",)),
    "mobility": Area(("sim/src/mobility/", "sim/src/grid.rs", "sim/src/air.rs"), ("mobility::", "grid::", "air::")),
    # Python reads its output.
    "trace": Area(
        ("sim/src/trace/",),
        ("trace::",),
        python=("tests/test_trace.py", "tests/test_pcap.py", "tests/test_perfetto.py"),
    ),
    "wired": Area(("sim/src/wired/",), ("wired::",)),
    "emu": Area(
        ("emu/src/",),
        python=(
            "tests/linux/test_nodes.py",
            "tests/linux/test_link.py",
            "tests/linux/test_medium.py",
            "tests/linux/test_medium_rates.py",
            "tests/linux/test_programs.py",
            "tests/linux/test_measure.py",
            "tests/linux/test_trace.py",
            "tests/linux/test_view.py",
        ),
    ),
    # The programs share it.
    "live": Area(
        ("live/src/",),
        python=(
            "tests/linux/test_nodes.py",
            "tests/linux/test_gateway.py",
            "tests/linux/test_aodvd.py",
        ),
    ),
    "gatewayd": Area(
        ("gateway/src/",),
        python=(
            "tests/linux/test_gateway.py",
            "tests/linux/test_gateway_faults.py",
            "tests/linux/test_gateway_setup.py",
        ),
    ),
    "aodvd": Area(
        ("aodvd/src/",),
        python=(
            "tests/linux/test_aodvd.py",
            "tests/linux/test_aodvd_mesh.py",
        ),
    ),
    "bpf": Area(
        ("bpf/src/",),
        python=("tests/linux/test_kernel.py",),
    ),
}
# Programs for Linux: only if named, as tests/linux needs root, and minutes per mutant.
LINUX = ("emu", "live", "gatewayd", "aodvd", "bpf")
# A mutant is tried in its own crate, then in the one above it, but not in the simulator: a module's behaviour must be
# covered by its own tests, or by those of crates that use it.
ABOVE = {"cc": ("proto",)}

# Failing property tests need not be shrunk or saved, and use the same cases every time.
ENVIRONMENT = {
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
    "PROPTEST_RNG_SEED": "1",
}
MEMORY = 4 << 30  # bytes, for mutants that never stop growing
SELECTOR = """
/// Which mutant runs: none unless the environment names one. `here` are those of the function that asks; where the
/// environment names a file, each test writes there which of them it comes to. A test in Python is named by pytest.
pub fn mutant(here: &'static [usize]) -> usize {
    use std::{cell::RefCell, collections::BTreeSet, fs::File, io::Write, sync::OnceLock, thread};
    static CHOSEN: OnceLock<usize> = OnceLock::new();
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    thread_local! { static SEEN: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) } }
    let append = |path| File::options().create(true).append(true).open(path).ok();
    if let Some(mut log) = LOG.get_or_init(|| std::env::var_os("MUTANTS_REACHED").and_then(append)).as_ref()
        && SEEN.try_with(|seen| seen.borrow_mut().insert(here[0])) == Ok(true)
    {
        let thread = thread::current().name().unwrap_or("?").to_owned();
        let test = std::env::var("PYTEST_CURRENT_TEST").unwrap_or(thread);
        let _ = log.write_all(format!("{here:?} {test}\\n").as_bytes());
    }
    *CHOSEN.get_or_init(|| std::env::var("MUTANT").ok().and_then(|chosen| chosen.parse().ok()).unwrap_or(usize::MAX))
}
"""
# The Python with the dependencies of its tests (`make build`).
VENV = ROOT / ".venv" / "bin" / "python"
# Where Python tests find the package and the programs for Linux.
IN_PYTHON = {"PYTHONPATH": str(TREE / "python"), "FOURHOP_EMULATE": str(WORK / "build" / "debug" / "fourhop-emulate")}
# Seconds after which waiting Python tests count as having noticed the mutant.
LONGEST = 1800
# Processor seconds that most tests stay below. Slower ones are timed without a mutant.
SHORT = 5
# Of tests/linux: processor seconds of a program, and seconds that a test waits for one. Without a mutant it needs less.
OF_LINUX = 120
WAIT = 60
# Nothing that a test leaves behind outlives these namespaces, or is seen outside.
APART = (
    *("unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "--mount", "--net", "sh", "-ec"),
    'mount -t tmpfs none /run; mkdir -p /etc/netns; mount -t tmpfs none /etc/netns; ip link set lo up; "$@" || exit',
    "sh",
)


# Used instead of a crate for Python tests.
PYTHON = "python"
LINUX_TESTS = "tests/linux/"
# How long tests of it took without a mutant.
SECONDS: dict[str, float] = {}
# A test program: its crate and its file. A run of it: with filters that select tests.
Program = tuple[str, str]
Step = tuple[Program, tuple[str, ...]]


@dataclass(frozen=True)
class Mutant:
    """One change, as offsets into the text of its file."""

    number: int
    area: str
    name: str
    file: str
    start: int
    end: int
    replacement: str
    function: tuple[int, int] | None

    def applied(self, text: str, first: int = 0, last: int | None = None) -> str:
        """The part of `text` from `first` to `last` with this change."""
        return text[first : self.start] + self.replacement + text[self.end : last]


def main() -> int:
    """Run the areas on the command line."""
    parser = argparse.ArgumentParser(description="Mutation testing by random sample.")
    parser.add_argument(
        "areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}; default: all but {', '.join(LINUX)}"
    )
    parser.add_argument("--sample", type=int, default=100, help="mutants of each area (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--floor", type=float, default=90, help="per cent that each area must kill (default 90)")
    parser.add_argument("--again", action="store_true", help="only those that survived last time")
    parser.add_argument("--woven", action="store_true", help="leave out mutants that must be compiled alone")
    parser.add_argument(
        "--rust", action="store_true", help="run no Python tests: those of Linux take minutes per mutant"
    )
    arguments = parser.parse_args()
    if arguments.rust:
        AREAS.update({name: dataclasses.replace(area, python=()) for name, area in AREAS.items()})
    areas = arguments.areas or [area for area in AREAS if area not in LINUX]
    if unknown := [area for area in areas if area not in AREAS]:
        parser.error(f"no area {unknown[0]!r}; there are {', '.join(AREAS)}")
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True, check=False).returncode:
        print("mutants: cargo-mutants is missing; cargo install --locked cargo-mutants", file=sys.stderr)
        return 2
    copy_sources()
    sample = draw(areas, arguments.sample, arguments.seed)
    outcomes: dict[str, str] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    todo = [mutant for mutant in sample if not arguments.again or outcomes.get(mutant.name, "survived") == "survived"]
    for mutant, outcome in run(todo, arguments.woven):
        outcomes[mutant.name] = outcome
        RESULTS.write_text(json.dumps(outcomes, indent=0))
        print(f"{outcome:9} {mutant.name}", flush=True)
    return report(areas, sample, outcomes, arguments.floor)


def report(areas: Iterable[str], sample: list[Mutant], outcomes: dict[str, str], floor: float) -> int:
    """Print the table. Returns 1 if an area is below the floor."""
    print("\n| area | viable mutants | killed | survived | killed, per cent |\n|---|---|---|---|---|")
    low = []
    for area in areas:
        of_area = [outcomes.get(mutant.name) for mutant in sample if mutant.area == area]
        killed, survived = of_area.count("killed"), of_area.count("survived")
        share = 100 * killed / max(killed + survived, 1)
        low += [area] if share < floor else []
        print(f"| {area} | {killed + survived} | {killed} | {survived} | {share:.0f} |")
    if low:
        print(f"mutants: below {floor:g} %: {', '.join(low)}", file=sys.stderr)
    return 1 if low else 0


def copy_sources() -> None:
    """Update the copy; equal files keep their times, so that cargo does not rebuild them."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for source in list((TREE / "crates").rglob("*.rs")):
        if str(source.relative_to(TREE)) not in wanted:
            source.unlink()


def draw(areas: Iterable[str], size: int, seed: int) -> list[Mutant]:
    """The sample of these areas. It depends only on the sources of the area and the seed."""
    sample: list[Mutant] = []
    for area in areas:
        paths = [f"crates/{path}" for path in AREAS[area].sources]
        globs = [part for path in paths for part in ("-f", path + "**" if path.endswith("/") else path)]
        # Without --workspace it lists only the default members, which exclude programs for Linux.
        command = ["cargo", "mutants", "--list", "--json", "--no-config", "--workspace", *globs]
        listed = json.loads(subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout)
        listed.sort(key=lambda entry: entry["name"])
        for entry in random.Random(f"{area} {seed}").sample(listed, min(size, len(listed))):
            sample.append(mutant_of(len(sample), area, entry))
    return sample


def mutant_of(number: int, area: str, entry: dict[str, Any]) -> Mutant:
    """A mutant listed by cargo-mutants, with offsets instead of lines and columns."""
    text = (TREE / entry["file"]).read_text(encoding="utf-8")
    lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def offsets(span: dict[str, dict[str, int]]) -> tuple[int, int]:
        start, end = (lines[at["line"] - 1] + at["column"] - 1 for at in (span["start"], span["end"]))
        return start, end

    function = entry["function"] and offsets(entry["function"]["span"])
    start, end = offsets(entry["span"])
    return Mutant(number, area, entry["name"], entry["file"], start, end, entry["replacement"], function or None)


def run(mutants: list[Mutant], woven_only: bool) -> Iterator[tuple[Mutant, str]]:
    """Compile all of them at once, then try each; those that cannot be woven are tried last, or not at all."""
    pristine = {mutant.file: (TREE / mutant.file).read_text(encoding="utf-8") for mutant in mutants}
    programs, alone = build_woven(pristine, mutants)
    print(f"{len(mutants) - len(alone)} mutants in one build, {len(alone)} alone", flush=True)
    reached = tests_that_reach(programs, mutants)
    for mutant in mutants:
        if mutant not in alone:
            yield mutant, outcome(mutant, steps(mutant, programs, reached))
    if woven_only:
        return
    for mutant in sorted(alone, key=lambda mutant: mutant.number):
        file = TREE / mutant.file
        woven = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(pristine[mutant.file]), encoding="utf-8")
        programs, _ = build([mutant])
        programs += build_python([mutant]) if programs else []
        yield mutant, outcome(mutant, steps(mutant, programs, None)) if programs else "unviable"
        file.write_text(woven, encoding="utf-8")


def build_woven(pristine: dict[str, str], mutants: list[Mutant]) -> tuple[list[Program], set[Mutant]]:
    """The programs that contain the mutants, and the mutants that must be compiled alone."""
    selector = TREE / "crates/units/src/lib.rs"
    selector.write_text(selector.read_text(encoding="utf-8") + SELECTOR, encoding="utf-8")
    alone: set[Mutant] = set()
    while True:
        arms = weave(pristine, [mutant for mutant in mutants if mutant not in alone], alone)
        programs, errors = build(mutants)
        if programs:
            return programs + build_python(mutants), alone
        blamed = {
            mutant for file, first, last, mutant in arms if any(f == file and first <= n <= last for f, n in errors)
        }
        if not blamed:
            raise SystemExit(f"mutants: the woven sources do not compile: {sorted(errors)}")
        alone |= blamed


def weave(pristine: dict[str, str], mutants: list[Mutant], alone: set[Mutant]) -> list[tuple[str, int, int, Mutant]]:
    """Write each file with its mutants. Returns the lines of each, and adds those that cannot be woven to `alone`."""
    arms = []
    for file, text in pristine.items():
        bodies = defaultdict(list)
        for mutant in mutants:
            if mutant.file == file:
                span = mutant.function and body(text, mutant)
                bodies[span].append(mutant) if span else alone.add(mutant)
        woven, done = "", 0
        for (first, last), inside in sorted(bodies.items()):
            if first < done:  # a function within a function
                alone.update(inside)
                continue
            here = [mutant.number for mutant in inside]
            woven += text[done:first] + f"match fourhop_units::mutant(&{here}) {{\n"
            for mutant in inside:
                arm = f"{mutant.number} => {{ {mutant.applied(text, first, last)} }}\n"
                line = woven.count("\n") + 1
                arms.append((file, line, line + arm.count("\n") - 1, mutant))
                woven += arm
            line = woven.count("\n") + 1
            woven += f"_ => {{ {text[first:last]} }}\n}}"
            # An error in the last arm, the original code, is about a type that the others must match.
            arms += [(file, line, woven.count("\n") + 1, mutant) for mutant in inside]
            done = last
        (TREE / file).write_text(woven + text[done:], encoding="utf-8")
    return arms


def body(text: str, mutant: Mutant) -> tuple[int, int] | None:
    """Range of the body of the mutant's function, without braces; `None` if it may run at compile time."""
    assert mutant.function
    first, last = mutant.function
    # Comments and attributes may contain braces.
    head = re.sub(r"//[^\n]*|#\[[^\n]*\]", lambda found: " " * len(found[0]), text[first:last])
    signature = re.search(r"\bfn\b[^{]*\{", head)
    if not signature or re.search(r"\bconst\s+fn\b", head[: signature.end()]):
        return None
    start = first + signature.end()
    return (start, last - 1) if start <= mutant.start and mutant.end < last else None


def build(mutants: list[Mutant]) -> tuple[list[Program], set[tuple[str, int]]]:
    """Compile the tests of these mutants' crates and of those above. Returns the programs, or the places of errors."""
    crates = dict.fromkeys(crate for mutant in mutants for crate in tested_in(mutant))
    packages = [part for crate in crates for part in ("-p", f"fourhop-{crate}")]
    # Run `cargo check` first: it finds most errors without building a program.
    for how in (["check"], ["test", "--no-run"]):
        command = ["cargo", *how, "--locked", "--lib", "--tests", "--message-format=json", *packages]
        done = subprocess.run(command, cwd=TREE, env=environment(), capture_output=True, text=True, check=False)
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode:
            errors = set()
            for message in messages:
                if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
                    spans = message["message"]["spans"]
                    errors |= {(span["file_name"], span["line_start"]) for span in spans if span["is_primary"]}
            if not errors:
                raise SystemExit(done.stderr)
            return [], errors
    # Programs that integration tests start are built as well.
    built = [message for message in messages if message["reason"] == "compiler-artifact" and message["executable"]]
    tests = [message for message in built if message["profile"]["test"]]
    programs = [(Path(test["manifest_path"]).parent.name, test["executable"]) for test in tests]
    return programs, set()


def build_python(mutants: list[Mutant]) -> list[Program]:
    """Compile the code that the Python tests of these mutants' areas run, if any. Returns the test files."""
    files = sorted({file for mutant in mutants for file in AREAS[mutant.area].python})
    if files:
        linux = any(file.startswith("tests/linux/") for file in files)
        packages = ("py", *(("emu", "gateway", "aodvd", "bpf") if linux else ()))
        command = ["cargo", "build", "--locked", *(part for name in packages for part in ("-p", f"fourhop-{name}"))]
        subprocess.run(command, cwd=TREE, env=environment(), check=True)
        shutil.copyfile(WORK / "build" / "debug" / "lib_core.so", TREE / "python" / "fourhop" / "_core.abi3.so")
        # Tests of the programs for Linux find them there.
        found = TREE / "target" / "release"
        if linux and not found.is_symlink():
            found.parent.mkdir(exist_ok=True)
            found.symlink_to(WORK / "build" / "debug")
    return [(PYTHON, file) for file in files]


def environment() -> dict[str, str]:
    """Variables for cargo and the tests. In a shared folder, cargo would mistake compiled mutants for the sources."""
    return {**os.environ, "CARGO_TARGET_DIR": str(WORK / "build"), **ENVIRONMENT}


def tested_in(mutant: Mutant) -> tuple[str, ...]:
    """The crates whose tests a mutant is tried in, its own first."""
    own = mutant.file.split("/")[1]
    return (own, *ABOVE.get(own, ()), *(("sim",) if AREAS[mutant.area].networks else ()))


# The tests that reach a mutant's function, by its number and the program, under their names in the program.
Reached = dict[tuple[int, str], set[str]]


def tests_that_reach(programs: list[Program], mutants: list[Mutant]) -> Reached:
    """Run every test program once without a mutant, to find the tests that reach each function."""
    reached: Reached = defaultdict(set)
    networks = tuple(sorted({test for mutant in mutants for test in AREAS[mutant.area].networks}))
    simulated = any(mutant.file.startswith("crates/sim/") for mutant in mutants)
    log, times = WORK / "reached.txt", WORK / "times.xml"
    for program in programs:
        log.write_text("")
        log.chmod(0o666)  # some programs are not run by root
        filters = () if program[0] != "sim" or simulated else networks
        more = {"MUTANTS_REACHED": str(log), "PYTEST_ADDOPTS": f"--junitxml={times}"}
        _, passed = tried((program, filters), None, 3600, more)
        if not passed and not program[1].startswith(LINUX_TESTS):
            raise SystemExit(f"mutants: {program} fails without a mutant")
        for line in log.read_text(encoding="utf-8").splitlines():
            here, _, name = line.partition("] ")
            for number in json.loads(here + "]"):
                # pytest adds whether the test begins, runs or ends.
                reached[number, program[1]].add(name.rpartition(" (")[0] or name)
        if program[1].startswith(LINUX_TESTS):
            for case in ElementTree.parse(times).iter("testcase"):
                test = f"{program[1]}::{case.get('name')}"
                SECONDS[test] = float(case.get("time", 0))
                for said in case:  # skipped, failure or error
                    print(f"left out: {test}: {said.tag}: {(said.get('message') or '')[:200]!r}", flush=True)
                    for names in reached.values():
                        names.discard(test)
    return reached


def steps(mutant: Mutant, programs: list[Program], reached: Reached | None) -> Iterator[Step]:
    """The order of tests: those of the module, then every program of its crate and of those above."""
    own, *_ = crates = tested_in(mutant)
    area = AREAS[mutant.area]
    for crate in crates:
        for program in sorted(programs, key=lambda program: not Path(program[1]).name.startswith(f"fourhop_{own}-")):
            if program[0] != crate:
                continue
            filters = area.networks if crate == "sim" != own else ()
            if reached is None:
                yield program, filters
                continue
            names = sorted(name for name in reached[mutant.number, program[1]])
            of_module = tuple(name for name in names if name.startswith(area.first))
            others = tuple(name for name in names if name not in of_module)
            if of_module:
                yield program, ("--exact", *of_module)
            if any("::" not in name for name in others):  # from a thread that no test is named after
                yield program, filters
            elif others:
                yield program, ("--exact", *others)
    apart: list[str] = []
    for file in area.python:
        tests = {file} if reached is None else reached[mutant.number, file]
        if file.startswith(LINUX_TESTS):
            apart += tests
        elif tests:
            yield (PYTHON, file), ()
    if apart:
        yield (PYTHON, LINUX_TESTS), tuple(sorted(apart, key=lambda test: (SECONDS.get(test, 0), test)))


def outcome(mutant: Mutant, steps: Iterable[Step]) -> str:
    """Killed or survived."""
    return "survived" if all(passes(step, mutant) for step in steps) else "killed"


def passes(step: Step, mutant: Mutant) -> bool:
    """Whether tests pass with a mutant within five times their normal time plus two seconds."""
    if step[0][1] == LINUX_TESTS:
        return tried(step, mutant, OF_LINUX)[1]
    if step[0][0] != PYTHON:
        used, passed = tried(step, mutant, SHORT)
        if passed or used < SHORT:
            return passed
    limit = time_of(step)
    return limit > SHORT and tried(step, mutant, limit)[1]


@functools.cache
def time_of(step: Step) -> float:
    """Processor seconds that the tests may take with a mutant."""
    used, passed = tried(step, None, 3600)
    if not passed:
        raise SystemExit(f"mutants: {step} fails without a mutant")
    return 5 * used + 2


def tried(
    step: Step, mutant: Mutant | None, limit: float, more: Mapping[str, str] = MappingProxyType({})
) -> tuple[float, bool]:
    """Run tests with a limit of processor seconds. Returns the seconds used, and whether all passed."""
    (crate, executable), filters = step
    in_python = crate == PYTHON
    # A mutant may also wait for ever, without the processor.
    longest = 2 * WAIT + 4 * limit
    command = [executable, *filters]
    if in_python:
        every = ("-m", "linux or not linux")
        files = filters or (executable,)
        pytest = (str(VENV), "-m", "pytest", "-xq" if mutant else "-q", "-p", "no:cacheprovider", *every, *files)
        # Programs of tests/linux wait more than they compute.
        longest = 2 * WAIT + 3 * sum(SECONDS.get(test, LONGEST) for test in filters) if filters else LONGEST
        apart = APART if executable.startswith(LINUX_TESTS) else ()
        command = [*apart, *pytest]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 1))
        if not in_python:  # whose libraries reserve addresses that they never use
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    chosen = {"MUTANT": str(mutant.number), "FOURHOP_LONGEST": str(WAIT)} if mutant else {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    process = subprocess.Popen(
        ["timeout", "-k", "10", str(longest), *command],
        cwd=TREE if in_python else TREE / "crates" / crate,
        env=environment() | IN_PYTHON | chosen | dict(more),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=bound,
    )
    assert process.stdout
    # One failing test is enough.
    failed = any(line.rstrip().endswith("... FAILED") for line in process.stdout)
    if failed:
        # `timeout` has a process group of its own.
        os.killpg(process.pid, signal.SIGKILL)
    passed = process.wait() == 0 and not failed
    process.stdout.close()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, passed


if __name__ == "__main__":
    sys.exit(main())
