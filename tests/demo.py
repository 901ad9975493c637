"""A running `ticketbox demo`, with the password, the token and the shop's address that it prints."""

import asyncio
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.build_once import build_once
from tests.support.server import Box, ok
from ticketbox.demo.loader import create_demo


def copy_demo(factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo's file, which is created once for all workers."""
    demo = build_once(factory, "demo.db", lambda path: asyncio.run(create_demo(path)))
    return Path(shutil.copy(demo, factory.mktemp("demo")))


class Demo(Box):
    """A running demo."""

    def command(self) -> list[str]:
        """The command line."""
        return [
            sys.executable,
            "-m",
            "ticketbox",
            "demo",
            "--db",
            str(self.db),
            "--port",
            "0",
            "--shop",
            "0",
            "--no-open",
        ]

    def start(self) -> None:
        """Start it and read what it prints."""
        super().start()
        assert self.process.stdout is not None
        printed = ""
        while "delete its file" not in printed:
            printed += self.process.stdout.readline()
        match = re.search(r"Open (\S+)\n.*password  (\S+)\n.*(tok_\w+)", printed, re.DOTALL)
        assert match, printed
        self.link, self.password, self.token = match.groups()
        shop = re.search(r"sample shop at (\S+)\n", printed)
        assert shop, printed
        self.shop = shop[1]

    def sign_in(self) -> str:
        """Sign its owner in, and return the value of the session's cookie."""
        client = self.client()
        ok(client.post("/session", json={"email": "demo@example.org", "password": self.password}))
        return client.cookies[self.cookie]
