"""Firefox with the extension, driven by WebDriver BiDi (W3C). The browser's window is a context like a page."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import connect

from tests.e2e.support.extension_browser import EVERYWHERE, unpack

ID = "extension@ticketbox.app"
UUID = "6f3c0f0e-5b8e-4c8b-9b0e-0d5d1a2b3c4d"
SECONDS = 60
OPEN_POPUP = f"""(() => {{
  const {{ ExtensionParent }} = ChromeUtils.importESModule("resource://gre/modules/ExtensionParent.sys.mjs");
  const extension = ExtensionParent.GlobalManager.getExtension("{ID}");
  ExtensionParent.apiManager.global.browserActionFor(extension).openPopup(window);
}})()"""

# The centre of an element in a page that has loaded, when the element has stopped moving.
FIND_PLACE = """(async () => {
  const draw = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  while (document.readyState !== "complete" || document.fonts.status !== "loaded") await draw();
  for (let last = "", count = 0; ; count += 1) {
    const element = %s;
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const at = element.getBoundingClientRect();
    const now = JSON.stringify([Math.round(at.x + at.width / 2), Math.round(at.y + at.height / 2)]);
    if (now !== last) count = 0;
    if (count === 5) return now;
    last = now;
    await draw();
  }
})()"""
ACTIVATE_MENU_ITEM = """(label) => {
  const menu = document.getElementById("contentAreaContextMenu");
  menu.activateItem([...menu.children].find((each) => each.label === label));
}"""


def find_firefox() -> str | None:
    """The path of the machine's Firefox; None if there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """A running Firefox that allows access to its own window."""

    def __init__(self, executable: str, archive: bytes, folder: Path) -> None:
        self._executable, self._archive, self._folder = executable, archive, folder
        self._number = 0

    def __enter__(self) -> Self:
        source, profile = self._folder / "extension", self._folder / "profile"
        unpack(self._archive, source, [EVERYWHERE])
        profile.mkdir()
        settings = {
            "extensions.webextensions.uuids": json.dumps({ID: UUID}),
            "extensions.originControls.grantByDefault": True,
            "app.normandy.enabled": False,
        }
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items()]
        (profile / "user.js").write_text("".join(lines))
        self._process = subprocess.Popen(
            [
                self._executable, "--headless", "--no-remote", "--profile", str(profile),
                "--remote-debugging-port", "0", "--remote-allow-system-access",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(self._folder)},
        )  # fmt: skip
        assert self._process.stderr is not None
        address = next(match[0] for line in self._process.stderr if (match := re.search(r"ws://\S+", line)))
        self._drain = threading.Thread(target=self._process.stderr.read, daemon=True)
        self._drain.start()
        self._connection = connect(f"{address}/session", max_size=None)
        self._socket = self._connection.__enter__()
        self.call("session.new", capabilities={})
        self.call("webExtension.install", extensionData={"type": "path", "path": str(source)})
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.__exit__(None, None, None)
        self._process.terminate()
        self._process.wait(60)
        self._drain.join(10)
        self._process.stderr.close()  # type: ignore[union-attr]

    def call(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=SECONDS))
            if answer.get("id") == self._number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def open(self, address: str) -> str:
        """Open a tab, and return its context."""
        context: str = self.call("browsingContext.create", type="tab")["context"]
        self.call("browsingContext.navigate", context=context, url=address, wait="complete")
        return context

    def evaluate(self, context: str, expression: str) -> Any:
        """Evaluate an expression with user activation. Returns a string, a number or None."""
        answer = self.call(
            "script.evaluate",
            expression=expression,
            target={"context": context},
            awaitPromise=True,
            userActivation=True,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def click_button(self, context: str, button: str) -> None:
        """Click the first button with a text; without a real click the extension may not request a permission."""
        self.click(context, f"[...document.querySelectorAll('button')].find((each) => {_has_text(button)})")

    def click(self, context: str, element: str) -> None:
        """Click an element, which a JavaScript expression names, with the mouse, when it has stopped moving."""
        self.call("browsingContext.activate", context=context)
        x, y = json.loads(self.evaluate(context, FIND_PLACE % element))
        moves = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": moves}
        self.call("input.performActions", context=context, actions=[mouse])

    def press_keys(self, context: str, text: str) -> None:
        """Type a text into the element that has the focus."""
        keys = [{"type": kind, "value": each} for each in text for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": keys}
        self.call("input.performActions", context=context, actions=[keyboard])

    def wait_until(self, context: str, expression: str) -> None:
        """Wait until an expression is true in a page."""
        deadline = time.monotonic() + SECONDS
        while not self.evaluate(context, f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"{expression}: {self.evaluate(context, 'document.body?.innerText')}"
            time.sleep(0.05)

    def open_options(self) -> str:
        """Open the extension's options page."""
        return self.open(f"moz-extension://{UUID}/options.html")

    def list_contexts(self, scope: str = "content") -> list[dict[str, Any]]:
        """The open tabs; with the scope `chrome`, the browser's windows and their contents."""
        return self.call("browsingContext.getTree", **({"moz:scope": scope} if scope == "chrome" else {}))["contexts"]

    def open_popup(self, context: str) -> None:
        """Click the extension's button on a tab."""
        self.call("browsingContext.activate", context=context)
        window = next(each for each in self.list_contexts("chrome") if each["url"].endswith("browser.xhtml"))
        self.evaluate(window["context"], OPEN_POPUP)

    def press_shortcut(self, context: str, modifiers: str, key: str) -> None:
        """Trigger the browser's command for a shortcut on a tab.

        The keys can't be pressed: BiDi sends them to the page only, and so does a text input processor in the browser's
        window.
        """
        self.call("browsingContext.activate", context=context)
        window = next(each for each in self.list_contexts("chrome") if each["url"].endswith("browser.xhtml"))["context"]
        self.evaluate(window, f"document.querySelector(`key[modifiers='{modifiers}'][key='{key}']`).doCommand()")

    def choose_menu_item(self, context: str, label: str) -> None:
        """Open a page's context menu with a right click, and choose one of its items."""
        self.call("browsingContext.activate", context=context)
        moves = [
            {"type": "pointerMove", "x": 300, "y": 300},
            {"type": "pointerDown", "button": 2},
            {"type": "pointerUp", "button": 2},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": moves}
        self.call("input.performActions", context=context, actions=[mouse])
        window = next(each for each in self.list_contexts("chrome") if each["url"].endswith("browser.xhtml"))["context"]
        self.wait_until(window, "document.getElementById('contentAreaContextMenu').state === 'open'")
        self.evaluate(window, f"({ACTIVATE_MENU_ITEM})({json.dumps(label)})")


def _has_text(text: str) -> str:
    return f"each.textContent.includes({json.dumps(text)})"
