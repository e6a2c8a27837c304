"""A headless Chromium, driven over a pipe by the DevTools protocol without a library: sees and types as a user does."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.conftest import HANGS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""The browser of this machine, if there is one."""

_KEYS = {"Tab": 9, "Enter": 13, "Space": 32, "Home": 36, "End": 35}
_KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
_TEXT = {"Enter": "\r", "Space": " "}


class Chromium:
    """One page in one browser. `complaints` collects its console messages and failed loads."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._profile = tempfile.TemporaryDirectory(prefix="fourhop-browser-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def arrange() -> None:
            # The protocol needs descriptors 3 and 4. Copy first: the pipe's ends may be 3 or 4 themselves.
            one, other = os.dup(to_read), os.dup(to_write)
            os.dup2(one, 3)
            os.dup2(other, 4)

        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars"]
        arguments += [
            "--disable-dev-shm-usage",
            "--no-first-run",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            [CHROMIUM, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=arrange,
        )
        os.close(to_read)
        os.close(to_write)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(10)
        os.close(self._read)
        os.close(self._write)
        self._profile._ignore_cleanup_errors = True  # type: ignore[attr-defined]
        self._profile.cleanup()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Run a command of the protocol; returns its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def resize(self, width: int, height: int = 900) -> None:
        """Resize the window; a narrow one is a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file and wait until it is complete."""
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        # Tells the page that was open before from the new one.
        self.js("window.before = true")
        self.call("Page.navigate", url=path.as_uri())
        self.wait("!window.before && document.readyState === 'complete'")

    def js(self, expression: str) -> Any:
        """The value of an expression evaluated in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + HANGS
        while not self.js(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press and release a key, as a user does."""
        name = " " if key == "Space" else key
        fields = {"key": name, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"text": _TEXT[key]} if key in _TEXT else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **fields, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def tab_to(self, expression: str, most: int = 200) -> None:
        """Press Tab until the expression holds for the focused element, `it`."""
        for _ in range(most):
            self.press("Tab")
            if self.js(f"(it => {expression})(document.activeElement)"):
                return
        raise AssertionError(f"not reached by Tab: {expression}")

    def screenshot(self, path: Path) -> None:
        """Save the whole page as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """The printed page."""
        data = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([each.get("value") for each in parameters["args"]]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.complaints.append(f"asked the network for {url}")
        elif method == "Network.loadingFailed":
            self.complaints.append(f"could not be loaded: {parameters.get('errorText')}")
