"""Result folders under faults: full disks, kills at any moment, several processes at once."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import fourhop
from fourhop import IncompleteError, Scenario
from tests.conftest import HANGS, Command, environment

SHORT = Scenario.chain(hops=1, duration="2s")
RECORDED = SHORT.with_(sample_every="10ms")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def limited(*arguments: str | Path, bytes_a_file: int) -> subprocess.CompletedProcess[str]:
    """Run the command with a limit on file sizes, as on a disk with that much space left."""
    return subprocess.run(
        [sys.executable, "-m", "fourhop.cli", *map(str, arguments)],
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_a_file, bytes_a_file)),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def test_a_result_that_cannot_be_written_is_printed_and_the_older_one_stays(
    fourhop: Command, chain: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert fourhop("run", chain, "--seed", "7", "--out", out).returncode == 0
    before = contents(out)
    full = limited("run", chain, "--out", out, bytes_a_file=3000)
    assert full.returncode == 1
    assert f"error: output folder {out}: cannot be written: File too large" in full.stderr
    assert f"written: {out}" not in full.stderr
    assert "Traceback" not in full.stderr
    assert full.stdout == fourhop("run", chain).stdout
    assert contents(out) == before
    assert fourhop("run", chain, "--out", out).returncode == 0
    assert contents(out) != before


def test_a_full_disk_is_said_to_be_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(IncompleteError, match=r"cannot be written: No space left on device \(.* MB are free") as raised:
        fourhop.run(SHORT, runs=2, out=tmp_path)
    assert raised.value.result.seeds == (1, 2)
    assert not raised.value.saved
    assert not list(tmp_path.iterdir())


def test_series_that_cannot_be_written_say_why(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(RECORDED.with_(duration="100s").to_toml(), encoding="utf-8")
    for command in ("run", "sweep"):
        file = tmp_path / "long.toml"
        if command == "sweep":
            file = tmp_path / "sweep.toml"
            file.write_text('scenario = "long.toml"\n', encoding="utf-8")
        full = limited(command, file, "--out", tmp_path / command, bytes_a_file=100_000)
        assert full.returncode == 2
        assert "cannot write time series: File too large" in full.stderr
        assert "Traceback" not in full.stderr
        assert not list((tmp_path / command).glob("**/*series*"))


def test_a_sweep_that_cannot_write_a_run_says_why(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    (tmp_path / "one.toml").write_text(SHORT.to_toml(), encoding="utf-8")
    file.write_text('scenario = "one.toml"\n', encoding="utf-8")
    full = limited("sweep", file, "--out", tmp_path / "out", bytes_a_file=3000)
    assert full.returncode == 2
    assert ".parquet: cannot be written: File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_output_that_cannot_be_printed_is_an_error_of_one_line(chain: Path) -> None:
    for options in (["--json"], []):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(
                [sys.executable, "-m", "fourhop.cli", "run", chain, *options],
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "error: standard output: cannot be written: No space left on device"
        assert "Traceback" not in done.stderr


def thin(seed: int) -> Scenario:
    topology = {"redraws": 1}
    return Scenario.random(nodes=4, width="500m", height="500m", duration="2s", topology=topology, seed=seed)


def test_a_seed_that_fails_leaves_the_others(fourhop: Command, tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match=r"(?s)seed \d+: .*redraws.*; \d+ finished runs are kept") as raised:
        thin_run(tmp_path / "python")
    kept = raised.value.result
    assert 0 < len(kept.seeds) < 30
    assert raised.value.saved
    assert pl.read_parquet(tmp_path / "python" / "flows.parquet").equals(kept.flows)
    assert kept.note == f"runs failed: {len(kept.seeds)} of 30 runs finished"

    lucky = next(seed for seed in kept.seeds)
    (tmp_path / "thin.toml").write_text(thin(lucky).to_toml(), encoding="utf-8")
    shown = fourhop("run", tmp_path / "thin.toml", "--seed", "0", "--runs", "30", "--json")
    assert shown.returncode == 1, shown.stderr
    assert json.loads(shown.stdout)["seeds"] == list(kept.seeds)
    unlucky = next(seed for seed in range(30) if seed not in kept.seeds)
    assert f"error: seed {unlucky}: " in shown.stderr


def thin_run(out: Path) -> None:
    for seed in range(100):
        try:
            scenario = thin(seed)
        except fourhop.ScenarioError:
            continue
        fourhop.run(scenario, seed=0, runs=30, out=out)
    raise AssertionError("connected with every seed")


def test_captures_that_cannot_be_written_leave_the_other_runs(tmp_path: Path) -> None:
    (tmp_path / "pcap").mkdir()
    (tmp_path / "pcap" / "seed-2").write_text("mine", encoding="utf-8")
    with pytest.raises(IncompleteError, match=r"seed 2: .*cannot write capture files") as raised:
        fourhop.run(SHORT, runs=3, pcap=tmp_path / "pcap")
    assert raised.value.result.seeds == (1, 3)


# A process without threads, so that it can fork: each child is killed, or writes at the same time as the others.
_COMMON = """
import itertools, json, os, signal, sys, time
from pathlib import Path
from fourhop import store
FOLDER = Path(sys.argv[1])
NAMES = [f"table-{n}" for n in range(5)]
def publish(name, gone=()):
    files = {each: None if each in gone else store.text(name * 1000) for each in NAMES}
    store.publish(FOLDER, "manifest.json", files | {"manifest.json": store.text(json.dumps([name, *gone]))})
def found():
    # What belongs together, None while nothing does.
    for _ in range(3):
        try:
            # While it is open, the file system gives its number to no other.
            with (FOLDER / "manifest.json").open() as manifest:
                name, *gone = json.load(manifest)
                texts = [(FOLDER / each).read_text() if each not in gone else None for each in NAMES]
                same = os.path.samestat(os.fstat(manifest.fileno()), os.stat(FOLDER / "manifest.json"))
            if same:
                assert texts == [None if each in gone else name * 1000 for each in NAMES], (name, gone)
                assert not any((FOLDER / each).exists() for each in gone) or len(sys.argv) > 2
                return name
        except FileNotFoundError:
            pass
"""

_KILLED = """
def child(step):
    count = itertools.count()
    def watched(real):
        def call(*arguments, **options):
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)
        return call
    for name in ("replace", "rename", "unlink", "rmdir", "mkdir", "fsync", "open"):
        setattr(os, name, watched(getattr(os, name)))
    Path.write_text = watched(Path.write_text)
    publish("new", ["table-1"])
    os._exit(0)
publish("old")
seen = []
for step in itertools.count():
    pid = os.fork()
    if pid == 0:
        child(step)
    status = os.waitpid(pid, 0)[1]
    at_once = found()
    store.prepare(FOLDER, "manifest.json", "table-0")
    after = found()
    # What is complete is put in place by whoever comes next.
    assert (at_once, after) in ((None, "new"), ("old", "old"), ("old", "new"), ("new", "new")), (step, at_once, after)
    seen.append(after)
    publish("old")
    assert found() == "old"
    assert sorted(each.name for each in FOLDER.iterdir()) == sorted([*NAMES, "manifest.json"]), step
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
assert seen == sorted(seen, reverse=True), seen
print(len(seen), seen.count("new"))
"""

_TOGETHER = """
children = []
for name in ("a", "b", "c"):
    pid = os.fork()
    if pid == 0:
        for _ in range(40):
            publish(name)
        os._exit(0)
    children.append(pid)
seen = set()
while children:
    seen.add(found())
    pid, status = os.waitpid(-1, os.WNOHANG)
    if pid:
        assert status == 0
        children.remove(pid)
assert found() in ("a", "b", "c")
assert sorted(each.name for each in FOLDER.iterdir()) == sorted([*NAMES, "manifest.json"])
print(len(seen - {None}))
"""


def numbers(program: str, *arguments: Path | str) -> list[int]:
    command = [sys.executable, "-c", _COMMON + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 0, done.stderr
    return [int(each) for each in done.stdout.split()]


def test_a_process_killed_at_any_step_leaves_the_older_files_or_the_new_ones(tmp_path: Path) -> None:
    steps, new = numbers(_KILLED, tmp_path)
    assert steps > 25
    assert 5 < new < steps


def test_writers_and_a_reader_at_the_same_time(tmp_path: Path) -> None:
    (seen,) = numbers(_TOGETHER, tmp_path, "together")
    assert seen >= 1


def test_results_saved_to_one_folder_at_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(RECORDED.to_toml(), encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "fourhop.cli", "run", str(tmp_path / "one.toml"), "--out", str(out)]
    running = [
        subprocess.Popen([*command, "--seed", str(seed)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for seed in (1, 2, 3)
    ]
    said = [process.communicate(timeout=HANGS)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    (seed,) = json.loads((out / "run.json").read_text(encoding="utf-8"))["seeds"]
    for table in ("flows", "series", "queues"):
        assert pl.read_parquet(out / f"{table}.parquet")["seed"].unique().to_list() == [seed]
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
