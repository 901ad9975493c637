"""The only road to an operation, for every surface (docs/develop/architecture.md, "Dispatch").

decode, transaction, actor, scope, budget, handler, event, commit, answer: in this order, whoever calls.
The actor is resolved inside the operation's own transaction, so revocation, expiry and changes of role or
limits hold from the next call on, and there is no cache to invalidate.
"""

import hashlib
import re
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec

from ticketbox.domain.core.policy import ANONYMOUS, Actor, Kind, require_access
from ticketbox.domain.core.problems import (
    Conflict,
    FieldError,
    InvalidRequest,
    InvalidToken,
    NotFound,
    Problem,
    Unauthorized,
)
from ticketbox.domain.core.scopes import Access
from ticketbox.operations.core import listeners
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.listeners import EventBatch, company_keys
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.registry import Body, Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials
from ticketbox.store.core import idempotency
from ticketbox.store.file.database import Read, Write


class IdempotencyMark(msgspec.Struct, frozen=True):
    """An Idempotency-Key, and the digest of the input that came with it."""

    key: str
    fingerprint: bytes


class Dispatcher:
    """Carries calls to their operations."""

    def __init__(self, services: Services) -> None:
        self.services = services

    async def dispatch(
        self,
        operation: Operation,
        arguments: Mapping[str, Any] | msgspec.Struct,
        context: RequestContext,
        *,
        lax: bool = False,
    ) -> Any:
        """Carry out one call and return the operation's answer.

        `arguments` is a map of what came in, or the operation's own Struct where a surface has built it.
        `lax` reads figures and booleans from text, for query parameters. Raises Problem for every
        refusal.
        """
        database = self.services.database
        try:
            args = (
                arguments if isinstance(arguments, msgspec.Struct) else decode_arguments(operation, arguments, lax=lax)
            )
        except InvalidRequest:
            await self.admit(operation, context)
            raise
        prepared: tuple[Any, ...] = ()
        if operation.prepare is not None:
            actor = await self.admit(operation, context)
            prepared = (await operation.prepare(self.services, actor, args, context),)
        mark = await self._mark(operation, args)
        if operation.writes:
            result = await database.write(lambda tx: self._perform(tx, operation, args, prepared, context, mark))
        else:
            brief = operation.brief(args)
            result = await database.read(
                lambda tx: self._perform(tx, operation, args, prepared, context, mark), brief=brief
            )
        if operation.finish is not None:
            result = await operation.finish(self.services, args, result)
        return result

    async def follow(
        self, operation: Operation, arguments: Mapping[str, Any], context: RequestContext, *, lax: bool = False
    ) -> AsyncGenerator[EventBatch]:
        """Carry out a call whose answer goes on: a batch whenever there is something new, an empty one now and then.

        Each batch is a dispatch of its own, so whatever changes about the caller holds from the next one on;
        the call draws on its budget once. It ends when the caller loses the credential or a company, and at
        the server's stop. Raises Problem for what is refused at the beginning.
        """
        actor = await self.admit(operation, context)
        args = decode_arguments(operation, arguments, lax=lax)
        with self.services.listeners.listening(actor) as listener:
            batch: EventBatch = await self.dispatch(operation, args, context)
            yield batch
            while True:
                woken = batch.more or await listener.wait(listeners.HEARTBEAT_SECONDS)
                if listener.ended:
                    return
                args = msgspec.structs.replace(args, after=batch.last, last_event=None)
                try:
                    batch = await self.dispatch(operation, args, context)
                except Problem:
                    return
                assert context.actor is not None
                companies = company_keys(context.actor)
                if listener.companies - companies:
                    return
                listener.companies = companies
                if batch.items or not woken:
                    yield batch

    async def admit(self, operation: Operation, context: RequestContext) -> Actor:
        """Refuse a call for who makes it, before its input is read or slow work begins. Raises Problem.

        This is where such a call is charged, bad input included; its transaction doesn't charge it again.
        """

        def ask(tx: Read) -> Actor:
            actor = self._admit(tx, operation, context)
            self._charge(actor, operation, context)
            return actor

        return await self.services.database.read(ask, brief=True)

    def _admit(self, tx: Read, operation: Operation, context: RequestContext) -> Actor:
        actor = ANONYMOUS
        if context.secret_hash is not None:
            found = credentials.resolve_actor(tx, context.secret_hash, context.via)
            if found is not None and (found.kind is Kind.SESSION) == context.cookie:
                actor = found
                self.services.used[actor.credential] = tx.now
            elif operation.scope is not Access.PUBLIC:
                raise Unauthorized("the session has ended; sign in again") if context.cookie else InvalidToken()
        context.actor = actor
        if operation.scope is Access.OPERATOR and not context.operator:
            raise NotFound("operation")
        require_access(actor, operation.scope)
        return actor

    def _charge(self, actor: Actor, operation: Operation, context: RequestContext) -> Meter:
        meter = Meter(self.services.limiter, actor, operation.budget, context.level)
        if not context.charged:
            context.charged = True
            try:
                meter.charge()
            finally:
                context.level = meter.level
        return meter

    async def _mark(self, operation: Operation, args: msgspec.Struct) -> IdempotencyMark | None:
        """The Idempotency-Key of a call with its input's fingerprint; whole files are hashed on a worker."""
        key: str | None = getattr(args, "idempotency_key", None)
        if key is None:
            return None
        if operation.body is Body.MULTIPART:
            return IdempotencyMark(key, await self.services.work(_fingerprint_input, operation, args))
        return IdempotencyMark(key, _fingerprint_input(operation, args))

    def _perform(
        self,
        tx: Read,
        operation: Operation,
        args: msgspec.Struct,
        prepared: tuple[Any, ...],
        context: RequestContext,
        mark: IdempotencyMark | None,
    ) -> Any:
        actor = self._admit(tx, operation, context)
        meter = self._charge(actor, operation, context)
        try:
            extra = (*prepared, meter) if operation.metered else prepared
            if mark is None:
                return operation.handler(tx, actor, args, *extra)
            assert isinstance(tx, Write)
            earlier = idempotency.find_answer(tx, actor.credential, mark.key)
            if earlier is None:
                result = operation.handler(tx, actor, args, *extra)
                idempotency.save_answer(tx, actor.credential, mark.key, mark.fingerprint, msgspec.json.encode(result))
                return result
            if earlier.fingerprint != mark.fingerprint:
                raise Conflict("this Idempotency-Key was used with another input")
            context.replayed = True
            return msgspec.json.decode(earlier.answer, type=operation.result)
        finally:
            context.level = meter.level


def decode_arguments(operation: Operation, arguments: Mapping[str, Any], *, lax: bool = False) -> msgspec.Struct:
    """Check what came in against the operation's arguments.

    Raises InvalidRequest that names the field.
    """
    try:
        return msgspec.convert(arguments, operation.arguments, strict=not lax)
    except msgspec.ValidationError as error:
        raise describe_fault(error) from None


def describe_fault(error: msgspec.ValidationError, within: str = "") -> InvalidRequest:
    """Turn msgspec's message into a problem that points at the field."""
    message, _, path = str(error).partition(" - at `")
    field = (within + path.removesuffix("`").removeprefix("$")).lstrip(".")
    for lead in ("Object contains unknown field `", "Object missing required field `"):
        if message.startswith(lead):
            name = message.removeprefix(lead).removesuffix("`")
            field = f"{field}.{name}" if field else name
            message = "unknown field" if "unknown" in lead else "required field is missing"
    message = _in_plain_words(message)
    return InvalidRequest(f"{field}: {message}" if field else message, FieldError(field, message))


_PLAIN = (
    (re.compile(r"expected `str` matching regex .*", re.DOTALL), "it has characters or a form that isn't taken here"),
    (re.compile(r"expected `(str|array)` of length >= (\d+)"), r"give at least \2"),
    (re.compile(r"expected `(str|array)` of length <= (\d+)"), r"give at most \2"),
    (re.compile(r"expected `(int|float)` >= (.+)"), r"give \2 or more"),
    (re.compile(r"expected `(int|float)` <= (.+)"), r"give \2 or less"),
)


def _in_plain_words(message: str) -> str:
    """msgspec's words for a person who has never heard of it."""
    message = message[:1].lower() + message[1:]
    for pattern, words in _PLAIN:
        if pattern.fullmatch(message):
            return pattern.sub(words, message)
    return message


def _fingerprint_input(operation: Operation, args: msgspec.Struct) -> bytes:
    asked = msgspec.structs.asdict(args)
    asked.pop("idempotency_key")
    return hashlib.sha256(msgspec.json.encode([operation.name, asked], order="deterministic")).digest()
