"""One call of an operation, from the surface that received it to the answer."""

import msgspec

from ticketbox.domain.core.limits import BucketState
from ticketbox.domain.core.policy import Actor, Via


class RequestContext(msgspec.Struct):
    """One call of an operation, as a surface hands it over and reads it back.

    `secret_hash` is the credential as it travels (None: no credential); `cookie` says that a cookie carried it;
    `operator` marks the machine's own shell. `level` tells, after the call,
    what its budget holds; it is set for refusals too. `replayed` says that an Idempotency-Key brought
    back an earlier answer; `charged` that the call has drawn on its budget; `refusal` is the code of the
    problem that it ended in.
    """

    secret_hash: bytes | None = None
    via: Via = Via.REST
    address: str = ""
    operator: bool = False
    cookie: bool = False
    charged: bool = False
    user_agent: str = ""
    level: BucketState | None = None
    actor: Actor | None = None
    replayed: bool = False
    refusal: str = ""
