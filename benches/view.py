"""Measures the page of `fourhop view` in headless Chromium: the first picture, playing, moving, memory.

Uses the largest trace that the page is made for: 120 nodes, 60 s, 10 TCP flows, every frame at every node. Headless
Chromium draws without a graphics card here, so these are processor times.

    PYTHONPATH=. .venv/bin/python benches/view.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.browser import Chromium

from fourhop import Scenario, run
from fourhop.view import Blobs, Server, Tables

NODES, SECONDS, FLOWS = 120, 60, 10

# Draws for three seconds as often as the browser allows, changing the view by `step` before each picture.
PROBE = """(() => {
  window.done = null;
  const model = fourhop.model, until = performance.now() + 3000, times = [];
  %s;
  let last = performance.now();
  const frame = (now) => {
    times.push(now - last);
    last = now;
    %s;
    if (now < until) requestAnimationFrame(frame);
    else {
      model.playing = false;
      times.shift();
      times.sort((a, b) => a - b);
      const sum = times.reduce((a, b) => a + b);
      window.done = [1000 * times.length / sum, 1000 / times[Math.floor(times.length * 0.95)], times.length];
    }
  };
  requestAnimationFrame(frame);
})()"""
SPANS = {"1 ms": 1e6, "100 ms": 1e8, "1 s": 1e9, "10 s": 1e10, "60 s": 6e10}
PLAY = "document.getElementById('play').click()"


def trace(folder: Path) -> None:
    """Record the largest trace into a folder, unless it is there."""
    if (folder / "meta.json").exists():
        return
    scenario = Scenario.random(
        nodes=NODES, width="1500m", height="1500m", pairs=FLOWS, duration=f"{SECONDS}s", transport="newreno"
    )
    began = time.perf_counter()
    run(scenario, trace=folder)
    print(f"recorded in {time.perf_counter() - began:.1f} s")


def processor() -> float:
    """Processor seconds used by all processes of the browser, independent of other load on the machine."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if b"fourhop-browser-" in (stat.parent / "cmdline").read_bytes():
                fields = stat.read_text().rsplit(")", 1)[1].split()
                total += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return total / 100


def memory() -> float:
    """Megabytes of all processes of the browser with pages: their proportional share of memory."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/smaps_rollup"):
        try:
            command = (status.parent / "cmdline").read_bytes()
            if b"fourhop-browser-" in command and b"--type=renderer" in command:
                total += int(next(x for x in status.read_text().splitlines() if x.startswith("Pss:")).split()[1])
        except OSError:
            continue
    return total / 1000


def measure(folder: Path) -> None:
    """Measure and print the results."""
    began = time.perf_counter()
    server = Server(Blobs(Tables(folder)))
    ready = time.perf_counter() - began
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = {table["name"]: table["rows"] for table in Tables(folder).meta["tables"]}
    print(f"load {Path('/proc/loadavg').read_text().split()[0]}; rows: {json.dumps(rows)}")
    with Chromium() as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
        browser.call("Page.navigate", url=server.address)
        browser.wait("!!window.fourhop")
        first = browser.js("fourhop.timings.first")
        browser.wait("fourhop.lanes.shown.mode === 'frames'")
        lanes = browser.js("performance.now()")
        browser.js("window.whole = false; fourhop.trace.whole().then(() => window.whole = true)")
        browser.wait("window.whole")
        print(
            f"server ready {ready:.2f} s; first picture {first / 1000:.2f} s after the address, "
            f"frames in the time lines {lanes / 1000:.2f} s, "
            f"all of it {browser.js('performance.now()') / 1000:.2f} s"
        )
        for name, width in SPANS.items():
            report(
                browser,
                f"moving, {name}",
                f"model.window(2e10, 2e10 + {width}); model.seek(2e10)",
                "model.pan(model.to >= model.span[1] ? -100 : 0.02)",
            )
        for name, width, speed in (("10 ms in a second, 100 ms", 1e8, 0.01), ("1 s in a second, 10 s", 1e10, 1)):
            setup = f"model.window(1e10, 1e10 + {width}); model.seek(1e10); model.speed = {speed}; {PLAY}"
            report(browser, f"playing, {name}", setup, "")
        print(
            f"memory of the page {memory():.0f} MB, "
            f"of which {browser.js('performance.memory.usedJSHeapSize') / 1e6:.0f} MB objects"
        )
    server.shutdown()


def report(browser: Chromium, name: str, setup: str, step: str) -> None:
    """Print the pictures per second, on average and for the slowest twentieth."""
    browser.js(PROBE % (setup, step))
    before = processor()
    browser.wait("!!window.done")
    mean, slow, count = browser.js("window.done")
    each = (processor() - before) / count * 1000
    print(f"{name}: {mean:.0f} pictures per second, slowest twentieth {slow:.0f}, {each:.0f} ms of the processor each")
    time.sleep(0.5)


def main() -> None:
    """Record and measure."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        trace(folder)
        measure(folder)
        return
    with tempfile.TemporaryDirectory(prefix="fourhop-view-") as scratch:
        trace(Path(scratch))
        measure(Path(scratch))


if __name__ == "__main__":
    main()
