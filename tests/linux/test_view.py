"""`fourhop view --live` with a real emulation: the page shows what programs do a second later."""

from __future__ import annotations

import time
from pathlib import Path

from fourhop.cli.view import _followed
from fourhop.trace import META
from fourhop.view import Server
from fourhop.view.live import Live
from tests.browser import CHROMIUM, Chromium
from tests.linux.conftest import LONGEST, Starter, needs
from tests.test_view import serving


def test_packets_of_programs_are_seen_while_they_come(emulate: Starter, tmp_path: Path) -> None:
    needs("ping", *([] if CHROMIUM else ["chromium"]))
    net = emulate("--without-flows", "--trace", str(tmp_path), "--trace-last", "10s", hops=2)
    net.start("n0", "ping", "-i", "0.1", "n2")
    deadline = time.monotonic() + LONGEST
    while not (tmp_path / META).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert _followed(tmp_path) == tmp_path
    with serving(Server(None, live=Live(tmp_path))) as server, Chromium() as browser:
        browser.call("Page.navigate", url=server.address)
        browser.wait("!!window.fourhop && fourhop.trace.head.flows.length === 1 && fourhop.model.flow === 0")
        before = browser.js("fourhop.model.t")
        browser.wait(f"fourhop.model.t >= {before} + 1.5e9")
        browser.wait("fourhop.lanes.shown.mode === 'frames'")
        counted = "(() => { fourhop.controls.picture(); return fourhop.trace.head.counts.frames })()"
        # Ten requests and ten replies per second cross two hops.
        assert browser.js(counted) > 40
        assert browser.js("fourhop.trace.head.flows[0].transport") == "icmp"
    net.end()
