"""A headless Chromium, driven over its own pipe (--remote-debugging-pipe): no driver, no package, no port.

Messages are JSON objects of the DevTools protocol, each ended by a zero byte, on file descriptors 3 (to the browser)
and 4 (from it).
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium():
    """The program named in CHROMIUM, or the first one installed; None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="lengthwise-chromium-")
        self.downloads = os.path.join(self.profile, "downloads")
        os.mkdir(self.downloads)
        to_read, self.writer = os.pipe()
        self.reader, to_write = os.pipe()

        def wire():
            # Over higher numbers first, so that neither is overwritten before it is moved.
            source, sink = os.dup2(to_read, 100), os.dup2(to_write, 101)
            os.dup2(source, 3)
            os.dup2(sink, 4)

        command = [find_chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update",
                   f"--user-data-dir={self.profile}", "about:blank"]
        self.log = open(os.path.join(self.profile, "chromium.log"), "wb")
        self.process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, stdout=self.log, stderr=self.log)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.theme(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()
        self.log.close()
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read_message(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium ended: " + open(self.log.name, errors="replace").read()[-2000:])
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        while True:
            answer = self.read_message(60)
            if answer is None:
                raise RuntimeError(f"Chromium does not answer {method}")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + 60
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} does not load")
            message = self.read_message(1)
            if message:
                self.events.append(message)

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key):
        code = "Space" if key == " " else key
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, **text)

    def download(self, click):
        """What a click saves: (name, text)."""
        session, self.session = self.session, None
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)
        self.session = session
        self.run(click)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            names = [name for name in os.listdir(self.downloads) if not name.endswith(".crdownload")]
            if names:
                path = os.path.join(self.downloads, names[0])
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if text:
                    os.remove(path)
                    return names[0], text
            time.sleep(0.05)
        raise RuntimeError(f"{click} saves nothing")

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def complaints(self):
        """Everything the page said on its console as a warning or error, threw, or asked the network for."""
        while True:
            message = self.read_message(0.2)
            if message is None:
                break
            self.events.append(message)
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description") or details["text"])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:")):
                    found.append(f"the page asks the network for {url}")
        return found
