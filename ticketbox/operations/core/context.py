"""The context of one call of an operation."""

from collections.abc import Callable, Coroutine

import msgspec

from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.fairness.limits import BucketState
from ticketbox.domain.core.network.client_networks import get_client_network


class RequestContext(msgspec.Struct):
    """A call as its interface describes it, and what dispatch reports about it.

    Input: `secret_hash` is the hash of the credential (None: no credential), `cookie` says that it came in a cookie,
    and `operator` that the call comes from the server's command line. `wait_for_disconnect` returns when the client
    has disconnected; it can be called once the request's body is read. `call_id` is the id with which the client can
    cancel the call while it waits. `patience` is for
    how many seconds the call may wait for its budget. `device_hash` is the hash of the secret in the device's cookie.
    `background` says that no person caused the call. `origin` is the page's origin, if a browser sends it.
    Output: `level` is the state of the caller's budget after the call, also after an error; `replayed` says that an
    Idempotency-Key returned the stored answer; `charged` that the call was counted against the budget; `has_waited`
    that it found nothing at first, and waited; `refusal` is
    the error code, if the call failed; `credential_ended` that the credential was valid before it expired or was
    revoked; `readable_from` the origin whose pages may read the answer, besides this site's own (CORS).
    """

    secret_hash: bytes | None = None
    via: Via = Via.REST
    address: str = ""
    operator: bool = False
    patience: float = 0.0
    cookie: bool = False
    charged: bool = False
    user_agent: str = ""
    device_hash: bytes | None = None
    origin: str | None = None
    background: bool = False
    level: BucketState | None = None
    actor: Actor | None = None
    replayed: bool = False
    has_waited: bool = False
    readable_from: str | None = None
    refusal: str = ""
    credential_ended: bool = False
    wait_for_disconnect: Callable[[], Coroutine[None, None, None]] | None = None
    call_id: int | str | None = None

    @property
    def network(self) -> str:
        """The network that the client controls, which limits count: an IPv6 /64, or one IPv4 address."""
        return get_client_network(self.address)
