"""Adaptive pacing in the kernel: `fourhop-cc`, and the TCP of emulated nodes that uses it.

Every test loads it separately and leaves nothing behind: no congestion control, program, table, pin or changed
variable. Its sockets are those of its own nodes, whose routes choose their congestion control.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, Emulated, Starter, needs

PROGRAM = ROOT / "target" / "release" / "fourhop-cc"
STATE = Path("/run/fourhop-cc.json")
VARIABLES = ("tcp_tso_rtt_log", "tcp_pacing_ca_ratio")
# No delays from broken routes, and the queue is an interface's.
CHAIN = ("--without-flows", "--set", "routing.protocol=static")


def cc(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program; the caller checks the exit code."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LONGEST, check=False)


def sound(*words: str | Path) -> Any:
    """JSON output of the program."""
    done = cc(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names() -> list[str]:
    """Our congestion controls that are available to sockets."""
    text = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii")
    return [name for name in text.split() if name.startswith("fh_")]


def variables(net: Emulated | None = None) -> list[str]:
    """The variables that are set while it is loaded, in this machine's namespace or in the first node's."""
    files = [f"/proc/sys/net/ipv4/{name}" for name in VARIABLES]
    if net is None:
        return [Path(file).read_text(encoding="ascii").strip() for file in files]
    return net.run("n0", "cat", *files).stdout.split()


@dataclass
class Loader:
    """Loads the program and makes sure that it ends."""

    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def config(self, *nodes: str, keys: str = "") -> Path:
        """Write parameters for emulated nodes, with devices set for `nodes`."""
        system = [f'[[system]]\nnamespace = "{node}"\ndevices = ["mesh0"]\n' for node in nodes]
        text = "".join(system or ["[[system]]\n"]) + f'[[destination]]\nto = "10.0.0.0/8"\nrate = "2Mbps"\n{keys}\n'
        (self.folder / "cc.toml").write_text(text, encoding="utf-8")
        return self.folder / "cc.toml"

    def __call__(self, *words: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen([PROGRAM, "load", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        if not line.startswith("loaded fh_tcp_ap, fh_rbp"):
            process.terminate()
            pytest.fail(line + process.communicate(timeout=LONGEST)[1])
        return process


def objects() -> set[str]:
    """Our programs and tables in the kernel; connections of others may keep some until they end."""
    return {f"{found['kind']} {found['id']} {found['name']}" for found in sound("status", "--objects")}


def nothing_is_left(before: set[str]) -> None:
    deadline = time.monotonic() + LONGEST
    # The kernel frees programs and tables shortly after their last user is gone.
    while (left := objects() - before) or names():
        assert time.monotonic() < deadline, (left, names())
        time.sleep(0.1)
    assert not STATE.exists()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Loader]:
    """Load with `load(*options)`: it is unloaded after the test and must leave nothing behind."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-cc: `make bpf` builds it, and says what it needs")
    if not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("this kernel lacks type information")
    if "fh_tcp_ap" in names():
        pytest.skip("it is loaded on this machine already")
    there, before = objects(), variables()
    loader = Loader(tmp_path)
    yield loader
    cc("unload")
    for process in loader.processes:
        process.kill()
        process.communicate()
    cc("unload")
    nothing_is_left(there)
    assert variables() == before


def route(net: Emulated, node: str, to: str, *words: str) -> Any:
    """Change the route from a node to another; returns the route."""
    return sound("route", "--netns", f"{net.id}-{node}", address(net, to), *words)


def address(net: Emulated, node: str) -> str:
    return net.run("n0", "getent", "hosts", node).stdout.split()[0]


def transfer(net: Emulated, sender: str, receiver: str, *options: str) -> subprocess.Popen[str]:
    """Start iperf3 and wait until it sends; acknowledgements are not delayed."""
    route(net, receiver, sender, "--set", "reno", "--initial-window", "0", "--quick-ack")
    net.serve(receiver, "iperf3", "-s", "-1", port=5201)
    started = net.start(sender, "iperf3", "-J", "-c", receiver, *options)
    deadline = time.monotonic() + LONGEST
    while not [row for row in connections() if row["acked_bytes"] > 5_000]:
        assert started.poll() is None, started.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return started


def connections() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = sound("status")
    return [row for row in rows if row["state"] == "established"]


def busiest() -> dict[str, Any]:
    """The connection with the most data, once it has more than iperf3's own, which may begin earlier."""
    deadline = time.monotonic() + LONGEST
    while True:
        row = max(connections(), key=lambda row: row["acked_bytes"], default={"acked_bytes": 0})
        if row["acked_bytes"] > 5_000:
            return row
        assert time.monotonic() < deadline, row
        time.sleep(0.1)


def measured(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, out[-500:]
    result: dict[str, Any] = json.loads(out)["end"]
    return result


def sent(net: Emulated, sending: subprocess.Popen[str], capture: Path) -> list[tuple[float, int]]:
    """Packets of a transfer with at least a full segment: seconds since the previous one, and payload in bytes."""
    listening = net.programs[0]
    sending.wait(timeout=LONGEST)
    listening.send_signal(signal.SIGINT)
    listening.wait(timeout=LONGEST)
    command = ["tcpdump", "-ttt", "-nn", "-r", str(capture), "greater 1000"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    packets = [line.split() for line in text.splitlines()]
    return [(float(words[0].rpartition(":")[2]), int(words[-1])) for words in packets]


def gaps(net: Emulated, sending: subprocess.Popen[str], capture: Path) -> list[float]:
    """Times between the full segments of a transfer, in seconds, without the first forty."""
    return [apart for apart, _ in sent(net, sending, capture)[40:]]


def listen(net: Emulated, capture: Path) -> None:
    net.start("n0", "tcpdump", "-i", "mesh0", "-U", "-s", "80", "-w", str(capture), "tcp dst port 5201")


def test_segments_leave_at_the_interval_of_the_kernel(emulate: Starter, load: Loader, tmp_path: Path) -> None:
    needs("iperf3", "tcpdump")
    net = emulate(*CHAIN, hops=1)
    # No delay is short enough to be a sample, so the first interval remains.
    load("--config", load.config(f"{net.id}-n0", keys='first_interval = "20ms"\ndelay_limit = "1ns"'))
    route(net, "n0", "n1", "--set", "fh_tcp_ap")
    listen(net, tmp_path / "sent")
    sending = transfer(net, "n0", "n1", "-t", "5")
    assert busiest()["interval_s"] == 0.02
    apart = gaps(net, sending, tmp_path / "sent")
    measured(sending)
    assert statistics.median(apart) == pytest.approx(0.02, rel=0.02)


def test_tcp_ap_sends_nothing_twice_and_nothing_in_bursts(emulate: Starter, load: Loader, tmp_path: Path) -> None:
    needs("iperf3", "tcpdump")
    net = emulate(*CHAIN, hops=4)
    load("--config", load.config(f"{net.id}-n0"))
    assert variables(net) == ["0", "200"]
    assert route(net, "n0", "n4", "--set", "fh_tcp_ap")["congestion_control"] == "fh_tcp_ap"
    listen(net, tmp_path / "sent")
    sending = transfer(net, "n0", "n4", "-t", "10")
    apart = gaps(net, sending, tmp_path / "sent")
    end = measured(sending)
    assert end["sum_sent"]["retransmits"] <= 2
    # Four hops at 2 Mbit/s carry a fifth to a quarter of one hop's 1.3 Mbit/s.
    assert 150e3 < end["sum_received"]["bits_per_second"] < 350e3
    assert statistics.quantiles(apart, n=10)[0] > 0.3 * statistics.median(apart)


def test_hops_and_delays_are_known_without_configuration(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=3)
    load("--config", load.config(f"{net.id}-n0"))
    route(net, "n0", "n3", "--set", "fh_tcp_ap")
    sending = transfer(net, "n0", "n3", "-t", "4")
    time.sleep(2)
    row = busiest()
    watch: list[str] = [str(PROGRAM), "status", "--json", "--watch", "--every", "20ms"]
    with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as watching:
        time.sleep(1)
        watching.terminate()
        looks = [json.loads(line) for line in watching.communicate(timeout=LONGEST)[0].splitlines()]
    assert watching.returncode == 0
    measured(sending)
    samples = [sum(found["samples"] for found in look) for look in looks]
    assert samples[-1] > samples[0]
    assert (row["namespace"], row["algorithm"], row["hops"]) == (f"{net.id}-n0", "fh_tcp_ap", 3)
    assert row["remote"] == f"{address(net, 'n3')}:5201"
    assert row["wired_rtt_s"] == 0
    # Three hops of 1,500 bytes at 2 Mbit/s take at least 18 ms; the interval is the stretched delay.
    assert row["delay_s"] > 0.018
    assert row["interval_s"] == pytest.approx(row["delay_s"] * (1 + 2 * row["variation"]), rel=1e-3)
    assert row["rate_bps"] == pytest.approx(8 * row["mss"] / row["interval_s"], rel=1e-3)


def test_ap2_sends_bursts_for_which_its_window_has_room(emulate: Starter, load: Loader, tmp_path: Path) -> None:
    needs("iperf3", "tcpdump")
    net = emulate(*CHAIN, file=ROOT / "scenarios" / "80211n.toml")
    config = load.config()
    config.write_text(config.read_text(encoding="utf-8").replace("2Mbps", "65Mbps"), encoding="utf-8")
    load("--config", config)
    assert route(net, "n0", "n4", "--set")["congestion_control"] == "fh_ap2", "it is the default"
    listen(net, tmp_path / "sent")
    sending = transfer(net, "n0", "n4", "-t", f"{LONGEST:.0f}")
    watch: list[str] = [str(PROGRAM), "status", "--json", "--watch", "--every", "20ms"]
    rows: list[dict[str, Any]] = []
    with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        for line in watching.stdout:
            assert sending.poll() is None, sending.communicate()[0]
            rows += [row for row in json.loads(line) if row["acked_bytes"] > 100_000 and row["state"] == "established"]
            if len(rows) >= 100 and max(row["burst"] for row in rows) >= 6:
                break
        watching.terminate()
    sending.send_signal(signal.SIGINT)
    packets = sent(net, sending, tmp_path / "sent")
    assert {(row["algorithm"], row["hops"]) for row in rows} == {("fh_ap2", 4)}
    # Window and burst are rounded from fractions. A reading can fall between two of the kernel's writes.
    fits = [row for row in rows if row["burst"] == 1 or abs(row["burst"] - 0.3 * row["cwnd"]) < 0.66]
    kept = [row for row in rows if abs(row["rate_bps"] * row["interval_s"] / (8 * row["mss"]) - 1) < 1e-3]
    assert min(len(fits), len(kept)) > 0.9 * len(rows)
    # A burst leaves at once, as one packet if the device segments it; the next one leaves only after the interval of
    # all its segments.
    bursts: list[tuple[float, int]] = []
    for apart, length in packets:
        if bursts and apart < 0.0005:
            bursts[-1] = (bursts[-1][0], bursts[-1][1] + length)
        else:
            bursts.append((apart, length))
    assert statistics.median(length for _, length in bursts) > 4 * rows[-1]["mss"]
    assert statistics.median(apart for apart, _ in bursts) > 0.001


def test_ap2_sends_no_bursts_on_802_11b(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=4)
    load("--config", load.config(f"{net.id}-n0"))
    route(net, "n0", "n4", "--set", "fh_ap2")
    sending = transfer(net, "n0", "n4", "-t", "10")
    time.sleep(5)
    row = busiest()
    end = measured(sending)
    # Nine tenths of a segment beyond the pipe; after late acknowledgements one more, and pairs.
    assert (row["algorithm"], row["hops"]) == ("fh_ap2", 4)
    assert row["burst"] <= 2
    assert row["cwnd"] <= 4
    assert end["sum_sent"]["retransmits"] <= 2
    assert 150e3 < end["sum_received"]["bits_per_second"] < 350e3


@pytest.mark.parametrize("name", ["fh_rbp", "fh_ap_cubic"])
def test_the_others_pace_too(emulate: Starter, load: Loader, name: str) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=2)
    load("--config", load.config(f"{net.id}-n0"))
    route(net, "n0", "n2", "--set", name)
    sending = transfer(net, "n0", "n2", "-t", "3")
    time.sleep(1)
    row = busiest()
    assert measured(sending)["sender_tcp_congestion"] == name
    assert row["algorithm"] == name
    assert row["interval_s"] > 0
    if name == "fh_rbp":
        assert row["interval_s"] == pytest.approx(row["srtt_s"] / (row["cwnd"] + 1), rel=1e-3)


def test_two_namespaces_do_not_disturb_each_other(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    nets = [emulate(*CHAIN, hops=hops) for hops in (2, 4)]
    load("--config", load.config(*(f"{net.id}-n0" for net in nets)))
    for net, last in zip(nets, ("n2", "n4"), strict=True):
        route(net, "n0", last, "--set", "fh_tcp_ap")
    sending = [transfer(net, "n0", last, "-t", "5") for net, last in zip(nets, ("n2", "n4"), strict=True)]
    time.sleep(2)
    hops = {row["namespace"]: row["hops"] for row in connections()}
    assert hops == {f"{nets[0].id}-n0": 2, f"{nets[1].id}-n0": 4}
    for process in sending:
        assert measured(process)["sum_received"]["bits_per_second"] > 50e3


def test_settings_that_another_program_changes_are_named(emulate: Starter, load: Loader) -> None:
    net = emulate(*CHAIN, hops=1)
    load("--config", load.config(f"{net.id}-n0"))
    assert cc("status").stderr == ""
    assert net.run("n0", "sysctl", "-qw", "net.ipv4.tcp_pacing_ca_ratio=120").returncode == 0
    changed = f"net.ipv4.tcp_pacing_ca_ratio from 120 to 200 in {net.id}-n0, found 120"
    assert cc("status").stderr == f"warning: another program has changed a setting: {changed}\n"


def test_unloading_waits_for_the_process_that_holds_the_programs(load: Loader) -> None:
    process = load()
    process.send_signal(signal.SIGSTOP)
    done = cc("unload")
    assert done.returncode == 2
    assert f"cannot end process {process.pid}, which holds the programs" in done.stderr
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=LONGEST) == 0


def test_a_record_that_somebody_has_removed_is_not_missed(load: Loader) -> None:
    process = load()
    STATE.unlink()
    process.terminate()
    assert process.wait(timeout=LONGEST) == 0


def test_connections_go_on_when_the_program_is_killed(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=2)
    before = variables(net)
    process = load("--config", load.config(f"{net.id}-n0"))
    route(net, "n0", "n2", "--set", "fh_tcp_ap")
    sending = transfer(net, "n0", "n2", "-t", "5")
    process.kill()
    process.wait()
    time.sleep(0.5)
    assert names() == []
    assert busiest()["algorithm"] == "fh_tcp_ap", "it keeps what it has"
    assert measured(sending)["sum_received"]["bits_per_second"] > 100e3
    assert variables(net) == ["0", "200"], "nobody was there to restore them"
    again = load("--config", load.config(f"{net.id}-n0"))
    again.terminate()
    said = again.communicate(timeout=LONGEST)[1]
    assert f"restored the settings of process {process.pid}" in said
    assert variables(net) == before


def test_pinned_it_outlives_its_program_and_is_unloaded_under_a_connection(emulate: Starter, load: Loader) -> None:
    needs("iperf3", "mount", "umount")
    net = emulate(*CHAIN, hops=2)
    before = variables(net)
    with tempfile.TemporaryDirectory() as folder:
        refused = cc("load", "--pin", f"{folder}/cc")
        assert refused.returncode == 2
        assert "is not a BPF file system: mount it" in refused.stderr
        assert names() == []
        subprocess.run(["mount", "-t", "bpf", "bpf", folder], check=True)
        try:
            (Path(folder) / "others").mkdir()
            assert f"{folder}/others already exists" in cc("load", "--pin", f"{folder}/others").stderr
            assert (Path(folder) / "others").is_dir()
            process = load("--config", load.config(f"{net.id}-n0"), "--pin", f"{folder}/cc")
            assert process.wait(timeout=LONGEST) == 0
            for words in ((), ("--pin", f"{folder}/cc")):
                assert f"already pinned in {folder}/cc" in cc("load", *words).stderr
            route(net, "n0", "n2", "--set", "fh_tcp_ap")
            sending = transfer(net, "n0", "n2", "-t", "4")
            assert cc("unload").returncode == 0
            assert names() == []
            assert variables(net) == before
            assert measured(sending)["sum_received"]["bits_per_second"] > 100e3
            assert not Path(folder, "cc").exists()
        finally:
            subprocess.run(["umount", folder], check=True)
    assert "nothing is loaded by fourhop-cc" in cc("unload").stderr


def test_pinning_in_the_usual_place_mounts_what_nobody_has_mounted(emulate: Starter, load: Loader) -> None:
    """In separate mounts: the machine's stay as they are, and pins disappear with the mounts."""
    needs("unshare", "umount")
    if not (usual := Path("/sys/fs/bpf")).is_dir():
        pytest.skip(f"this kernel lacks {usual}")
    net = emulate(*CHAIN, hops=1)
    script = (
        f"for again in 1 2 3 4; do umount -l {usual} 2>/dev/null; done; "
        f'! grep -q " {usual} bpf " /proc/self/mounts || exit 9; '
        f'"$0" load --config "$1" --pin {usual}/fourhop-test && '
        f'grep " {usual} bpf " /proc/self/mounts && "$0" unload && '
        f'"$0" load --config "$1" --pin {usual}/fourhop-test && '
        f'grep -c " {usual} bpf " /proc/self/mounts && "$0" unload'
    )
    words = ["unshare", "--mount", "sh", "-c", script, str(PROGRAM), str(load.config(f"{net.id}-n0"))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"bpf {usual} bpf rw,nosuid,nodev,noexec,relatime,mode=700 0 0\n" in done.stdout
    # The second load mounts nothing: pins in the first mount would be hidden.
    assert f"pinned in {usual}/fourhop-test\n1\nunloaded" in done.stdout


def test_an_application_that_wants_less_gets_less(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=1)
    load("--config", load.config(f"{net.id}-n0"))
    route(net, "n0", "n1", "--set", "fh_tcp_ap")
    sending = transfer(net, "n0", "n1", "-t", "4", "--fq-rate", "200K")
    time.sleep(2)
    row = busiest()
    assert row["application_rate_bps"] == row["rate_bps"] == 200_000
    assert row["interval_s"] < 8 * row["mss"] / 200e3
    assert measured(sending)["sum_received"]["bits_per_second"] < 230e3


def test_the_wired_part_of_round_trips_comes_from_the_gateway(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate("--without-flows", "--set", "gateway.kind=gap", file=ROOT / "scenarios" / "gateway-chain.toml")
    # Two routers and a host are behind the gateway.
    load("--config", load.config(f"{net.id}-n0", keys="wired_hops = 3"))
    hosts = net.run("n0", "cat", "/etc/hosts").stdout
    far = next(line.split()[1] for line in reversed(hosts.splitlines()) if line.startswith("10.128."))
    route(net, "n0", far, "--set", "fh_tcp_ap")
    sending = transfer(net, "n0", far, "-t", "5")
    time.sleep(3)
    row = busiest()
    measured(sending)
    # Three wires of 40 ms, there and back.
    assert row["wired_rtt_s"] == pytest.approx(0.24, rel=0.1)
    assert row["hops"] == 4
    assert row["rtt_s"] + row["wired_rtt_s"] == pytest.approx(row["srtt_s"], rel=0.3)


def test_ipv6_is_paced_too(emulate: Starter, load: Loader) -> None:
    needs("iperf3", "ip")
    net = emulate("--tap", *CHAIN, hops=1)
    for node, own in (("n0", "fd00::1"), ("n1", "fd00::2")):
        assert net.run(node, "ip", "address", "add", f"{own}/64", "dev", "mesh0", "nodad").returncode == 0
    load("--config", load.config(f"{net.id}-n0", keys='[[destination]]\nto = "fd00::/64"\nrate = "2Mbps"'))
    changed = sound("route", "--netns", f"{net.id}-n0", "fd00::2", "--set", "fh_tcp_ap")
    assert (changed["to"], changed["congestion_control"]) == ("fd00::/64", "fh_tcp_ap")
    net.serve("n1", "iperf3", "-s", "-1", port=5201)
    sending = net.start("n0", "iperf3", "-J", "-c", "fd00::2", "-t", "4")
    time.sleep(3)
    row = busiest()
    measured(sending)
    assert (row["remote"], row["hops"]) == ("[fd00::2]:5201", 1)
    assert row["interval_s"] > 0


def test_routes_are_changed_and_changed_back(emulate: Starter, load: Loader) -> None:
    net = emulate(*CHAIN, hops=1)
    refused = cc("route", "--netns", f"{net.id}-n0", address(net, "n1"), "--set", "fh_tcp_ap")
    assert refused.returncode == 2
    assert "no congestion control fh_tcp_ap: load it first" in refused.stderr
    load("--config", load.config(f"{net.id}-n0"))
    before = route(net, "n0", "n1")
    assert (before["congestion_control"], before["initial_window"], before["quick_ack"]) == (None, None, False)
    after = route(net, "n0", "n1", "--set", "fh_rbp", "--initial-window", "4", "--quick-ack")
    changed = {"congestion_control": "fh_rbp", "initial_window": 4, "quick_ack": True}
    assert after == before | changed
    assert route(net, "n0", "n1") == after
    listed = net.run("n0", "ip", "route", "show", before["to"]).stdout
    assert "congctl fh_rbp" in listed
    assert "initcwnd 4" in listed
    assert route(net, "n0", "n1", "--reset") == before


def test_prometheus_metrics(emulate: Starter, load: Loader) -> None:
    needs("iperf3")
    net = emulate(*CHAIN, hops=1)
    load("--config", load.config(f"{net.id}-n0"), "--metrics", "127.0.0.1:9467")
    route(net, "n0", "n1", "--set", "fh_tcp_ap")
    sending = transfer(net, "n0", "n1", "-t", "4")
    time.sleep(2)
    with urllib.request.urlopen("http://127.0.0.1:9467/metrics", timeout=5) as page:
        text = page.read().decode()
    measured(sending)
    assert f'fourhop_cc_hops{{netns="{net.id}-n0",local="' in text
    assert 'algorithm="fh_tcp_ap"} 1\n' in text


def test_status_sees_network_namespaces_without_a_name(load: Loader) -> None:
    needs("iperf3", "unshare")
    load()
    commands = "ip link set lo up; iperf3 -s -1 & sleep 0.5; iperf3 -c 127.0.0.1 -C fh_rbp -t 4; wait"
    with subprocess.Popen(["unshare", "--net", "sh", "-c", commands], stdout=subprocess.DEVNULL) as sending:
        deadline = time.monotonic() + LONGEST
        while not (rows := connections()):
            assert sending.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        inode = Path(f"/proc/{sending.pid}/ns/net").stat().st_ino
        assert {(row["netns"], row["namespace"], row["algorithm"]) for row in rows} == {(inode, None, "fh_rbp")}


def test_without_rights_the_reason_is_said(load: Loader) -> None:
    needs("setpriv")
    assert load.processes == []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        own = shutil.copy(PROGRAM, folder)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", own]
        done = subprocess.run([*nobody, "load"], capture_output=True, text=True, timeout=LONGEST, cwd="/", check=False)
    assert done.returncode == 2
    assert "needs root, or CAP_BPF" in done.stderr


def test_errors_of_a_file_are_named(load: Loader) -> None:
    assert load.processes == []
    for keys, said in (
        ("hops = 0", "a whole number from 1 to 255"),
        ("pace = true", "pace: found an unknown key"),
        ('alpha = "120%"', 'found "120%", allowed: a share from "0%" to "99.9%"'),
    ):
        file = load.config(keys=keys)
        done = cc("load", "--config", file)
        assert done.returncode == 2
        assert f"{file}:" in done.stderr
        assert said in done.stderr
    done = cc("load", "--config", load.config("nowhere"))
    assert done.returncode == 2
    assert "cannot enter the network namespace nowhere" in done.stderr
