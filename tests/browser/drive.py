#!/usr/bin/env python3
"""Opens a page in headless Chromium and says what happened there.

    tests/browser/drive.py PAGE [--width N] [--height N] [--scheme light|dark] [--screenshot FILE.png] [--full]
                                [--paper FILE.pdf] [--evaluate JAVASCRIPT]...

Prints one JSON object: `console` (errors, warnings and what the page's policy refused), `requests` (addresses of
everything that was fetched, the page itself not counted), `overflow` (by how many pixels the page is wider than the
screen), `values` (of each JavaScript expression, in order). Speaks Chromium's protocol over a pipe: no port, nothing but
Python's own library.
"""
import argparse
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60


def browser():
    found = os.environ.get("HRX_WRAP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        sys.exit("drive.py: no chromium: tests/run --browser installs it")
    return found


class Chromium:
    """A browser on a pipe: it reads commands from descriptor 3 and writes answers and events to 4."""

    def __init__(self, profile):
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        # The shell moves the pipes to 3 and 4, wherever they are here.
        moves = f"exec 3<&{theirs_in} 4>&{theirs_out}; exec \"$@\""
        words = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
                 f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", moves, "bash", *words], pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []

    def receive(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                sys.exit(f"drive.py: chromium says nothing for {PATIENCE} s")
            more = os.read(self.back, 1 << 20)
            if not more:
                sys.exit("drive.py: chromium is gone")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"drive.py: {method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def open(self, address, options):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=options.width, height=options.height,
                  deviceScaleFactor=options.scale, mobile=options.width < 500)
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": options.scheme}])
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"drive.py: {expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def close(self):
        # Only our own: the group of the process that we started.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def complaints(events):
    for event in events:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            yield json.dumps(parameters["exceptionDetails"])
        elif event.get("method") == "Runtime.consoleAPICalled":
            yield json.dumps(parameters["args"])
        elif event.get("method") == "Log.entryAdded":
            yield parameters["entry"]["text"]


def requests(events, address):
    sent = (e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent")
    return [url for url in sent if url != address]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("page", type=Path)
    options.add_argument("--width", type=int, default=1200)
    options.add_argument("--height", type=int, default=900)
    options.add_argument("--scale", type=float, default=1)
    options.add_argument("--scheme", choices=("light", "dark"), default="light")
    options.add_argument("--screenshot", type=Path)
    options.add_argument("--full", action="store_true")
    options.add_argument("--paper", type=Path)
    options.add_argument("--evaluate", action="append", default=[])
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        chromium = Chromium(profile)
        try:
            address = options.page.resolve().as_uri()
            chromium.open(address, options)
            values = [chromium.value(expression) for expression in options.evaluate]
            overflow = chromium.value("document.documentElement.scrollWidth - innerWidth")
            if options.screenshot:
                shot = chromium.call("Page.captureScreenshot", format="png", captureBeyondViewport=options.full)
                if options.full:
                    size = chromium.call("Page.getLayoutMetrics")["cssContentSize"]
                    shot = chromium.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                                         clip={"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]})
                options.screenshot.write_bytes(base64.b64decode(shot["data"]))
            if options.paper:
                paper = chromium.call("Page.printToPDF", printBackground=True)
                options.paper.write_bytes(base64.b64decode(paper["data"]))
            print(json.dumps({"console": list(complaints(chromium.events)),
                              "requests": requests(chromium.events, address), "overflow": overflow, "values": values}))
        finally:
            chromium.close()


if __name__ == "__main__":
    main()
