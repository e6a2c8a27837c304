"""babeld and nodes with simulated Babel on the same air: two implementations of RFC 8966."""

from __future__ import annotations

import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.linux.aodvd import BROADCASTS, address
from tests.linux.conftest import CHAIN, LONGEST, Emulated, Starter, needs

HELLO, UPDATE = 1, 4
"""Intervals in seconds; babeld's defaults are in the same ratio, 1 to 4."""
FAST = (
    "--set",
    "routing.protocol=babel",
    "--set",
    f"babel.hello_interval={HELLO}s",
    "--set",
    f"babel.update_interval={UPDATE}s",
)
HOLD = 3.5
"""Intervals without renewal after which a state expires (RFC 8966 appendix B)."""
SILENCE = HOLD * 3 * HELLO
"""A neighbour is gone when its last IHU expires; every third Hello carries one (appendix B)."""
EXPIRY = HOLD * UPDATE
"""Lifetime of a route after its last update if both of its retractions are lost on the air."""
BABELD_LOOKS = 37.5
"""Longest interval at which babeld looks for expired routes: every 30 s, give or take a quarter."""
URGENT = 0.6
"""When the second retraction is sent: twice 0.2 s after the first, which leaves within 0.2 s (section 3.7.2)."""


@dataclass
class Mesh:
    """An emulation with babeld in some of its nodes."""

    net: Emulated
    folder: Path

    def start(self, *nodes: int) -> None:
        """Start babeld on the node's radio as a wireless interface; by default it takes the device for a wire."""
        for node in nodes:
            # No address implies neighbours that are not there.
            self.net.run(f"n{node}", "ip", "addr", "replace", f"{address(node)}/32", "dev", "mesh0")
            self.net.run(f"n{node}", "ip", "addr", "del", f"{address(node)}/9", "dev", "mesh0")
            interface = "interface mesh0 type wireless hello-interval 1"
            files = ["-I", "", "-S", str(self.folder / f"n{node}.state"), "-g", str(self.socket(node))]
            self.net.start(f"n{node}", "babeld", "-r", *files, "-c", "/dev/null", "-C", interface, "mesh0")
        for node in nodes:
            self.wait(self.socket(node).exists, 20, f"babeld of n{node}")

    def socket(self, node: int) -> Path:
        return self.folder / f"n{node}.sock"

    def dump(self, node: int, what: str) -> list[dict[str, str]]:
        """Lines of babeld's state: interfaces, neighbours, routes."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talk:
            talk.settimeout(10)
            talk.connect(str(self.socket(node)))
            talk.sendall(b"dump\nquit\n")
            said = b"".join(iter(lambda: talk.recv(65536), b"")).decode()
        lines = [line.split() for line in said.splitlines() if line.startswith(f"add {what} ")]
        return [dict(zip(words[3::2], words[4::2], strict=False)) for words in lines]

    def routes(self, node: int) -> dict[str, dict[str, str]]:
        """The routes in use."""
        return {one["prefix"]: one for one in self.dump(node, "route") if one["installed"] == "yes"}

    def wait(self, holds: Callable[[], bool], seconds: float, what: str) -> None:
        begun = time.monotonic()
        while not holds():
            assert time.monotonic() - begun < seconds, f"{what}: not within {seconds} s"
            time.sleep(0.2)

    def reaches(self, src: int, dst: int) -> bool:
        return self.net.run(f"n{src}", "ping", "-c", "1", "-W", "1", f"n{dst}").returncode == 0


@contextmanager
def mesh(emulate: Starter, hosted: str, hops: int) -> Iterator[Mesh]:
    needs("babeld", "ping", "ip")
    with tempfile.TemporaryDirectory(prefix="fourhop-babel-") as folder:
        options = ("--tap", "--without-flows", "--hosted", hosted, *BROADCASTS, *FAST)
        yield Mesh(emulate(*options, file=CHAIN, hops=hops), Path(folder))


def test_babeld_and_simulated_nodes_are_one_mesh(emulate: Starter) -> None:
    """The second and fourth of five nodes in a row are simulated, so every link has babeld at one end."""
    with mesh(emulate, "n1,n3", 4) as net:
        net.start(0, 2, 4)
        far = f"{address(4)}/32"
        net.wait(lambda: far in net.routes(0) and f"{address(0)}/32" in net.routes(4), 40, "routes to the ends")
        assert net.routes(0)[far]["via"] == "fe80::ff:fe00:1", "the simulated node's link-local address"
        ping = net.net.run("n0", "ping", "-c", "5", "-i", "0.3", "-W", "3", "n4").stdout
        assert " 0% packet loss" in ping, ping
        assert "ttl=61" in ping, "one kernel and two simulated nodes pass it on"
        assert net.reaches(0, 1), "a simulated node answers for itself"
        assert net.reaches(4, 1)
        kernel = net.net.run("n0", "ip", "route", "show", "proto", "babel").stdout
        assert f"{address(4)} via {address(1)} dev mesh0" in kernel
        # After sixteen Hellos, both measure a lossless link as one transmission.
        net.wait(lambda: int(net.routes(0)[far]["metric"]) < 4 * 256 + 64, 40, "four links without losses")
        assert int(net.routes(0)[far]["metric"]) >= 4 * 256
        (one,) = net.dump(0, "neighbour")
        assert one["address"] == "fe80::ff:fe00:1"
        assert 256 <= int(one["txcost"]) < 300, "what ours says in its IHUs"
        # A node leaves; its neighbour is one of ours, which has to notice and retract the route.
        net.net.run("n4", "ip", "link", "set", "mesh0", "down")
        # Within 12 s if none of the retractions is lost on its way over n2 (babeld), n1 (ours) and n0 (babeld).
        relays = 2 * (EXPIRY + BABELD_LOOKS) + EXPIRY
        net.wait(lambda: far not in net.routes(0), SILENCE + 3 * URGENT + relays, "the retraction")
        net.net.run("n4", "ip", "link", "set", "mesh0", "up")
        net.wait(lambda: far in net.routes(0) and net.reaches(0, 4), 60, "the way back")


def test_what_simulated_nodes_say_is_rfc_8966s(emulate: Starter) -> None:
    """Decodes packets of simulated nodes with tshark, on the same air as babeld."""
    needs("tcpdump", "tshark")
    with mesh(emulate, "n0", 2) as net:
        file = net.folder / "seen.pcap"
        dump = net.net.start("n1", "tcpdump", "-i", "mesh0", "-w", str(file), "-U", "udp", "port", "6696")
        net.wait(lambda: file.exists() and file.stat().st_size >= 24, 10, "tcpdump")
        net.start(1, 2)
        net.wait(lambda: f"{address(2)}/32" in net.routes(1) and net.reaches(2, 0), 40, "routes")
        time.sleep(4)
        net.net.programs.remove(dump)
        dump.terminate()
        dump.communicate(timeout=LONGEST)

        def read(*arguments: str) -> str:
            command = ["tshark", "-o", "udp.check_checksum:TRUE", "-n", "-r", str(file), *arguments]
            return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout

        # babeld's own packets leave with checksums that a kernel device would compute.
        assert read("-Y", "ipv6.src == fe80::ff:fe00:0 && (_ws.malformed || !babel || udp.checksum.status == 0)") == ""
        names = ("ipv6.dst", "ipv6.hlim", "udp.srcport", "babel.message.type", "babel.message.ae")
        columns = [word for name in names for word in ("-e", name)]
        lines = read("-Y", "ipv6.src == fe80::ff:fe00:0", "-T", "fields", "-E", "separator=|", *columns).splitlines()
        packets = [dict(zip(names, line.split("|"), strict=True)) for line in lines]
        assert len(packets) > 5
        assert all((one["ipv6.hlim"], one["udp.srcport"]) == ("1", "6696") for one in packets)
        assert {one["ipv6.dst"] for one in packets} == {"ff02::1:6", "fe80::ff:fe00:1"}
        kinds = {kind for one in packets for kind in one["babel.message.type"].split(",")}
        assert {"4", "5", "7", "8", "9"} <= kinds, "Hello, IHU, Next Hop, Update, Route Request"
        whole = read("-Y", "ipv6.src == fe80::ff:fe00:0", "-V")
        assert re.search(r"NH: 10\.0\.0\.1|Next Hop.*10\.0\.0\.1", whole), "IPv4 routes over IPv6 name their next hop"


def test_a_detour_through_babeld_is_found(emulate: Starter, tmp_path: Path) -> None:
    """A ring of five with two of ours: when a babeld leaves, routes go the other way round."""
    needs("babeld", "ping", "ip")
    file = tmp_path / "ring.toml"
    places = ["['0m', '0m']", "['190m', '0m']", "['249m', '181m']", "['95m', '292m']", "['-59m', '181m']"]
    file.write_text(
        f'profile = "standard"\nduration = "600s"\n[topology]\nkind = "positions"\npositions = [{", ".join(places)}]\n'
        '[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n',
        encoding="utf-8",
    )
    with tempfile.TemporaryDirectory(prefix="fourhop-babel-") as folder:
        options = ("--tap", "--without-flows", "--hosted", "n0,n3", *BROADCASTS, *FAST)
        net = Mesh(emulate(*options, file=file), Path(folder))
        net.start(1, 2, 4)
        here = f"{address(0)}/32"

        def leads_over(node: int) -> bool:
            return net.routes(2).get(here, {}).get("via") == f"fe80::ff:fe00:{node}"

        net.wait(lambda: leads_over(1) and net.reaches(2, 0), 60, "the short side")
        net.net.run("n1", "ip", "link", "set", "mesh0", "down")
        net.wait(lambda: leads_over(3) and net.reaches(2, 0), 60, "the long side")
        assert net.reaches(4, 2)
