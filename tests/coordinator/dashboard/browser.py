"""Headless Chromium, driven by its own protocol over two pipes: nothing beyond Python is needed."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_or_skip():
    """The browser's path; ends the test with exit status 77 (skipped) if there is none."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    print("SKIPPED: there is no chromium")
    sys.exit(77)


class Browser:
    """One page of a browser with its own profile below `folder`."""

    def __init__(self, path, folder):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def keep_pipes():
            os.dup2(to_read, 3, inheritable=True)
            os.dup2(to_write, 4, inheritable=True)

        # High enough not to be overwritten by 3 and 4.
        to_read, to_write = self._high(to_read), self._high(to_write)
        self._process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--window-size=1280,900", "--force-color-profile=srgb", f"--user-data-dir={folder}/profile"],
            preexec_fn=keep_pipes, start_new_session=True, pass_fds=(3, 4, to_read, to_write),
            # What a killed browser leaves behind is removed with the folder.
            env={**os.environ, "HOME": folder, "TMPDIR": folder},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._number = 0
        self._rest = b""
        self.events = []  # of the page, in order
        target = self._ask("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")

    @staticmethod
    def _high(descriptor):
        high = 50 + descriptor
        os.dup2(descriptor, high, inheritable=True)
        os.close(descriptor)
        return high

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its other processes still write to the profile, which the caller is about to remove.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                os.killpg(self._process.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)

    def _ask(self, method, parameters, session):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def _next(self):
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        line, self._rest = self._rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        """A command of the page's, as the protocol of Chromium's tools names it."""
        return self._ask(method, parameters, self._session)

    def run(self, script):
        """The value of a script, which may be a promise's."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, url):
        """Loads the page from the beginning, even if only the part after '#' differs."""
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=url)

    def wait(self, condition, seconds=30):
        """Waits until the script's value is true."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise RuntimeError(f"{condition} is not true after {seconds} s: {self.run('document.body.innerText')[:1500]}")
            time.sleep(0.02)

    def choose_files(self, script, paths):
        """Chooses files as a person does in the dialog of the input that the script finds."""
        found = self.ask("Runtime.evaluate", expression=script)["result"]
        self.ask("DOM.setFileInputFiles", files=paths, objectId=found["objectId"])

    def complaints(self):
        """The page's log messages and exceptions, and the requests that its policy blocked, so far."""
        self.run("0")
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled":
                found.append(str(parameters["args"]))
            elif method == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
        return found

    def transferred(self):
        """Bytes of all answers so far, headers included."""
        self.run("0")
        return sum(event["params"]["encodedDataLength"] for event in self.events
                   if event.get("method") == "Network.loadingFinished")

    def screenshot(self, path, whole=True):
        """Writes the page as PNG."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
