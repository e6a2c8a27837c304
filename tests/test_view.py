"""`fourhop view`: data prepared for the page equals the tables; the server, a live trace, the built page."""

from __future__ import annotations

import base64
import gzip
import http.client
import io
import json
import re
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fourhop.errors import FourhopError
from fourhop.view import Blobs, Server, Tables, live, page, write
from tests import view_trace
from tests.conftest import HANGS, ROOT, Command
from tests.view_trace import END_NS, MS


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return view_trace.write(tmp_path / "trace")


def blobs(folder: Path, **options: Any) -> Blobs:
    return Blobs(Tables(folder), **options)


def table(data: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(data))


def test_the_head_says_what_the_trace_is(made: Path) -> None:
    head = blobs(made, title="t").head()
    assert (head["title"], head["seed"], head["span"], head["live"]) == ("t", 7, (0, END_NS), False)
    first = min(pl.read_parquet(made / "frames.parquet")["start_ns"])
    assert head["opens"] == {"from": first, "t": first + 3 * MS, "frame": 1, "flow": 0, "node": 0}
    assert head["ranges"] == {"receive": 250.0, "sense": 550.0}
    assert [node["name"] for node in head["nodes"]] == ["node-0", "node-1", "node-2", "node-3", "R1"]
    assert [node["radio"] for node in head["nodes"]] == [True, True, True, True, False]
    assert (head["nodes"][4]["x"], head["nodes"][4]["y"]) == (None, None), "what is on a wire has no place"
    assert head["links"] == [], "this scenario was made by hand, and says nothing of links"
    assert head["walls"] == [{"x1": 100.0, "y1": 50.0, "x2": 300.0, "y2": 50.0, "loss_db": 12.0}]
    assert head["flows"][0]["destination"] == 2


def test_routes_over_wires_are_those_that_packets_take(tmp_path: Path) -> None:
    wire = view_trace.META["nodes"][4]["node"]
    hops = [(5 * MS, 1), (50 * MS, 1), (100 * MS, 3), (900 * MS, 1)]
    rows = [(9 + at, time, wire, "wire-out", None, by, 0, "tcp-data", wire, 2, 1, 1, 1460, 1500)
            for at, (time, by) in enumerate(hops)]  # fmt: skip
    folder = view_trace.write(tmp_path / "wired")
    pl.DataFrame(view_trace.ROWS["packets"] + rows, schema=view_trace.SCHEMAS["packets"], orient="row").write_parquet(
        folder / "packets.parquet"
    )
    routes = table(blobs(folder).get("routes"))
    assert routes["time"].is_sorted()
    over = routes.filter(pl.col("node") == 4).select("time", "dst", "next", "up").rows()
    assert over == [(0.0, 2, 1, 1), (100.0 * MS, 2, 3, 1), (900.0 * MS, 2, 1, 1)]
    assert len(routes) == len(view_trace.ROWS["routes"]) + 3


def test_each_row_is_in_the_spans_that_it_overlaps(made: Path) -> None:
    it = blobs(made)
    assert (it.length, it.count) == (1_000_000_000, 3)
    frames = [table(it.get(f"frames-{at}")) for at in range(3)]
    assert [list(part["frame"]) for part in frames] == [[1, 2, 3], [4], []]
    assert list(frames[1]["start"]) == [MS]
    assert list(frames[0]["dst"]) == [1, 1, 2]
    assert frames[1]["dst"][0] == -1, "to all"
    assert list(frames[0]["retry"]) == [0, 1, 0]
    nav = [table(it.get(f"mac-{at}")).filter(pl.col("node") == 2) for at in range(3)]
    assert [(part["start"][0], part["end"][0]) for part in nav] == [
        (40 * MS, 2**31 - 1), (-960 * MS, 1400 * MS), (-1960 * MS, 400 * MS),
    ]  # fmt: skip
    assert sum(len(table(it.get(f"packets-{at}"))) for at in range(3)) == len(view_trace.ROWS["packets"])
    codes = it.head()["names"]["fate"]
    assert [codes[code] for code in table(it.get("receptions-0"))["fate"]] == [
        "undecodable", "collision", "received", "overheard", "received",
    ]  # fmt: skip


def test_nothing_that_the_page_gets_is_null_or_a_string(made: Path) -> None:
    it = blobs(made)
    for name in it.names():
        if name != "overview":
            rows = table(it.get(name))
            assert all(kind.is_numeric() for kind in rows.dtypes), name
            assert sum(rows.null_count().row(0)) == 0, name


def test_only_interface_queues_are_plotted(made: Path) -> None:
    assert list(table(blobs(made).get("queues"))["packets"]) == [1, 0]


def test_events_are_losses_where_a_frame_was_meant_drops_time_outs_and_changes_of_routes(made: Path) -> None:
    it = blobs(made)
    names = it.head()["names"]
    events = table(it.get("events"))
    assert list(events["what"]) == [0, 1, 3, 2], "what node 2 could not decode was not for it"
    assert list(events["time"]) == [16 * MS + 667, 1600 * MS, 1700 * MS, 2000 * MS]
    assert list(events["node"]) == [1, 1, 0, 0]
    assert names["fate"][events["reason"][0]] == "collision"
    assert names["reason"][events["reason"][1]] == "data-retry-limit"
    assert list(events["ref"][:2]) == [1, 2]


def test_the_overview_is_the_part_of_each_bin(made: Path) -> None:
    it = blobs(made)
    bins = it.bins
    sums = np.frombuffer(it.get("overview"), np.uint8).reshape(4, 5, bins)
    width = END_NS / bins
    for channel, states in enumerate((("transmitting",), ("receiving",), ("busy", "eifs", "nav", "waiting"))):
        wanted = np.zeros((5, bins))
        for node, start, end, state, _ in view_trace.ROWS["mac"]:
            for at in range(bins) if state in states else ():
                wanted[node, at] += max(0.0, min(end, (at + 1) * width) - max(start, at * width)) / width
        np.testing.assert_allclose(sums[channel], np.ceil(wanted * 255 - 1e-6), atol=1)
    assert list(np.argwhere(sums[3])[0]) == [1, int((16 * MS + 667) / width)]
    assert sums[3].sum() == 1


def test_a_piece_that_is_not_there_is_no_piece(made: Path) -> None:
    it = blobs(made)
    for name in ("frames-3", "frames", "frames--1", "secret", "frames-x"):
        with pytest.raises(KeyError):
            it.get(name)


def test_a_trace_without_some_of_its_tables_can_be_seen(made: Path) -> None:
    for name in view_trace.SCHEMAS:
        if name != "frames":
            (made / f"{name}.parquet").unlink()
    it = blobs(made)
    assert [len(table(it.get(name))) for name in ("frames-0", "receptions-0", "tcp", "events")] == [3, 0, 0, 0]


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FourhopError, match=r"found no meta.json; name the folder of a trace"):
        Tables(tmp_path)
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(FourhopError, match=r"meta.json: cannot be read"):
        Tables(tmp_path)
    (tmp_path / "meta.json").write_text('{"format": 99}')
    with pytest.raises(FourhopError, match="format: found 99, allowed: 1"):
        Tables(tmp_path)


def test_a_page_has_all_of_a_trace_inside_and_nothing_from_elsewhere(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = blobs(made, title="</script><b>")
    one, other = (write(it, tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "b.html"))
    assert one == other
    inside = dict(re.findall(r'<script type="text/plain" id="blob-([^"]+)">([^<]*)</script>', one))
    assert sorted(inside) == sorted(["head", *it.names()])
    assert gzip.decompress(base64.b64decode(inside["tcp"])) == it.get("tcp")
    assert not re.search(r'(?:src|href)="?(?:https?:)?//', one)
    assert "</script><b>" not in one
    monkeypatch.setattr(page, "MOST_BYTES", 1000)
    with pytest.raises(
        FourhopError, match=r"--html: the trace has (more than|about) [\d.]+ MB, too large for one file \(0.001 MB\)"
    ):
        write(it, tmp_path / "c.html")
    assert not (tmp_path / "c.html").exists()


def test_a_trace_that_is_much_too_large_is_refused_after_a_few_of_its_pieces(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = blobs(made)
    monkeypatch.setattr(Blobs, "count", 5_000)
    asked = []

    def get(_: Blobs, name: str) -> bytes:
        asked.append(name)
        return np.random.default_rng(1).bytes(30_000)

    monkeypatch.setattr(Blobs, "get", get)
    with pytest.raises(FourhopError, match=r"--html: the trace has about 8\d\d MB, too large for one file"):
        page.filled(it)
    assert len(asked) < 100
    assert {name.rpartition("-")[0] for name in asked} == {"frames", "receptions", "mac", "packets"}


def test_the_page_carries_the_licences_of_what_is_in_it() -> None:
    text = page.empty()
    assert "Copyright (c) 2022 Leon Sorokin" in text
    assert "Copyright (c) 2024, UW Interactive Data Lab" in text


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((ROOT / "view" / "package-lock.json").read_text(encoding="utf-8"))
    outside = [each for name, each in lock["packages"].items() if name]
    assert all(each["integrity"].startswith("sha512-") and "resolved" not in each for each in outside)


def test_the_page_is_what_its_sources_make(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (ROOT / "view" / "node_modules").is_dir():
        pytest.skip("view/node_modules is not there: `make view` installs it")
    made = tmp_path / "page.html"
    subprocess.run([node, "build.mjs", str(made)], cwd=ROOT / "view", check=True, timeout=HANGS)
    assert made.read_text(encoding="utf-8") == page.empty(), (
        "python/fourhop/view/page.html is not up to date: run `make view`"
    )
    types = subprocess.run(
        [node, "node_modules/typescript/bin/tsc", "--noEmit"],
        cwd=ROOT / "view",
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert types.returncode == 0, types.stdout


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(server: Server, path: str, host: str | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=HANGS)
    connection.request("GET", path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_the_server_gives_page_and_pieces_to_this_machine_alone(made: Path) -> None:
    it = blobs(made)
    with serving(Server(it)) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert asked(server, "/?x=1") == (200, page.empty().encode())
        assert asked(server, "/data/frames-0") == (200, it.get("frames-0"))
        assert asked(server, "/data/frames-9")[0] == 404
        assert asked(server, "/data/..%2fmeta.json")[0] == 404
        assert asked(server, "/live")[0] == 404
        assert asked(server, "/", "elsewhere.example:80")[0] == 403
        port = server.server_address[1]
        assert asked(server, "/", f"localhost:{port}")[0] == 200


def message(connection: socket.socket) -> tuple[int, bytes]:
    """One message of the server; every frame is complete."""

    def take(size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = connection.recv(size - len(data))
            assert part, "the server has hung up"
            data += part
        return data

    first, length = take(2)
    assert first & 0x80, "a frame is a message"
    if length == 126:
        (length,) = struct.unpack(">H", take(2))
    elif length == 127:
        (length,) = struct.unpack(">Q", take(8))
    return first & 0x0F, take(length)


def received(connection: socket.socket) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The blobs until the next head, and that head."""
    pieces: dict[str, bytes] = {}
    while True:
        code, body = message(connection)
        if code == 1:
            return pieces, json.loads(body)
        assert code == 2
        (length,) = struct.unpack("<I", body[:4])
        pieces[body[4 : 4 + length].decode()] = body[4 + length :]


def test_a_live_trace_is_pushed_as_it_grows_until_it_is_complete(tmp_path: Path) -> None:
    folder = view_trace.write(tmp_path, numbered="000001", until_ns=100 * MS, complete=False)
    with serving(Server(None, live=live.Live(folder))) as server:
        assert b'data-live="yes"' in asked(server, "/")[1]
        assert asked(server, "/live")[0] == 400, "no WebSocket"
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=HANGS) as connection:
            connection.sendall(
                f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{server.server_address[1]}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            )
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += connection.recv(1)
            # The example of RFC 6455 section 1.3.
            assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer
            pieces, head = received(connection)
            assert len(table(pieces["frames-0"])) == 3
            assert head["live"]
            view_trace.write(folder, numbered="000002", complete=True)
            for name in view_trace.SCHEMAS:
                (folder / "000001" / f"{name}.parquet").unlink()
            pieces, head = received(connection)
            assert "frames-2" in pieces, "half a second is a span"
            assert len(table(pieces["frames-2"])) == 1
            assert head["span"][1] >= 2400 * MS
            assert message(connection) == (8, struct.pack(">H", 1000)), "closed, as the trace is complete"


def test_a_live_view_forgets_what_is_old(made: Path) -> None:
    it = blobs(made, keep_ns=500 * MS)
    head = it.head()
    assert head["span"] == (1900 * MS, 2400 * MS)
    assert [rows > 0 for rows in head["chunks"]["rows"]] == [False, False, False, True, True]
    assert list(table(it.get("tcp"))["time"]) == [2000 * MS]


@pytest.mark.parametrize(
    ("keys", "end_s"),
    [
        ('duration = "40s"\nwarmup = "10s"', 10),
        ('duration = "40s"\nwarmup = "30s"\n[traffic]\ntransport = "newreno"\nstart = "12s"', 13),
        ('duration = "4s"', 4),
    ],
)
def test_a_scenario_is_shown_whatever_its_warm_up_and_its_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fourhop: Command, keys: str, end_s: float
) -> None:
    traffic = "" if "[traffic]" in keys else '[traffic]\ntransport = "newreno"\n'
    topology = '[topology]\nkind = "chain"\nhops = 2\n'
    file = tmp_path / "own.toml"
    file.write_text(f'profile = "ns2"\n{keys}\n{traffic}{topology}', encoding="utf-8")
    spans = []
    monkeypatch.setattr("fourhop.view.write", lambda blobs, _: spans.append(blobs.head()["span"]))
    shown = fourhop("view", file, "--html", tmp_path / "page.html")
    assert shown.returncode == 0, shown.stderr
    assert spans == [(0, end_s * 1e9)]


def test_the_command_writes_a_page_and_refuses_what_cannot_be(made: Path, tmp_path: Path, fourhop: Command) -> None:
    written = fourhop("view", made, "--html", tmp_path / "page.html")
    assert written.returncode == 0, written.stderr
    assert written.stdout == f"page: {tmp_path / 'page.html'}\n"
    for arguments, words in (
        ((tmp_path / "none",), "found no meta.json"),
        ((made, "--seed", "3"), "allowed: with a scenario"),
        ((made / "meta.json", "--live"), "name the folder of a running trace"),
        ((made, "--html", tmp_path / "x.html", "--live"), "--html and --live: give only one of them"),
    ):
        refused = fourhop("view", *arguments)
        assert refused.returncode == 2
        assert words in refused.stderr
