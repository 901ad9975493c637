"""Admission: who calls, whether they may, and what the call costs (docs/develop/architecture.md, "Dispatch")."""

from ticketbox.domain.core.access.policy import ANONYMOUS, Actor, Kind, require_access
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.fair_queue import FairShare
from ticketbox.domain.core.problems import InvalidToken, NotFound, Unauthorized
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.registry import Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors
from ticketbox.store.file.database import Read

MAX_FAIR_SHARES = 20_000


class BudgetDelay(Exception):
    """A call is charged and must wait for its budget, outside of its transaction."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the budget isn't there yet")
        self.seconds = seconds


class Admission:
    """Admits and charges calls, inside of their transactions."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._fair_shares: dict[bytes, FairShare] = {}

    def admit(self, tx: Read, operation: Operation, context: RequestContext) -> Actor:
        """Resolve the caller and check the scope. Raises Problem."""
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
        if actor is not None and self._services.is_idle(actor, tx.now):
            actor = None
        if actor is not None and actor.lacks_factor and not operation.without_factor:
            return self._refuse_without_factor(operation, context)
        if actor is not None and (actor.kind is Kind.SESSION) == context.cookie:
            if not (context.background or (operation.live and context.cookie)):
                self._services.credential_last_used[actor.credential] = tx.now
            if len(self._fair_shares) >= MAX_FAIR_SHARES:
                self._fair_shares.clear()
            self._fair_shares[context.secret_hash] = actor.fair_share
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

    def find_fair_share(self, context: RequestContext) -> FairShare:
        """Find whose turn a call needs, before its transaction: by an earlier call with the credential, if any."""
        if context.secret_hash is None:
            return 0, context.network
        return self._fair_shares.get(context.secret_hash, (0, context.secret_hash))

    def charge(self, actor: Actor, operation: Operation, context: RequestContext) -> Meter:
        """Charge a call, unless it was charged before. Raises RateLimited and BudgetDelay."""
        meter = Meter(self._services.limiter, self._services.ceilings, actor, operation.budget, context.level)
        if not context.charged:
            context.charged = True
            try:
                wait = meter.charge(patience=context.patience)
            finally:
                context.level = meter.level
            if wait:
                raise BudgetDelay(wait)
        return meter
