"""A real OpenID Connect provider, `oidc-provider` from npm, and a browser that signs in there."""

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import httpx

from tests.support.npm import install_once

PACKAGE = "oidc-provider@9.13.3"
SCRIPT = Path(__file__).with_name("openid_provider.mjs")


class RealProvider:
    """The provider as a process. `people` are the claims of its accounts, by the name that they sign in with."""

    def __init__(self, base: str) -> None:
        self._command = ["node", str(SCRIPT), base, str(install_once(PACKAGE))]
        self.url = ""

    def start(self) -> None:
        """Start the process, at the address that it had before."""
        port = self.url.rpartition(":")[2]
        self._process = subprocess.Popen(
            [*self._command, *([port] if port else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.url = self._read_until("http://")

    def stop(self) -> None:
        """Stop the process, so that its address refuses connections."""
        self._process.kill()
        with self._process:
            pass

    def describe_people(self, **people: dict[str, Any]) -> None:
        """Set the claims of its accounts."""
        self._tell({"person": people})

    def rotate_keys(self) -> None:
        """Replace the key that signs tokens by a new one."""
        self._tell({"rotate": True})

    def _tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        self._read_until("done")

    def _read_until(self, start: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line.strip()
        raise AssertionError("the provider ended")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def open_provider_browser() -> Iterator[httpx.Client]:
    """A browser that keeps the cookies of all sites."""
    with httpx.Client(timeout=60) as browser:
        yield browser


def sign_in_at_provider(browser: httpx.Client, url: str, name: str) -> httpx.Response:
    """Open a page and follow its redirects; sign in and consent at the provider's forms."""
    answer = browser.get(url)
    for _ in range(20):
        if answer.is_redirect:
            answer = browser.get(urljoin(str(answer.url), answer.headers["location"]))
        elif "/interaction/" in str(answer.url):
            fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text))
            action = re.search(r'<form [^>]*action="([^"]+)"', answer.text)
            assert action is not None, answer.text
            answer = browser.post(action[1], data={**fields, "login": name, "password": "any"})
        else:
            return answer
    raise AssertionError(f"too many redirects, up to {answer.url}")
