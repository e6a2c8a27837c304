"""`fourhop-gateway` between two ends: what it paces, lets pass, and leaves behind.

Every test has its own three namespaces, a host, the router with the gateway, and a node of the mesh, and sends to
nobody else.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.linux.border import (
    GAP,
    HOST,
    LAG,
    NODE,
    NODE6,
    PROGRAM,
    SAMPLED,
    SINK,
    STEADY,
    Border,
    border,
    end,
    program,
    shortest,
)
from tests.linux.conftest import LONGEST, UNREAD, needs

__all__ = ["border"]


def test_a_download_is_paced_and_the_rules_go_with_the_program(border: Border) -> None:
    plain = border.transfer(3_000_000)
    process = border.gateway()
    assert "7100" in border.rules()
    assert "FOURHOP" in border.rules() or "fourhop_gateway" in border.rules()
    paced = border.transfer(3_000_000)
    assert paced > shortest(3_000_000) > plain
    state = border.status()
    (node,) = [node for node in state["nodes"] if node["address"] == NODE]
    assert (node["hops"], node["rate_bps"]) == (3, 6_000_000)
    assert node["into_bytes"] >= 3_000_000
    assert state["totals"]["waited"] > 1000
    assert state["totals"]["early"] == 0
    assert state["totals"]["windows_reduced"] > 100, "windows keep the queue short"
    said = end(process)
    assert "ended: " in said
    assert border.rules() == ""
    assert border.transfer(1_000_000) < shortest(1_000_000)


@pytest.mark.parametrize("to", [NODE, NODE6])
def test_the_least_file_paces_by_ap2(border: Border, to: str) -> None:
    """Another test measures how long that takes (test_gateway_mesh.py), because the links here take no time."""
    process = border.gateway(pace="")
    border.transfer(3_000_000, to=to)
    state = border.status()
    assert state["mode"] == "ap2"
    (node,) = [node for node in state["nodes"] if node["address"] == to]
    assert (node["hops"], node["rate_bps"]) == (3, 6_000_000)
    assert node["into_bytes"] >= 3_000_000
    assert state["totals"]["waited"] > 1000, state["totals"]
    end(process)
    assert border.rules() == ""


def test_ipv6_is_paced_too(border: Border) -> None:
    border.gateway()
    assert border.transfer(1_000_000, to=NODE6) > shortest(1_000_000)
    state = border.status()
    (node,) = [node for node in state["nodes"] if node["address"] == NODE6]
    assert node["hops"] == 3
    assert state["totals"]["waited"] > 300


def test_an_upload_passes_and_learns_the_wired_round_trip(border: Border) -> None:
    border.gateway()
    took = border.transfer(5_000_000, to=HOST, source="node", sink="host")
    assert took < shortest(5_000_000), "nothing waits on its way out"
    state = border.status()
    assert state["totals"]["options"] > 50
    (node,) = [node for node in state["nodes"] if node["address"] == NODE]
    assert node["out_bytes"] >= 5_000_000


def test_hops_are_found_by_the_time_to_live(border: Border) -> None:
    border.gateway(mesh='hops = "ttl"')
    border.transfer(500_000)
    assert {node["address"]: node["hops"] for node in border.status()["nodes"]}[NODE] == 1
    border.run("node", "sysctl", "-qw", "net.ipv4.ip_default_ttl=61")
    border.transfer(500_000)
    assert {node["address"]: node["hops"] for node in border.status()["nodes"]}[NODE] == 4


def test_unknown_nodes_are_not_paced_but_counted_and_a_program_may_know_them(border: Border) -> None:
    known = border.folder / "hops"
    known.write_text("", encoding="utf-8")
    border.gateway(mesh=f'hops = "command"\ncommand = ["cat", "{known}"]\nevery = "1s"')
    border.transfer(2_000_000)
    totals = border.status()["totals"]
    assert (totals["unknown"] > 1000, totals["waited"]) == (True, 0)
    known.write_text(f"{NODE} 2\n", encoding="utf-8")

    def is_known(state: dict[str, Any]) -> bool:
        return any(node["address"] == NODE and node["hops"] == 2 for node in state["nodes"])

    border.wait(is_known, "two hops")
    assert border.transfer(1_000_000) > shortest(1_000_000, hops=2)
    known.write_text("nonsense\n", encoding="utf-8")
    state = border.wait(lambda state: state["hops_error"] is not None, "a bad line")
    assert 'found "nonsense", allowed: lines such as' in state["hops_error"]
    assert {node["address"]: node["hops"] for node in state["nodes"]}[NODE] == 2, "what was known holds"


def test_it_only_looks_if_it_is_asked_to(border: Border) -> None:
    border.gateway("--dry-run")
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 3_000_000, stay=4)
        time.sleep(1)
        state = border.status()
        assert transfer.result() < shortest(3_000_000)
    assert state["dry_run"]
    assert (state["totals"]["waited"], state["totals"]["windows_reduced"], state["totals"]["options"]) == (0, 0, 0)
    flow = max(state["flows"], key=lambda flow: int(flow["into_bytes"]))
    assert flow["interval_s"] > 0, "it says what it would do"


def test_it_reads_its_file_again_and_keeps_its_settings_if_that_is_bad(border: Border) -> None:
    process = border.gateway()
    assert process.stderr is not None
    border.file(pace='sojurn = "1s"')
    process.send_signal(signal.SIGHUP)
    line = process.stderr.readline()
    assert line.startswith("not reloaded: ")
    said = [line]
    while "an unknown key" not in said[-1]:
        said.append(process.stderr.readline())
    assert border.transfer(1_000_000) > shortest(1_000_000)
    border.file(pace=f"{GAP}\npacing = false")
    process.send_signal(signal.SIGHUP)
    while not (line := process.stderr.readline()).startswith("reloaded: "):
        assert process.poll() is None
    time.sleep(0.3)
    assert border.transfer(1_000_000) < shortest(1_000_000)


def test_a_file_that_root_alone_may_read_is_read_again(border: Border) -> None:
    file = border.file()
    file.chmod(0o600)
    process = border.start("gate", PROGRAM, "run", "--config", file)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started: ")
    border.file(pace=f"{GAP}\npacing = false")
    process.send_signal(signal.SIGHUP)
    assert process.stderr.readline().startswith("reloaded: ")
    border.wait(lambda state: state["state"] == "idle", "its state")
    (border.folder / "new").write_bytes(file.read_bytes())
    (border.folder / "new").chmod(0o600)
    (border.folder / "new").rename(file)
    process.send_signal(signal.SIGHUP)
    line = process.stderr.readline()
    assert line == (
        f"not reloaded: {file}: found a new file that user nobody may not read; allow it (chmod o+r), or restart the "
        "gateway\n"
    )
    end(process)


def test_windows_of_megabytes_do_not_fill_its_queue(border: Border) -> None:
    for where in ("host", "node"):
        for variable in ("tcp_rmem", "tcp_wmem"):
            done = border.run(where, "sysctl", "-qw", f"net.ipv4.{variable}=4096 4194304 4194304")
            assert done.returncode == 0, done.stderr
    # NewReno's slow start ends with a loss, and nothing is lost here: the whole window waits in the gateway.
    assert border.run("host", "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno").returncode == 0

    def round_trips() -> list[float]:
        """Round trips of a transfer as its sender sees them, in seconds."""
        server = border.start("node", sys.executable, "-c", SINK, NODE, "7000", "1")
        assert server.stdout is not None
        server.stdout.readline()
        said = border.run("host", sys.executable, "-c", SAMPLED, NODE, "7000", "1500000")
        assert said.returncode == 0, said.stderr
        assert server.communicate(timeout=LONGEST)[0].split()[0] == "1500000"
        return sorted(float(word) for word in said.stdout.split())

    process = border.gateway(pace=f'{GAP}\nsojourn = "none"')
    unbounded = round_trips()
    end(process)
    border.gateway()
    bounded = round_trips()
    assert unbounded[len(unbounded) // 2] > 1
    # The target is 50 ms above the interval, which is 6 ms, and the path takes none; the rest is for a busy machine.
    assert bounded[len(bounded) // 2] < unbounded[len(unbounded) // 2] / 4


def test_several_workers_share_the_nodes(border: Border) -> None:
    nodes = [f"10.9.0.{last}" for last in range(11, 17)]
    for node in nodes:
        assert border.run("node", "ip", "address", "add", f"{node}/24", "dev", "eth0").returncode == 0
    table = 'hops = "table"\n[[node]]\nto = "10.9.0.0/24"\nhops = 3'
    process = border.gateway(mesh=table, more="[rules]\nworkers = 2")
    with ThreadPoolExecutor(len(nodes)) as threads:
        for took in threads.map(lambda node: border.transfer(400_000, to=node), nodes):
            assert took > shortest(400_000)
    state = border.status()
    assert {node["address"] for node in state["nodes"] if node["into_bytes"] >= 400_000} == set(nodes)
    # One thread for them all and one for each worker: both workers have worked.
    (pid,) = [entry for entry in Path(f"/proc/{process.pid}/task").iterdir() if entry.name == str(process.pid)]
    switches = [
        int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[0])
        for task in pid.parent.iterdir()
        if task.name != pid.name
    ]
    assert sum(count > 100 for count in switches) >= 2, switches
    end(process)
    assert border.rules() == ""


def test_a_mesh_behind_a_vlan_is_paced(border: Border) -> None:
    if border.run(
        "gate", "ip", "link", "add", "link", "mesh0", "name", "mesh0.7", "type", "vlan", "id", "7"
    ).returncode:
        pytest.skip("this kernel has no VLANs")
    for where, device, parent, address in (("gate", "mesh0.7", "mesh0", "1"), ("node", "eth0.7", "eth0", "2")):
        border.run(where, "ip", "link", "add", "link", parent, "name", device, "type", "vlan", "id", "7")
        border.run(where, "ip", "address", "add", f"10.77.0.{address}/24", "dev", device)
        border.run(where, "ip", "link", "set", device, "up")
    file = border.file(mesh='hops = "table"\n[[node]]\nto = "10.77.0.2"\nhops = 3')
    file.write_text(file.read_text(encoding="utf-8").replace('"mesh0"', '"mesh0.7"'), encoding="utf-8")
    process = border.start("gate", PROGRAM, "run", "--config", file)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started: ")
    assert border.transfer(1_000_000, to="10.77.0.2") > shortest(1_000_000)
    assert border.transfer(1_000_000) < shortest(1_000_000), (
        "what goes by the device without a number is not of the mesh"
    )


def test_what_is_no_tcp_and_what_is_cut_in_pieces_passes(border: Border) -> None:
    needs("ping")
    border.gateway()
    for options in ((), ("-s", "4000")):
        assert border.run("host", "ping", "-c", "3", "-i", "0.2", *options, NODE).returncode == 0


def test_it_gives_up_root_and_serves_metrics(border: Border) -> None:
    process = border.gateway(more='metrics = "127.0.0.1:0"')
    del process
    (pid,) = [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(border.folder).encode() in (entry / "cmdline").read_bytes()
    ]
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    fields = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if len(line.split()) > 1}
    assert fields["Uid"] != "0"
    # CAP_NET_ADMIN, and CAP_NET_RAW if iptables sets the rules.
    assert int(fields["CapEff"], 16) & ~(1 << 12 | 1 << 13) == 0
    assert int(fields["CapBnd"], 16) & ~(1 << 12 | 1 << 13) == 0
    assert fields["NoNewPrivs"] == "1"


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_its_table_holds_from_the_first_packet_on(border: Border, words: tuple[str, ...]) -> None:
    """Packets arrive while it starts; none may pass because a worker does not yet know how far the node is."""
    server = border.start("node", sys.executable, "-c", SINK, NODE, "7000", "1")
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(border.run, "host", sys.executable, "-c", STEADY, NODE, "7000", "3")
        time.sleep(0.5)
        border.gateway(*words)
        assert sent.result().returncode == 0
    server.communicate(timeout=LONGEST)
    totals = border.status()["totals"]
    assert (totals["unknown"], totals["waited"] > 0) == (0, not words), totals


def test_prometheus_metrics(border: Border) -> None:
    border.gateway(more='metrics = "10.9.0.1:9466"')
    script = "import urllib.request as u; print(u.urlopen('http://10.9.0.1:9466/metrics', timeout=5).read().decode())"
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 500_000, stay=10)
        interval = rf'^fourhop_gateway_interval_seconds{{node="{NODE}",class="into"}} 0\.\d+$'
        page, deadline = "", time.monotonic() + LAG + 10
        while not re.search(interval, page, re.M):
            assert time.monotonic() < deadline, page
            time.sleep(0.5)
            page = border.run("gate", sys.executable, "-c", script).stdout
        transfer.result()
    assert re.search(rf'^fourhop_gateway_hops{{node="{NODE}"}} 3$', page, re.M), page
    assert re.search(r"^fourhop_gateway_packets_total [1-9]\d*$", page, re.M)
    names = set(re.findall(r"^# TYPE (fourhop_gateway_\w+)", page, re.M))
    board = (ROOT / "packaging" / "gateway-grafana.json").read_text(encoding="utf-8")
    shown = set(re.findall(r"fourhop_gateway_\w+", board))
    assert shown <= names, shown - names


def test_check_prints_problems(border: Border) -> None:
    sound = border.run("gate", PROGRAM, "check", "--config", border.file())
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "ERROR" not in sound.stdout
    assert "warning" not in sound.stdout
    fast = border.file()
    fast.write_text(fast.read_text(encoding="utf-8").replace("6Mbps", "54Mbps"), encoding="utf-8")
    warned = border.run("gate", PROGRAM, "check", "--config", fast).stdout
    assert 'warning: rate: found links of 54 Mbit/s: pace.mode "gap" is for 802.11b, up to 11 Mbit/s' in warned
    fast.write_text(fast.read_text(encoding="utf-8").replace(GAP, ""), encoding="utf-8")
    assert "warning" not in border.run("gate", PROGRAM, "check", "--config", fast).stdout
    border.run("host", "sysctl", "-qw", "net.ipv4.ip_forward=0")
    refused = border.run("host", PROGRAM, "check", "--config", border.file())
    assert refused.returncode == 1
    assert "ERROR: device mesh0 does not exist" in refused.stdout
    assert "ERROR: net.ipv4.ip_forward is off: sysctl -w net.ipv4.ip_forward=1 enables forwarding" in refused.stdout
    absent = border.run("host", PROGRAM, "run", "--config", border.file())
    assert absent.returncode == 2
    assert 'mesh.devices: found "mesh0", allowed: a device of this machine' in absent.stderr
    unread = border.run("gate", *UNREAD, PROGRAM, "check", "--config", border.file())
    assert (unread.returncode, unread.stderr) == (128 + signal.SIGPIPE, "")
    refused = border.run("gate", PROGRAM, "check", "--config", border.file(more="[limits]\nflows = 0"))
    assert refused.returncode == 2
    assert f"{border.folder}/gateway.toml" in refused.stderr
    assert "from 1 to 1000000" in refused.stderr


def test_rules_are_printed_for_those_who_write_them(border: Border) -> None:
    file = border.file()
    nft = border.run("gate", PROGRAM, "run", "--config", file, "--print-rules", "nft").stdout
    assert "queue num 7100 bypass" in nft
    script = border.run("gate", PROGRAM, "run", "--config", file, "--print-rules", "iptables").stdout
    assert border.run("gate", "sh", "-ec", script).returncode == 0
    process = border.gateway(more="[rules]\nmanage = false")
    assert border.transfer(500_000) > shortest(500_000)
    end(process)
    assert "7100" in border.rules(), "rules of others stay"
    assert border.run("gate", PROGRAM, "clean").returncode == 0
    assert border.rules() == ""


def test_the_state_is_shown_in_a_terminal(border: Border) -> None:
    border.gateway()
    border.transfer(500_000)
    time.sleep(LAG)
    shown = program("status", "--socket", border.socket).stdout
    assert NODE in shown
    assert "interval ms" in shown
    top = subprocess.Popen(
        [PROGRAM, "top", "--every", "100ms", "--socket", border.socket], stdout=subprocess.PIPE, text=True
    )
    time.sleep(1)
    top.kill()
    assert top.communicate()[0].count("fourhop-gateway ") > 3
    nobody = program("status", "--socket", border.folder / "nobody")
    assert nobody.returncode == 2
    assert "no service listens there, start it" in nobody.stderr


def test_the_manual_page_is_sound() -> None:
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-gateway: `make linux` builds it")
    page = program("manual").stdout
    for part in (".TH fourhop-gateway 8", ".SH RUN", ".SH SIGNALS", "print\\-rules", "[mesh]"):
        assert part in page, part
    kept = (ROOT / "packaging" / "fourhop-gateway.8").read_text(encoding="utf-8")
    assert page == kept, "`fourhop-gateway manual > packaging/fourhop-gateway.8` writes it"
