"""Dispatch: the single entry point to operations, for every interface (docs/develop/architecture.md, "Dispatch").

Every call runs through the same steps: decode, transaction, actor, scope, budget, handler, event, commit, answer.
The actor is resolved inside the operation's transaction. So revocation, expiry and changed roles or limits apply
from the next call on, and there is no cache to invalidate.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any

import msgspec

from ticketbox.domain.core.access.policy import ANONYMOUS, Actor
from ticketbox.domain.core.normalization import normalize_texts
from ticketbox.domain.core.problems import (
    InvalidRequest,
    Problem,
    RateLimited,
)
from ticketbox.operations.core import idempotency
from ticketbox.operations.core.admission import Admission, BudgetDelay
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.faults import build_invalid_request, describe_fault, find_faults
from ticketbox.operations.core.idempotency import IdempotencyKey
from ticketbox.operations.core.live import listeners
from ticketbox.operations.core.live.listeners import EventBatch, collect_company_keys
from ticketbox.operations.core.live.waiting import wait_for_result
from ticketbox.operations.core.registry import Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Read, Write
from ticketbox.store.work import sessions


class Dispatcher:
    """Runs operations."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._admission = Admission(services)

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
            fair_share = self._admission.find_fair_share(context)
            answer = await idempotency.find_answer_to_invalid(
                self.services, fair_share, operation, arguments, actor, context
            )
            if answer is None:
                raise
            return answer
        actor = None if operation.prepare is None else await self.admit(operation, context)
        sent = msgspec.structs.asdict(arguments) if isinstance(arguments, msgspec.Struct) else arguments
        fair_share = self._admission.find_fair_share(context)
        key = await idempotency.read_key(self.services, fair_share, operation, sent)  # before its input is prepared
        prepared: tuple[Any, ...] = ()
        if operation.prepare is not None and actor is not None:
            prepared = (await operation.prepare(self.services, actor, args, context),)

        async def run(args: msgspec.Struct, is_repeated: bool = False) -> Any:
            context.has_waited |= is_repeated

            def work(tx: Read) -> Any:
                return self._perform(tx, operation, args, prepared, context, key)

            try:
                if operation.writes:
                    return await database.write(work)
                return await database.read(
                    work, inline=operation.inline, fair_share=self._admission.find_fair_share(context)
                )
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
            actor = self._admission.admit(tx, operation, context)
            self._admission.charge(actor, operation, context)
            return actor

        try:
            return await self.services.database.read(
                check, inline=True, fair_share=self._admission.find_fair_share(context)
            )
        except BudgetDelay as delay:
            await asyncio.sleep(delay.seconds)
        return await self.services.database.read(
            check, inline=True, fair_share=self._admission.find_fair_share(context)
        )

    def _perform(
        self,
        tx: Read,
        operation: Operation,
        args: msgspec.Struct,
        prepared: tuple[Any, ...],
        context: RequestContext,
        key: IdempotencyKey | None,
    ) -> Any:
        actor = self._admission.admit(tx, operation, context)
        meter = self._admission.charge(actor, operation, context)
        tx.ceilings = self.services.ceilings
        if isinstance(tx, Write):
            tx.origin = self.services.describe_origin(context)
        try:
            extra = (*prepared, meter) if operation.metered else prepared
            return idempotency.answer_once(
                tx, actor, operation, context, key, lambda: operation.handler(tx, actor, args, *extra)
            )
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
