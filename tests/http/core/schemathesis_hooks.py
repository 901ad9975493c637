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
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Come from elsewhere each time, so that the guesses among the requests don't add up.

    Not from `random`: Hypothesis seeds that.
    """
    address = ".".join(str(10 + secrets.randbelow(200)) for _ in range(4))
    case.headers = {**(case.headers or {}), "X-Forwarded-For": address}
