"""Running sweeps: any number of cores, stopped and killed halfway, several at once, and files left alone."""

from __future__ import annotations

import functools
import itertools
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import fourhop
from fourhop import FourhopError, IncompleteError, Scenario, SweepResult, store, sweep
from fourhop.recorded import SWEEP_STAGING
from fourhop.sweeps import inventory, manifest, runfile, sealed, seriesfile
from fourhop.sweeps.result import TABLES
from fourhop.sweeps.runstore import RunStore
from tests.conftest import HANGS, Command, environment

SHORT = Scenario.chain(hops=1, duration="2s")
HOPS = {"topology.hops": [1, 2, 3]}

SWEEP = """\
runs = 25
seed = 7

[scenario]
profile = "ns2"
duration = "10s"

[scenario.topology]
kind = "chain"
hops = 2

[scenario.traffic]
transport = "newreno"

[over]
tcp.window = [2, 4, 8, 16]
"""

# All tables are functions of the sweep alone, except the time that the runs took.
PURE = [name for name in TABLES if name != "timing"]


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "windows.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


def kept(folder: Path) -> list[Path]:
    """Files of runs, without their time series."""
    found = folder.glob("runs/*/[!.]*.parquet")
    return sorted(path for path in found if seriesfile.run_of(path) is None)


def same(one: SweepResult, other: SweepResult) -> None:
    for name in PURE:
        assert getattr(one, name).equals(getattr(other, name)), name
    assert one.series.collect().equals(other.series.collect())
    assert one.queues.collect().equals(other.queues.collect())


def same_folders(one: Path, other: Path) -> None:
    for name in PURE:
        assert pl.read_parquet(one / f"{name}.parquet").equals(pl.read_parquet(other / f"{name}.parquet")), name
    assert [path.name for path in kept(one)] == [path.name for path in kept(other)]


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fourhop.cli", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def stopped_at(process: subprocess.Popen[str], folder: Path, runs: int, number: signal.Signals) -> str:
    """Send a signal once `runs` runs are stored; returns the rest of the output."""
    try:
        until = time.monotonic() + HANGS
        while len(kept(folder)) < runs:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.002)
        process.send_signal(number)
        return process.communicate(timeout=HANGS)[1]
    finally:
        process.kill()
        process.wait()


def counted(stderr: str) -> tuple[int, int]:
    """Runs computed and reused, as the command reports."""
    found = re.search(r"(\d+) runs? computed, (\d+) reused", stderr)
    assert found is not None, stderr
    return int(found[1]), int(found[2])


def test_a_sweep_killed_again_and_again_ends_as_an_undisturbed_one(
    fourhop: Command, sweep_file: Path, tmp_path: Path
) -> None:
    disturbed = tmp_path / "disturbed"
    for runs in (20, 45, 70):
        process = started("sweep", sweep_file, "--out", disturbed, "--jobs", "1", cwd=tmp_path)
        stopped_at(process, disturbed, runs, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert runs <= len(kept(disturbed)) < 100
        assert not (disturbed / manifest.MANIFEST).exists()
    before = len(kept(disturbed))
    last = fourhop("sweep", sweep_file, "--out", disturbed)
    assert last.returncode == 0, last.stderr
    assert counted(last.stderr) == (100 - before, before)

    undisturbed = fourhop("sweep", sweep_file, "--out", tmp_path / "undisturbed")
    assert counted(undisturbed.stderr) == (100, 0)
    assert undisturbed.stdout == last.stdout
    same_folders(disturbed, tmp_path / "undisturbed")
    assert pl.read_parquet(disturbed / "runs.parquet").height == 100


def test_ctrl_c_keeps_what_finished_and_says_how_to_go_on(fourhop: Command, sweep_file: Path, tmp_path: Path) -> None:
    process = started("sweep", sweep_file, "--jobs", "1", cwd=tmp_path)
    said = stopped_at(process, tmp_path / "out" / "windows", 20, signal.SIGINT)
    assert process.returncode == 130
    message = re.search(r"interrupted: (\d+) of 100 runs finished, kept in out/windows; run it again", said)
    assert message is not None, said
    assert "Traceback" not in said
    again = fourhop("sweep", sweep_file)
    assert counted(again.stderr) == (100 - int(message[1]), int(message[1]))


def test_ctrl_c_while_a_run_is_stored_waits_until_it_is_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write = RunStore.write

    def disturbed(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        stored = write(*given, **named)
        signal.raise_signal(signal.SIGINT)
        return stored

    monkeypatch.setattr(RunStore, "write", disturbed)
    with pytest.raises(fourhop.SweepInterrupted) as raised:
        fourhop.sweep(SHORT, HOPS, out=tmp_path, jobs=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert raised.value.done == len(kept(tmp_path)) == 1


def test_ctrl_c_in_python() -> None:
    def interrupt(report: fourhop.SweepProgress) -> None:
        if report.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(fourhop.SweepInterrupted, match="of 400 runs finished, not kept") as raised:
        fourhop.sweep(Scenario.chain(hops=2, duration="50s"), {"tcp.window": [2, 4]}, runs=200, progress=interrupt)
    assert 2 <= raised.value.done < 400


def test_writers_at_the_same_time_share_a_folder(sweep_file: Path, tmp_path: Path) -> None:
    together = tmp_path / "together"
    processes = [started("sweep", sweep_file, "--out", together, "--jobs", "1", cwd=tmp_path) for _ in range(3)]
    said = [process.communicate(timeout=HANGS)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert all(sum(counted(each)) == 100 for each in said)
    assert len(kept(together)) == 100
    assert not list(together.glob("runs/*/.*"))
    alone = started("sweep", sweep_file, "--out", tmp_path / "alone", cwd=tmp_path)
    alone.communicate(timeout=HANGS)
    same_folders(together, tmp_path / "alone")


def test_what_another_process_stores_meanwhile_is_not_computed_again(tmp_path: Path) -> None:
    inner: list[SweepResult] = []

    def overtake(_: fourhop.SweepProgress) -> None:
        if not inner:
            inner.append(fourhop.sweep(SHORT, HOPS, runs=50, out=tmp_path))

    outer = fourhop.sweep(SHORT, HOPS, runs=50, out=tmp_path, jobs=1, progress=overtake)
    # The outer sweep had begun a run or two when the inner one did the rest.
    assert 1 <= outer.computed <= 3
    assert outer.reused + outer.computed == 150
    same(outer, inner[0])


def test_frames_do_not_depend_on_the_number_of_jobs() -> None:
    base = Scenario.parallel_chains(hops=2, duration="5s", sample_every="1s")
    results = [fourhop.sweep(base, HOPS, runs=4, jobs=jobs) for jobs in (1, 2, 4)]
    assert results[0].series.collect().height > 0
    same(results[0], results[1])
    same(results[0], results[2])


def test_a_precision_does_not_depend_on_the_number_of_jobs() -> None:
    base = Scenario.chain(hops=3, duration="10s")
    results = [
        fourhop.sweep(base, {"topology.hops": [1, 3]}, precision="8%", max_runs=30, jobs=jobs) for jobs in (1, 3)
    ]
    same(*results)
    runs = results[0].summary["runs"].to_list()
    # One hop gives nearly the same with every seed, three hops do not.
    assert runs[0] == 3
    assert 3 < runs[1] <= 30
    assert results[0].summary["precision_met"].to_list() == [True, True]
    # `fourhop.run` would have stopped there, too.
    assert len(fourhop.run(base, precision="8%", max_runs=30).seeds) == runs[1]


def test_a_precision_that_is_not_met_is_said_and_goes_on_from_what_is_kept(tmp_path: Path) -> None:
    base = Scenario.chain(hops=3, duration="5s")
    first = fourhop.sweep(base, precision="0.01%", max_runs=4, out=tmp_path)
    assert first.summary["precision_met"].to_list() == [False]
    assert first.note == "precision not met at 1 of 1 points after 4 runs"
    second = fourhop.sweep(base, precision="0.01%", max_runs=6, out=tmp_path)
    assert (second.reused, second.computed) == (4, 2)
    third = fourhop.sweep(base, runs=6, out=tmp_path)
    assert (third.reused, third.computed) == (6, 0)
    assert third.runs.equals(second.runs)


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    first = fourhop.sweep(SHORT, {"topology.hops": [1, 2]}, runs=2, out=tmp_path)
    assert (first.reused, first.computed) == (0, 4)
    more = fourhop.sweep(SHORT, HOPS, runs=3, out=tmp_path)
    assert (more.reused, more.computed) == (4, 5)
    same(more, fourhop.sweep(SHORT, HOPS, runs=3))
    # Another way to write the same scenarios.
    renamed = SHORT.with_(name="other", seed=2)
    again = fourhop.sweep(renamed, HOPS, runs=2, out=tmp_path)
    assert (again.reused, again.computed) == (6, 0)


def test_fresh_computes_everything_and_replaces_it(tmp_path: Path) -> None:
    first = fourhop.sweep(SHORT, HOPS, runs=2, out=tmp_path)
    before = {path: path.stat().st_ino for path in kept(tmp_path)}
    fresh = fourhop.sweep(SHORT, HOPS, runs=2, out=tmp_path, fresh=True)
    assert (fresh.reused, fresh.computed) == (0, 6)
    after = {path: path.stat().st_ino for path in kept(tmp_path)}
    assert before.keys() == after.keys()
    same(first, fresh)


def test_points_that_are_the_same_scenario_share_a_run() -> None:
    result = fourhop.sweep(SHORT, {"tcp.window": [4], "topology.spacing": ["200m", "0.2km"]}, runs=2)
    assert result.computed == 2
    assert result.runs.height == 4
    assert result.runs["aggregate_goodput_bps"].to_list()[:2] == result.runs["aggregate_goodput_bps"].to_list()[2:]


def test_another_engine_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fourhop.sweep(SHORT, HOPS, out=tmp_path)
    monkeypatch.setattr(runfile, "build", lambda: "0123456789abcdef")
    assert fourhop.sweep(SHORT, HOPS, out=tmp_path).reused == 0
    assert len(kept(tmp_path)) == 6


def test_one_run_is_one_row_group(tmp_path: Path) -> None:
    fourhop.sweep(SHORT, out=tmp_path)
    (path,) = kept(tmp_path)
    found = pq.ParquetFile(path).metadata
    assert (found.num_row_groups, found.num_rows) == (1, 1)
    assert path.stem in found.metadata[b"fourhop"].decode()


def test_tables_are_saved_as_they_are_read_and_the_files_of_runs_are_read_once(
    scanned: list[list[str]], tmp_path: Path
) -> None:
    sweep(SHORT, HOPS, runs=2, out=tmp_path / "runs")
    scanned.clear()
    SweepResult.load(tmp_path / "runs").save(tmp_path / "saved")
    assert [len(paths) for paths in scanned] == [6]
    read = SweepResult.load(tmp_path / "runs")
    for table in TABLES:
        assert pl.read_parquet(tmp_path / "saved" / f"{table}.parquet").equals(getattr(read, table)), table


RECORDED = SHORT.with_(sample_every="500ms")


def series_of(path: Path) -> list[Path]:
    return [path.with_name(f"{path.stem}.{table}.parquet") for table in ("series", "queues")]


def test_time_series_are_files_beside_the_run(fourhop: Command, tmp_path: Path) -> None:
    first = sweep(RECORDED, HOPS, runs=2, out=tmp_path)
    assert len(kept(tmp_path)) == 6
    for path in kept(tmp_path):
        assert all(beside.exists() for beside in series_of(path))
        assert pl.read_parquet(series_of(path)[1]).columns == ["node", "to", "time_s", "queue_packets"]
    # The simulator's own files are removed.
    assert not list(tmp_path.glob(".series*"))
    again = SweepResult.load(tmp_path)
    assert first.series.collect().equals(again.series.collect())
    assert first.series.select("point", "seed").unique().collect().height == 6
    # Fewer points, and no other point's files.
    second = again.scan("series", [1]).collect()
    assert second.equals(first.series.filter(pl.col("point") == 1).collect())
    point = again.point(1)
    assert point.series.equals(second.drop("point", "topology.hops"))
    assert point.queues.height == 2 * 4 * 3
    # A result made of them can be saved like any other.
    assert pl.read_parquet(point.save(tmp_path / "point") / "series.parquet").equals(point.series)
    reused = sweep(RECORDED, HOPS, runs=2, out=tmp_path)
    assert (reused.reused, reused.computed) == (6, 0)

    listed = fourhop("results", tmp_path)
    assert "left alone" not in listed.stderr
    bytes_kept = sum(each.bytes for each in inventory.take(RunStore(tmp_path)))
    assert bytes_kept == sum(path.stat().st_size for path in tmp_path.glob("runs/*/*"))


def test_points_with_and_without_series(tmp_path: Path) -> None:
    result = sweep(SHORT, {"sample_every": ["none", "1s"]}, out=tmp_path)
    assert result.series.select("point", "sample_every", "time_s").collect().rows() == [(1, "1s", 1.0), (1, "1s", 2.0)]
    assert result.point(0).series.is_empty()
    assert result.scan("queues", [0]).collect().is_empty()
    assert sweep(SHORT).series.collect().columns == ["point", "seed", *seriesfile.schema("series")]


def test_fresh_replaces_time_series(tmp_path: Path) -> None:
    sweep(RECORDED, out=tmp_path)
    (path,) = kept(tmp_path)
    before = [beside.stat().st_mtime_ns for beside in series_of(path)]
    sweep(RECORDED, out=tmp_path, fresh=True)
    after = [beside.stat().st_mtime_ns for beside in series_of(path)]
    assert all(old < new for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("damage", ["gone", "cut", "foreign"])
def test_a_run_without_its_time_series_is_named_and_computed_again(tmp_path: Path, damage: str) -> None:
    whole = sweep(RECORDED, out=tmp_path)
    before = whole.series.collect()
    (path,) = kept(tmp_path)
    series = series_of(path)[0]
    if damage == "gone":
        series.unlink()
    elif damage == "cut":
        series.write_bytes(series.read_bytes()[:-10])
    else:
        pl.DataFrame({"x": [1]}).write_parquet(series)
    content = series.read_bytes() if series.exists() else None
    again = sweep(RECORDED, out=tmp_path)
    assert again.computed == 1
    assert "cannot read its time series" in again.store.strange[path]
    assert again.series.collect().equals(before)
    assert (series.read_bytes() if series.exists() else None) == content
    assert sweep(RECORDED, out=tmp_path).reused == 1


def test_a_run_is_there_only_after_its_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(runfile, "write", full)
        with pytest.raises(FourhopError, match="No space left on device"):
            sweep(RECORDED, out=tmp_path)
    left = sorted(tmp_path.glob("runs/*/*"))
    assert [path.name.split(".", 1)[1] for path in left] == ["queues.parquet", "series.parquet"]
    assert not list(tmp_path.glob(".series*"))
    store = RunStore(tmp_path)
    assert inventory.take(store) == []
    assert set(store.strange) == set(left)
    # They are this run's, so they are replaced.
    again = sweep(RECORDED, out=tmp_path)
    assert (again.computed, again.store.strange) == (1, {})
    assert len(list(tmp_path.glob("runs/*/*"))) == 3


def test_what_a_killed_run_leaves_of_its_series_is_named(tmp_path: Path) -> None:
    long = SWEEP.replace("runs = 25", "runs = 1").replace('"10s"', '"100000s"\nsample_every = "10ms"')
    (tmp_path / "long.toml").write_text(long, encoding="utf-8")
    out = tmp_path / "out"
    process = started("sweep", "long.toml", "--out", out, "--jobs", "1", cwd=tmp_path)
    try:
        until = time.monotonic() + HANGS
        while not list(out.glob(".series*/*/*.part")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS)
        assert not list(out.glob(".series*"))
    finally:
        process.kill()
        process.wait()
    killed = out / f"{SWEEP_STAGING}x1y2"
    killed.mkdir()
    store = RunStore(out)
    assert list(store.survey()) == []
    assert "killed" in store.strange[killed]


def test_half_written_and_foreign_files_are_named_and_left_alone(
    fourhop: Command, sweep_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    text = SWEEP.replace("runs = 25", "runs = 2")
    sweep_file.write_text(text, encoding="utf-8")
    assert fourhop("sweep", sweep_file, "--out", out).returncode == 0
    whole = kept(out)
    assert len(whole) == 8
    contents = {
        whole[0]: whole[0].read_bytes()[:-100],  # its end is missing
        whole[1]: b"",
        whole[2]: whole[3].read_bytes(),  # another run
        out / "runs" / "notes.txt": b"my notes",
        out / "runs" / "zz" / "table.parquet": b"PAR1 or so",
    }
    (out / "runs" / "zz").mkdir()
    for path, content in contents.items():
        path.write_bytes(content)
    strange = out / "runs" / "ab.parquet"
    pl.DataFrame({"x": [1]}).write_parquet(strange)
    contents[strange] = strange.read_bytes()

    again = fourhop("sweep", sweep_file, "--out", out)
    assert again.returncode == 0, again.stderr
    assert counted(again.stderr) == (3, 5)
    for path in whole[:3]:
        assert f"left alone: {path}" in again.stderr
    third = fourhop("sweep", sweep_file, "--out", out)
    assert counted(third.stderr) == (0, 8)
    assert third.stdout == again.stdout
    listed = fourhop("results", out)
    assert listed.returncode == 0, listed.stderr
    for path, content in contents.items():
        assert path.read_bytes() == content
        assert f"left alone: {path}: " in listed.stderr
    assert "8 runs kept" in listed.stdout

    undisturbed = fourhop("sweep", sweep_file, "--out", tmp_path / "undisturbed")
    assert undisturbed.stdout == again.stdout


def test_a_bit_that_has_flipped_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    sweep(RECORDED, out=tmp_path)
    (path,) = kept(tmp_path)
    for file in (path, *series_of(path)):
        content = file.read_bytes()
        with file.open("r+b") as opened:
            assert sealed.is_whole(opened)
            for at, byte in enumerate(content):
                opened.seek(at)
                # Bit 0 of the first byte, 3 of the second, ...: every bit position gets its turn over the file.
                opened.write(bytes([byte ^ (1 << (3 * at % 8))]))
                assert not sealed.is_whole(opened), at
                opened.seek(at)
                opened.write(bytes([byte]))
        assert file.read_bytes() == content


def test_a_run_that_another_process_replaces_while_it_is_looked_at_is_whole(tmp_path: Path) -> None:
    # Two processes that compute the same run write files that differ in the time it took.
    contents = []
    for number in range(2):
        sweep(SHORT, runs=1, out=tmp_path / str(number))
        (path,) = kept(tmp_path / str(number))
        contents.append(path.read_bytes())
    assert contents[0] != contents[1]
    done = threading.Event()

    def replace() -> None:
        for content in itertools.cycle(contents):
            if done.is_set():
                return
            store.replace(path, functools.partial(Path.write_bytes, data=content))

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert {runfile.check(path) for _ in range(500)} == {None}
    finally:
        done.set()
        writer.join()


def test_a_damaged_run_is_named_and_computed_again(fourhop: Command, sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(SWEEP.replace("runs = 25", "runs = 1"), encoding="utf-8")
    first = fourhop("sweep", sweep_file, "--out", tmp_path / "out")
    path = kept(tmp_path / "out")[1]
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)
    loaded = fourhop("results", tmp_path / "out")
    assert "1 of its runs are missing or damaged" in loaded.stderr
    assert f"left alone: {path}: damaged" in loaded.stderr
    again = fourhop("sweep", sweep_file, "--out", tmp_path / "out")
    assert counted(again.stderr) == (1, 3)
    assert f"left alone: {path}: damaged" in again.stderr
    assert again.stdout == first.stdout
    assert path.read_bytes() == bytes(content)


def test_what_a_killed_writer_leaves_is_named(tmp_path: Path) -> None:
    fourhop.sweep(SHORT, out=tmp_path)
    (path,) = kept(tmp_path)
    temporary = path.with_name(f".{path.name}.x1y2")
    temporary.write_bytes(b"PAR1")
    store = RunStore(tmp_path)
    assert list(store.survey()) == [path]
    assert "killed" in store.strange[temporary]


def test_an_unwritable_folder_is_refused_before_the_first_run(
    fourhop: Command, sweep_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    result = fourhop("sweep", sweep_file, "--out", tmp_path / "file")
    assert result.returncode == 2
    assert "found a file, allowed: a folder" in result.stderr
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_seeds_with_which_a_scenario_cannot_run_are_named_and_the_others_kept(tmp_path: Path) -> None:
    lucky = [seed for seed in range(40) if connected(seed)]
    assert 0 < len(lucky) < 40
    with pytest.raises(IncompleteError, match=f"{40 - len(lucky)} runs failed; {len(lucky)} finished") as raised:
        fourhop.sweep(thin_network(lucky[0]), seed=0, runs=40, out=tmp_path)
    unlucky = next(seed for seed in range(40) if seed not in lucky)
    assert re.search(rf"point 0 \(\S+\) with seed {unlucky}: .*redraws", str(raised.value))
    assert len(kept(tmp_path)) == len(lucky)
    assert not (tmp_path / manifest.MANIFEST).exists()


def test_a_scenario_that_can_run_with_no_seed_is_given_up(tmp_path: Path) -> None:
    far, seed = hopeless_network()
    with pytest.raises(fourhop.ScenarioError, match="redraws") as raised:
        fourhop.sweep(far, seed=seed, runs=500, out=tmp_path, jobs=1)
    assert raised.value.__notes__ == [f"point 0 ({far.name}) with seed {seed}; no run finished"]


def test_a_point_that_can_run_with_no_seed_does_not_stop_the_others(tmp_path: Path) -> None:
    # The far point takes longer, so its runs come first.
    far, seed = hopeless_network()
    with pytest.raises(IncompleteError, match="20 runs failed; 30 finished") as raised:
        fourhop.sweep(variants={"far": far, "near": SHORT}, runs=30, seed=seed, out=tmp_path, jobs=1)
    assert f"point 0 (variant=far) with seed {seed}: " in str(raised.value)


def hopeless_network() -> tuple[Scenario, int]:
    """A scenario connected with its own seed, and the first of 20 seeds with which it is not."""
    lucky = [seed for seed in range(2000) if connected(seed, "900m")]
    gap = next(one for one, following in itertools.pairwise(lucky) if following - one > 20)
    return thin_network(lucky[0], "900m").with_(duration="20s"), gap + 1


def thin_network(seed: int, side: str = "500m") -> Scenario:
    """Connected with some seeds and not with others, as only one network is drawn per seed."""
    topology = {"redraws": 1}
    return Scenario.random(nodes=4, width=side, height=side, duration="2s", topology=topology, seed=seed)


def connected(seed: int, side: str = "500m") -> bool:
    try:
        thin_network(seed, side)
    except fourhop.ScenarioError:
        return False
    return True


def test_results_of_a_folder_without_any(fourhop: Command, tmp_path: Path) -> None:
    result = fourhop("results", tmp_path)
    assert result.returncode == 2
    assert "found no sweep; name a folder" in result.stderr
    assert not list(tmp_path.iterdir())


def test_progress_counts_up_to_the_end() -> None:
    reports: list[fourhop.SweepProgress] = []
    fourhop.sweep(SHORT, HOPS, runs=4, progress=reports.append)
    assert (reports[-1].done, reports[-1].wanted, reports[-1].points_done) == (12, 12, 3)
    assert reports[-1].fraction == 1.0
    assert reports[-1].remaining_s == 0.0
