"""Controls a headless Chromium over two pipes: loads pages and collects their errors."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)
PATIENCE = 60  # seconds for one answer


def found():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. `problems` collects the errors of console and network while pages load."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = _pipe()
        self._in, theirs_out = _pipe()
        nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        actions = [nowhere, (os.POSIX_SPAWN_DUP2, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        command = [found(), *OPTIONS, f"--user-data-dir={self.folder.name}", "about:blank"]
        self._pid = os.posix_spawn(
            command[0], command, os.environ, file_actions=actions, setpgroup=0
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._left, self._session = 0, b"", None
        self.begin()
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source="localStorage.clear()")

    def begin(self):
        self.problems, self.asked_for, self.received = [], [], 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with contextlib.suppress(OSError):
            self._session = None
            self.ask("Browser.close")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)  # the group that was started above
        os.waitpid(self._pid, 0)
        os.close(self._in)
        os.close(self._out)
        self.folder.cleanup()

    # Messages

    def ask(self, method, **parameters):
        """Call a method of the DevTools protocol and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._read(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _read(self, end):
        while b"\0" not in self._left:
            if not select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise OSError("the browser is gone")
            self._left += piece
        text, _, self._left = self._left.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, event):
        if method == "Runtime.exceptionThrown":
            self.problems.append(event["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] == "error":
            self.problems.append(str(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.problems.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked_for.append(event["request"]["url"])
        elif method == "Network.loadingFinished":
            self.received += event["encodedDataLength"]

    # Pages

    def look(self, width, dark=False):
        """Set the width of the screen in pixels, and whether the user prefers dark colours."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address):
        """Load a page, with all its pictures and scripts."""
        self.begin()
        self.ask("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")
        return self

    def run(self, script):
        """The value of an expression of JavaScript on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, condition):
        """Wait until an expression is true on the page."""
        end = time.monotonic() + PATIENCE
        frame = "new Promise(go => setTimeout(go, 20))"
        while not self.run(condition):
            self.run(frame)
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {condition}")


def _pipe():
    """A pipe whose file descriptors are larger than those that the browser expects."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high
