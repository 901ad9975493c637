"""Idempotency-Keys: a repeated call gets the stored answer (docs/develop/architecture.md, "Dispatch")."""

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.fairness.fair_queue import FairShare
from ticketbox.domain.core.problems import Conflict
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.registry import Body, Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.core import idempotency
from ticketbox.store.file.database import Read, Write


class IdempotencyKey(msgspec.Struct, frozen=True):
    """An Idempotency-Key, and the digest of the input as it was sent: another version has other fields."""

    key: str
    fingerprint: bytes


async def read_key(
    services: Services, fair_share: FairShare, operation: Operation, sent: Mapping[str, Any]
) -> IdempotencyKey | None:
    """Return a call's Idempotency-Key and the fingerprint of its input; uploads are hashed on a worker thread."""
    key: str | None = sent.get("idempotency_key") if operation.accepts_idempotency_key else None
    if key is None or operation.secret:
        return None
    if operation.body is Body.MULTIPART:
        return IdempotencyKey(key, await services.small_captures.run(fair_share, _fingerprint_input, operation, sent))
    return IdempotencyKey(key, _fingerprint_input(operation, sent))


def answer_once(
    tx: Read, actor: Actor, operation: Operation, context: RequestContext, key: IdempotencyKey | None,
    handle: Callable[[], Any],
) -> Any:  # fmt: skip
    """Return the answer stored under a key; else that of `handle`, and store it. Raises Conflict for other input."""
    if key is None:
        return handle()
    assert isinstance(tx, Write)
    earlier = idempotency.find_answer(tx, actor.credential, key.key)
    if earlier is None:
        result = handle()
        idempotency.save_answer(tx, actor.credential, key.key, key.fingerprint, msgspec.json.encode(result))
        return result
    if earlier.fingerprint != key.fingerprint:
        raise Conflict("this Idempotency-Key was already used with different input; use a new key")
    context.replayed = True
    return _decode_answer(operation, earlier.answer)


async def find_answer_to_invalid(
    services: Services,
    fair_share: FairShare,
    operation: Operation,
    sent: Mapping[str, Any] | msgspec.Struct,
    actor: Actor,
    context: RequestContext,
) -> Any:
    """Find the stored answer to a call that an earlier version accepted and this one doesn't; None if none is."""
    if isinstance(sent, msgspec.Struct) or not operation.accepts_idempotency_key or operation.secret:
        return None
    key = sent.get("idempotency_key")
    if not isinstance(key, str):
        return None
    earlier = await services.database.read(
        lambda tx: idempotency.find_answer(tx, actor.credential, key), fair_share=fair_share
    )
    if earlier is None or earlier.fingerprint != _fingerprint_input(operation, sent):
        return None
    context.replayed = True
    return _decode_answer(operation, earlier.answer)


def _fingerprint_input(operation: Operation, sent: Mapping[str, Any]) -> bytes:
    """Hash what was sent. A default counts as not sent, so fields that this version added change nothing."""
    defaults = _list_defaults(operation.arguments)
    fields = {name: value for name, value in sent.items() if name not in defaults or value != defaults[name]}
    fields.pop("idempotency_key", None)
    return hashlib.sha256(msgspec.json.encode([operation.name, fields], order="deterministic")).digest()


@functools.cache
def _list_defaults(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """List the optional fields with their defaults."""
    return {
        field.encode_name: field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        for field in msgspec.structs.fields(arguments)
        if not field.required
    }


def _decode_answer(operation: Operation, answer: bytes) -> Any:
    """Decode a stored answer. One of another version, with other fields, stays what the caller would have received."""
    try:
        return msgspec.json.decode(answer, type=operation.result)
    except msgspec.ValidationError:
        return msgspec.json.decode(answer)
