"""Hooks for the schemathesis command: each request comes from its own address and carries a credential.

The credentials are in the environment, one line each; sessions alternate, because each has a budget.
"""

import itertools
import os
import secrets
from typing import Any

import schemathesis

_kind = os.environ.get("FUZZING_KIND", "")
_turns = itertools.cycle(os.environ.get("FUZZING_CREDENTIALS", "").split())


@schemathesis.auth(refresh_interval=None)
class Credential:
    """A token in its header, or a session in its cookie."""

    def get(self, case: Any, context: Any) -> str:
        """The credential whose turn it is."""
        return next(_turns)

    def set(self, case: Any, data: str, context: Any) -> None:
        """Put it where it belongs."""
        if _kind == "token":
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}
        else:
            case.cookies = {**(case.cookies or {}), "ticketbox": data}


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Write the patterns of long texts so that they take little memory; they accept the same texts.

    Schemathesis folds the bounds of a length into the pattern: `^[^\\x00]*$` becomes `^[^\\x00]{0,100000}$`. Its regex
    engine needs 100 MB and 2 s to compile that, and each of the many validators that it caches does so again. It
    doesn't fold a pattern that ends with two anchors. The lengths are checked in either case.
    """
    _replace_patterns(raw_schema)


def _replace_patterns(node: Any) -> None:
    if isinstance(node, dict):
        pattern, longest = node.get("pattern"), node.get("maxLength")
        if isinstance(pattern, str) and isinstance(longest, int) and longest > 1_000:
            assert pattern.endswith("$")
            node["pattern"] = pattern + "$"
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            _replace_patterns(each)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Come from elsewhere each time, so that the guesses among the requests don't add up.

    Not from `random`: Hypothesis seeds that.
    """
    address = ".".join(str(10 + secrets.randbelow(200)) for _ in range(4))
    case.headers = {**(case.headers or {}), "X-Forwarded-For": address}
    _shorten_wait(case)


def _shorten_wait(case: Any) -> None:
    """Let a valid waiting call answer immediately; tests/http/events/test_waiting.py waits."""
    path = case.path if isinstance(case.path, str) else ""
    if path.endswith(("/events/wait", "/work/answer")):
        if isinstance(case.query, dict) and str(case.query.get("wait_seconds", 0)).isdecimal():
            case.query = {**case.query, "wait_seconds": 0}
    elif path.endswith("/claim-next"):
        wait = case.body.get("wait_seconds", 0) if isinstance(case.body, dict) else None
        if type(wait) is int and wait >= 0:
            case.body = {**case.body, "wait_seconds": 0}
