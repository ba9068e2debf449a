"""A page in a real browser that lives in the network of a node, so that `localhost` is the node.

    with Browser(node.leader, "http://localhost:10240") as page:
        page.wait_for("the phase", lambda: "waits" in page.text("#phase"))

Spoken with by the DevTools protocol on a pair of pipes: JSON objects with a zero byte between them.
"""

import json
import os
import select
import subprocess
import tempfile
import time

from testbed import waiting

PROGRAM = "chromium-headless-shell"
ANSWER_SECONDS = 60  # a browser's start on a busy machine
PAGE_SECONDS = 180

# The browser reads from descriptor 3 and writes to 4; ours come first.
_WITH_PIPES = 'exec "${@:3}" 3<&"$1" 4>&"$2"'


class Browser:
    def __init__(self, leader: int, url: str, language: str = "en-US") -> None:
        # Its children may write for a moment after it has ended.
        self._profile = tempfile.TemporaryDirectory(prefix="kubexm-browser-", ignore_cleanup_errors=True)
        theirs, self._to = os.pipe()
        self._from, theirs_too = os.pipe()
        browser = [PROGRAM, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={self._profile.name}",
                   f"--lang={language}", f"--accept-lang={language}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            ["bash", "-c", _WITH_PIPES, "browser", str(theirs), str(theirs_too),
             "nsenter", "--target", str(leader), "--net", "--", *browser],
            pass_fds=(theirs, theirs_too), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs)
        os.close(theirs_too)
        self._number, self._unread, self._session = 0, b"", None
        target = self._ask("Target.createTarget", url=url)["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def evaluate(self, expression: str):
        """The value of a JavaScript expression in the page."""
        return self._ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def text(self, selector: str) -> str:
        """What a person reads in an element; nothing of what is hidden."""
        return self.evaluate(f"(found => found?.checkVisibility() ? found.innerText : '')"
                             f"(document.querySelector({json.dumps(selector)}))")

    def wait_for(self, what: str, condition) -> object:
        return waiting.until(f"{what} on the page", condition, PAGE_SECONDS, lambda: self.text("body"))

    def close(self) -> None:
        self._session = None
        try:
            self._ask("Browser.close")
            self._process.wait(ANSWER_SECONDS)
        finally:
            self._process.kill()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _ask(self, method: str, **parameters) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:  # events come between
            pass
        if "error" in answer:
            raise RuntimeError(f"the browser refused {method}: {answer['error']}")
        return answer["result"]

    def _read(self) -> dict:
        deadline = time.monotonic() + ANSWER_SECONDS
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from], [], [], max(deadline - time.monotonic(), 0))
            more = os.read(self._from, 1 << 16) if ready else b""
            if not more:
                raise RuntimeError(f"{PROGRAM} {'ended' if ready else 'did not answer'}")
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)
