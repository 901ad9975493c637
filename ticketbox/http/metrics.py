"""Figures for Prometheus at `/metrics`: for this machine, or with a token (docs/operate/monitoring.md, "Metrics").

What every request adds is kept in plain dictionaries on the event loop's own thread, which costs less than
the client library's locked ones. The library renders them, and is loaded, when somebody asks.
"""

import typing
from bisect import bisect_left
from collections import Counter
from ipaddress import ip_address
from typing import Any

from litestar import Request, get
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.problems import Forbidden, Unauthorized
from ticketbox.edge.asgi import Scope, header
from ticketbox.edge.responses import Answer
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.store.events import email_outbox, webhook_deliveries

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via")


class Times:
    """How long requests took, by the bound that each stayed under; seconds."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def buckets(self) -> list[tuple[str, int]]:
        """Cumulative, as Prometheus wants them."""
        seen, found = 0, list[tuple[str, int]]()
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            seen += count
            found.append((bound, seen))
        return found


class Metrics:
    """Counts what passes the edge: requests by surface, method and status, their times, refusals by code."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.times = {surface: Times() for surface in ("rest", "mcp", "pages")}
        self.refusals: Counter[str] = Counter()

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request; runs on the event loop's thread."""
        path: str = scope["path"]
        surface = "rest" if path.startswith("/api/") else "mcp" if path == "/mcp" else "pages"
        method = scope["method"]
        self.requests[surface, method if method in METHODS else "other", status] += 1
        times = self.times[surface]
        times.counts[bisect_left(BOUNDS, seconds)] += 1
        times.total += seconds
        if refusal := scope["call"].refusal:
            self.refusals[refusal] += 1


def route(registry: Registry, dispatcher: Dispatcher, metrics: Metrics) -> HTTPRouteHandler:
    """`GET /metrics`."""

    @get("/metrics")
    async def handle(request: Request[Any, Any, Any]) -> Answer:
        scope = typing.cast(Scope, request.scope)
        call: RequestContext = scope["call"]
        if call.secret_hash is not None:
            me = await dispatcher.dispatch(registry["get_me"], {}, call)
            if me.token is not None and me.token.company_id is not None:
                raise Forbidden("these figures are the whole server's; use a token without a restriction")
        elif not is_local(scope, call):
            raise Unauthorized("these figures are for this machine; from elsewhere, send a token")
        from ticketbox.http.exposition import render

        services = dispatcher.services
        waiting = await services.read(lambda tx: (webhook_deliveries.load_backlog(tx), email_outbox.load_backlog(tx)))
        text, kind = await services.work(render, metrics, services, waiting, header(scope, b"accept") or "")
        return Answer(200, text, kind)

    return handle


def is_local(scope: Scope, call: RequestContext) -> bool:
    """Whether somebody on this machine asks, and no proxy for somebody else."""
    if any(header(scope, name) is not None for name in FORWARDED):
        return False
    try:
        return ip_address(call.address).is_loopback
    except ValueError:  # a unix socket
        return call.address == "local"
