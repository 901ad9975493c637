"""Dispatch: the single entry point to operations, for every interface (docs/develop/architecture.md, "Dispatch").

Every call runs through the same steps: decode, transaction, actor, scope, budget, handler, event, commit, answer.
The actor is resolved inside the operation's transaction. So revocation, expiry and changed roles or limits apply
from the next call on, and there is no cache to invalidate.
"""

import asyncio
import functools
import hashlib
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any, TypeVar

import msgspec

from ticketbox.domain.core.access.policy import ANONYMOUS, Actor, Kind, require_access
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.fair_queue import Share
from ticketbox.domain.core.normalization import normalize_texts
from ticketbox.domain.core.problems import (
    Conflict,
    InvalidRequest,
    InvalidToken,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
)
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.faults import build_invalid_request, describe_fault, find_faults
from ticketbox.operations.core.live import listeners
from ticketbox.operations.core.live.listeners import EventBatch, collect_company_keys
from ticketbox.operations.core.live.waiting import wait_for_result
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.registry import Body, Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors
from ticketbox.store.core import idempotency
from ticketbox.store.file.database import Read, Write
from ticketbox.store.work import sessions

T = TypeVar("T")

MAX_SHARES = 20_000


class IdempotencyMark(msgspec.Struct, frozen=True):
    """An Idempotency-Key, and the digest of the input as it was sent: another version knows other fields."""

    key: str
    fingerprint: bytes


class BudgetDelay(Exception):
    """A call is charged and must wait for its budget, outside of its transaction."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the budget isn't there yet")
        self.seconds = seconds


class Dispatcher:
    """Runs operations."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._shares: dict[bytes, Share] = {}

    async def dispatch(
        self,
        operation: Operation,
        arguments: Mapping[str, Any] | msgspec.Struct,
        context: RequestContext,
        *,
        lax: bool = False,
    ) -> Any:
        """Run an operation and return its result.

        `arguments` is a mapping as received, or the operation's Struct if the caller has built it.
        `lax` converts numbers and booleans from text, for query parameters. Raises Problem for every error, and notes
        its code in the context, because pages, OAuth and MCP answer some problems in another form.
        """
        try:
            return await self._run(operation, arguments, context, lax=lax)
        except Problem as problem:
            self._note_refusal(problem, context)
            raise
        finally:
            await self._confirm_claims(arguments, context)

    async def _confirm_claims(self, arguments: Mapping[str, Any] | msgspec.Struct, context: RequestContext) -> None:
        """Let the provisional claims that a call is about last as long as was asked for: their caller is there.

        A call that waited dispatches others for its own answer, which nobody may receive.
        """
        if context.actor is None or context.has_waited or not self.services.provisional_claims:
            return
        given = msgspec.structs.asdict(arguments) if isinstance(arguments, msgspec.Struct) else arguments
        for claim in self.services.provisional_claims.take(context.actor.credential, given):
            await self.services.database.write(
                partial(sessions.confirm_claim, session_id=claim.session_id, until=claim.until)
            )

    async def guard(self, operation: Operation, path: dict[str, Any], context: RequestContext) -> None:
        """Refuse a call before its body is read, if the operation has a guard. Raises and notes as `dispatch` does."""
        if operation.guard is None:
            return
        try:
            await operation.guard(self.services, path, context)
        except Problem as problem:
            self._note_refusal(problem, context)
            raise

    def _note_refusal(self, problem: Problem, context: RequestContext) -> None:
        context.refusal = problem.code
        if isinstance(problem, RateLimited) and problem.limit is not None:
            self.services.limiter.refusals[problem.limit] += 1

    async def _run(
        self,
        operation: Operation,
        arguments: Mapping[str, Any] | msgspec.Struct,
        context: RequestContext,
        *,
        lax: bool,
    ) -> Any:
        database = self.services.database
        try:
            args = (
                arguments if isinstance(arguments, msgspec.Struct) else decode_arguments(operation, arguments, lax=lax)
            )
        except InvalidRequest:
            actor = await self.admit(operation, context)
            if (answer := await self._find_answer_to_invalid(operation, arguments, actor, context)) is not None:
                return answer
            raise
        actor = None if operation.prepare is None else await self.admit(operation, context)
        sent = msgspec.structs.asdict(arguments) if isinstance(arguments, msgspec.Struct) else arguments
        mark = await self._read_idempotency_mark(operation, sent, context)  # before its input is prepared
        prepared: tuple[Any, ...] = ()
        if operation.prepare is not None and actor is not None:
            prepared = (await operation.prepare(self.services, actor, args, context),)

        async def run(args: msgspec.Struct, is_repeated: bool = False) -> Any:
            context.has_waited |= is_repeated

            def work(tx: Read) -> Any:
                return self._perform(tx, operation, args, prepared, context, mark)

            try:
                if operation.writes:
                    return await database.write(work)
                return await database.read(work, inline=operation.inline, share=self._find_share(context))
            except BudgetDelay as delay:
                await asyncio.sleep(delay.seconds)
            return await run(args, is_repeated)

        if operation.waits:
            result = await wait_for_result(run, args, context, self.services.listeners)
        else:
            result = await run(args)
        if operation.finish is not None:
            result = await operation.finish(self.services, context.actor or ANONYMOUS, args, result)
        return result

    async def follow(
        self, operation: Operation, arguments: Mapping[str, Any], context: RequestContext, *, lax: bool = False
    ) -> AsyncGenerator[EventBatch]:
        """Run a live operation: yield a batch when there is something new, and an empty one as a heartbeat.

        Each batch is dispatched separately, so changes to the caller's access apply from the next batch on. The call
        is charged once. The stream ends when the caller loses the credential or access to a company, and when the
        server stops. Raises Problem if the first dispatch fails.
        """
        actor = await self.admit(operation, context)
        args = decode_arguments(operation, arguments, lax=lax)
        with self.services.listeners.listen(actor, getattr(args, "stream", None)) as listener:
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
                companies = collect_company_keys(context.actor)
                if listener.companies - companies:
                    return
                listener.companies = companies
                viewed = listener.take_viewed()
                if batch.items or viewed or not woken:
                    yield msgspec.structs.replace(batch, viewed=viewed)

    async def admit(self, operation: Operation, context: RequestContext) -> Actor:
        """Check the caller's access and charge the call before slow work begins. Raises Problem.

        Calls with invalid input are charged too. The transaction doesn't charge the call again.
        """

        def check(tx: Read) -> Actor:
            actor = self._admit(tx, operation, context)
            self._charge(actor, operation, context)
            return actor

        try:
            return await self.services.database.read(check, inline=True, share=self._find_share(context))
        except BudgetDelay as delay:
            await asyncio.sleep(delay.seconds)
        return await self.services.database.read(check, inline=True, share=self._find_share(context))

    def _admit(self, tx: Read, operation: Operation, context: RequestContext) -> Actor:
        try:
            actor = context.actor = self._resolve_actor(tx, operation, context)
            if operation.scope is Access.OPERATOR and not context.operator:
                raise NotFound("operation")
            require_access(actor, operation.scope)
        except Unauthorized as problem:
            if isinstance(operation.scope, Scope):
                problem.scope = operation.scope.value
            raise
        return actor

    def _resolve_actor(self, tx: Read, operation: Operation, context: RequestContext) -> Actor:
        if context.secret_hash is None:
            return ANONYMOUS
        actor = actors.resolve_actor(tx, context.secret_hash, context.via)
        if actor is not None and self.services.is_idle(actor, tx.now):
            actor = None
        if actor is not None and actor.lacks_factor and not operation.without_factor:
            return self._refuse_without_factor(operation, context)
        if actor is not None and (actor.kind is Kind.SESSION) == context.cookie:
            if not (context.background or (operation.live and context.cookie)):
                self.services.credential_last_used[actor.credential] = tx.now
            if len(self._shares) >= MAX_SHARES:
                self._shares.clear()
            self._shares[context.secret_hash] = actor.share
            return actor
        if operation.scope is Access.PUBLIC:
            return ANONYMOUS
        context.credential_ended = actors.has_ended(tx, context.secret_hash)
        raise Unauthorized("the session has ended; sign in again") if context.cookie else InvalidToken()

    def _refuse_without_factor(self, operation: Operation, context: RequestContext) -> Actor:
        """Treat a session of somebody whose company requires a second factor as if it weren't one."""
        if operation.scope is Access.PUBLIC:
            return ANONYMOUS
        context.credential_ended = True  # no guess, so it doesn't count as a bad credential
        raise Unauthorized("a company of yours requires a second factor; sign in again to set it up")

    def _find_share(self, context: RequestContext) -> Share:
        """Find whose turn a call needs, before its transaction: by an earlier call with the credential, if any."""
        if context.secret_hash is None:
            return 0, context.network
        return self._shares.get(context.secret_hash, (0, context.secret_hash))

    def _charge(self, actor: Actor, operation: Operation, context: RequestContext) -> Meter:
        meter = Meter(self.services.limiter, self.services.ceilings, actor, operation.budget, context.level)
        if not context.charged:
            context.charged = True
            try:
                wait = meter.charge(patience=context.patience)
            finally:
                context.level = meter.level
            if wait:
                raise BudgetDelay(wait)
        return meter

    async def _read_idempotency_mark(
        self, operation: Operation, sent: Mapping[str, Any], context: RequestContext
    ) -> IdempotencyMark | None:
        """Return a call's Idempotency-Key and the fingerprint of its input; uploads are hashed on a worker thread."""
        key: str | None = sent.get("idempotency_key") if operation.accepts_idempotency_key else None
        if key is None or operation.secret:
            return None
        if operation.body is Body.MULTIPART:
            share = self._find_share(context)
            return IdempotencyMark(
                key, await self.services.small_captures.run(share, _fingerprint_input, operation, sent)
            )
        return IdempotencyMark(key, _fingerprint_input(operation, sent))

    async def _find_answer_to_invalid(
        self, operation: Operation, sent: Mapping[str, Any] | msgspec.Struct, actor: Actor, context: RequestContext
    ) -> Any:
        """Find the stored answer to a call that an earlier version accepted and this one doesn't; None if none is."""
        if isinstance(sent, msgspec.Struct) or not operation.accepts_idempotency_key or operation.secret:
            return None
        key = sent.get("idempotency_key")
        if not isinstance(key, str):
            return None
        earlier = await self.services.database.read(
            lambda tx: idempotency.find_answer(tx, actor.credential, key), share=self._find_share(context)
        )
        if earlier is None or earlier.fingerprint != _fingerprint_input(operation, sent):
            return None
        context.replayed = True
        return _decode_answer(operation, earlier.answer)

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
        tx.ceilings = self.services.ceilings
        if isinstance(tx, Write):
            tx.origin = self.services.describe_origin(context)
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
                raise Conflict("this Idempotency-Key was already used with different input; use a new key")
            context.replayed = True
            return _decode_answer(operation, earlier.answer)
        finally:
            context.level = meter.level


def decode_arguments(operation: Operation, arguments: Mapping[str, Any], *, lax: bool = False) -> msgspec.Struct:
    """Validate input against the operation's arguments, with all texts normalised.

    Raises InvalidRequest with the names of all wrong fields.
    """
    arguments = normalize_texts(arguments)
    try:
        return msgspec.convert(arguments, operation.arguments, strict=not lax)
    except msgspec.ValidationError as error:
        faults = find_faults(operation.arguments, arguments, lax=lax) or [describe_fault(error)]
        raise build_invalid_request(faults) from None


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
