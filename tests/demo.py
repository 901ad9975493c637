"""A running `ticketbox demo`, with the account and the token that it prints."""

import re
import sys

from tests.support.server import Box


class Demo(Box):
    """A running demo, and what it printed."""

    def command(self) -> list[str]:
        """What is started."""
        return [sys.executable, "-m", "ticketbox", "demo", "--db", str(self.db), "--port", "0", "--no-open"]

    def start(self) -> None:
        """Start it and read what it prints."""
        super().start()
        assert self.process.stdout is not None
        words = ""
        while "delete it when" not in words:
            words += self.process.stdout.readline()
        found = re.search(r"password  (\S+)\n.*(tok_\w+)", words, re.DOTALL)
        assert found, words
        self.password, self.token = found[1], found[2]
