"""Metrics for Prometheus at `/metrics`: for this machine, or with a token (docs/operate/monitoring.md, "Metrics")."""

import asyncio
import typing
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

from litestar import Request, get
from litestar.handlers import HTTPRouteHandler
from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ticketbox import __version__
from ticketbox.domain.core.problems import Forbidden, Unauthorized
from ticketbox.edge.asgi import Scope, get_header
from ticketbox.edge.edge import CLIENT_GONE
from ticketbox.edge.responses import Answer
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import storage
from ticketbox.store.events import email_outbox, webhook_outbox
from ticketbox.store.file.database import Read
from ticketbox.store.git import git_deliveries

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
SURFACES = ("rest", "mcp", "pages")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
FORWARDED = (b"forwarded", b"x-real-ip", b"via")

disable_created_metrics()  # a `_created` sample for each label set doubles the answer


class Metrics:
    """Counts requests, and renders all metrics in Prometheus' text formats."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._registry = registry = CollectorRegistry(auto_describe=False)
        Info("ticketbox", "The running version.", registry=registry).info({"version": __version__})
        self._requests = Counter(
            "ticketbox_http_requests",
            "Requests by surface, method and status.",
            ["surface", "method", "status"],
            registry=registry,
        )
        self._children: dict[tuple[str, str, int], Counter] = {}
        seconds = Histogram(
            "ticketbox_http_request_seconds",
            "Duration of requests, to the last byte of the answer.",
            ["surface"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._seconds = {surface: seconds.labels(surface) for surface in SURFACES}
        self._refusals = Counter(
            "ticketbox_refusals", "Refused calls by the problem's code.", ["code"], registry=registry
        )
        self._state = _ServerState(services)
        registry.register(self._state)
        ProcessCollector(registry=registry)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request."""
        path: str = scope["path"]
        surface = "rest" if path.startswith("/api/") else "mcp" if path == "/mcp" else "pages"
        method = scope["method"]
        key = surface, method if method in METHODS else "other", status
        child = self._children.get(key)
        if child is None:  # looking a child up takes three times as long as counting
            child = self._children[key] = self._requests.labels(*key)
        child.inc()
        self._seconds[surface].observe(seconds)
        refusal = scope["context"].refusal
        if status < 400 and surface != "mcp":  # a page that calls an operation, and shows something without it
            return
        if refusal or 400 <= status < CLIENT_GONE:
            self._refusals.labels(refusal or "other").inc()

    async def render(self, accept: str) -> tuple[bytes, str]:
        """Render all metrics in the newest format that `accept` allows. Returns the text and its media type."""
        self._state.stored = await self._services.database.read(_load_figures)
        encode, media_type = choose_encoder(accept)
        text = await asyncio.to_thread(typing.cast(Callable[[CollectorRegistry], bytes], encode), self._registry)
        return text, media_type


class _StoredFigures(typing.NamedTuple):
    """The metrics that are read from the file."""

    webhooks: webhook_outbox.WebhookBacklog
    mail: email_outbox.EmailBacklog
    git: git_deliveries.GitBacklog
    contents: storage.StoredBytes


def _load_figures(tx: Read) -> _StoredFigures:
    return _StoredFigures(
        webhook_outbox.load_backlog(tx),
        email_outbox.load_backlog(tx),
        git_deliveries.load_backlog(tx),
        storage.summarize_stored_bytes(tx),
    )


class _ServerState(Collector):
    """Metrics of values that other parts of the server count."""

    stored: _StoredFigures | None = None

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """Read the current values."""
        limiter = self._services.limiter
        yield _build_counter(
            "ticketbox_bucket_refusals", "Calls over a rate limit, by its name.", "bucket", limiter.refusals
        )
        yield GaugeMetricFamily("ticketbox_buckets", "Buckets in memory.", len(limiter))
        yield GaugeMetricFamily(
            "ticketbox_waiting_calls", "Calls that wait for an event.", self._services.listeners.waiting
        )
        yield GaugeMetricFamily("ticketbox_event_streams", "Open event streams.", self._services.listeners.streams)
        yield from self._collect_queues()
        yield from self._collect_worker()
        yield from self._collect_database()
        yield _build_counter(
            "ticketbox_ceiling_refusals", "Calls refused by a ceiling, by its name.", "ceiling",
            self._services.ceilings.refusals,
        )  # fmt: skip
        if self.stored is not None:
            yield from self._collect_outboxes(self.stored)
            yield GaugeMetricFamily(
                "ticketbox_stored_bytes", "Captures and attachments of all companies.", self.stored.contents.total
            )
            yield GaugeMetricFamily(
                "ticketbox_largest_company_bytes",
                "Captures and attachments of the company that has most.",
                self.stored.contents.largest,
            )

    def _collect_queues(self) -> Iterator[Metric]:
        times = self._services.queue_times
        waiting = GaugeMetricFamily("ticketbox_queue_waiting", "Calls that wait in queues, by queue.", labels=["queue"])
        for queue in self._services.list_queues():
            waiting.add_metric([queue.name], queue.waiting)
        yield waiting
        waits = HistogramMetricFamily("ticketbox_queue_wait_seconds", "Waits in queues, by queue.", labels=["queue"])
        for queue, buckets, total in times.list_waits():
            waits.add_metric([queue], buckets, total)
        yield waits
        refusals = CounterMetricFamily(
            "ticketbox_queue_refusals", "Calls that queues refused, by queue and reason.", labels=["queue", "reason"]
        )
        for labels, count in sorted((times.refusals + self._services.listeners.refusals).items()):
            refusals.add_metric(labels, count)
        yield refusals

    def _collect_worker(self) -> Iterator[Metric]:
        workers = self._services.captures.process, self._services.rendering.process
        running = sum(each.is_running for each in workers)
        yield GaugeMetricFamily("ticketbox_workers", "Running worker processes.", running)
        calls = sum(each.calls for each in workers)
        yield CounterMetricFamily("ticketbox_worker_calls", "Calls of worker processes.", calls)
        seconds = sum(each.seconds for each in workers)
        yield CounterMetricFamily("ticketbox_worker_call_seconds", "Time that these calls took.", seconds)
        ends = sum((each.ends for each in workers), Tally[str]())
        yield _build_counter("ticketbox_worker_ends", "Worker processes that ended, by reason.", "reason", ends)

    def _collect_database(self) -> Iterator[Metric]:
        database = self._services.database
        yield GaugeMetricFamily("ticketbox_writer_queue", "Writes that wait for the writer.", database.backlog)
        yield CounterMetricFamily("ticketbox_writes", "Writes that the writer ran.", database.written)
        yield CounterMetricFamily("ticketbox_commits", "Transactions, each with one or more writes.", database.commits)
        yield _build_counter(
            "ticketbox_write_failures", "Writes that the file or its disk refused, by reason.", "reason",
            database.write_failures,
        )  # fmt: skip
        sizes = database.measure_sizes()
        yield GaugeMetricFamily("ticketbox_database_bytes", "Size of the database file.", sizes.file)
        yield GaugeMetricFamily("ticketbox_wal_bytes", "Size of its write-ahead log.", sizes.log)
        yield GaugeMetricFamily("ticketbox_disk_free_bytes", "Free space on the file's disk.", sizes.free)
        yield GaugeMetricFamily(
            "ticketbox_deletion_by_age",
            "1, or 0 while nothing is deleted by its age, because the clock may be wrong.",
            self._services.deletes_by_age,
        )
        yield from self._collect_backups()

    def _collect_backups(self) -> Iterator[Metric]:
        if (last := self._services.last_backup) is not None:
            yield GaugeMetricFamily(
                "ticketbox_last_backup_timestamp_seconds", "When the last backup was created.", last
            )
        if (failures := self._services.backup_failures) is not None:
            yield CounterMetricFamily("ticketbox_backup_failures", "Scheduled backups that failed.", failures)

    def _collect_outboxes(self, stored: _StoredFigures) -> Iterator[Metric]:
        webhooks, mail, git, _ = stored
        now = self._services.database.clock.now()
        yield GaugeMetricFamily("ticketbox_deliveries_waiting", "Webhook deliveries that wait.", webhooks.pending)
        yield GaugeMetricFamily(
            "ticketbox_deliveries_oldest_seconds",
            "Age of the oldest waiting delivery.",
            _get_age_seconds(webhooks.oldest, now),
        )
        yield GaugeMetricFamily("ticketbox_webhooks_disabled", "Disabled webhooks.", webhooks.disabled)
        yield GaugeMetricFamily("ticketbox_mails_waiting", "Emails that wait.", mail.pending)
        yield GaugeMetricFamily(
            "ticketbox_mails_oldest_seconds", "Age of the oldest waiting email.", _get_age_seconds(mail.oldest, now)
        )
        yield GaugeMetricFamily("ticketbox_git_deliveries_waiting", "Git deliveries that wait.", git.waiting)
        yield GaugeMetricFamily(
            "ticketbox_git_deliveries_oldest_seconds",
            "Age of the oldest waiting git delivery.",
            _get_age_seconds(git.oldest, now),
        )
        yield _build_counter(
            "ticketbox_mails", "Attempts to send email, by outcome.", "outcome", self._services.email_outcomes
        )


def _get_age_seconds(since: int | None, now: int) -> float:
    """Return the seconds since a time in epoch milliseconds; 0 for None."""
    return 0.0 if since is None else max(0, now - since) / 1000


def _build_counter(name: str, description: str, label: str, counts: Tally[str]) -> Metric:
    family = CounterMetricFamily(name, description, None, [label])
    for key, count in sorted(counts.items()):
        family.add_metric([key], count)
    return family


def build_route(registry: Registry, dispatcher: Dispatcher, metrics: Metrics) -> HTTPRouteHandler:
    """Create the route of `GET /metrics`."""

    @get("/metrics")
    async def show_metrics(request: Request[Any, Any, Any]) -> Answer:
        scope = typing.cast(Scope, request.scope)
        context: RequestContext = scope["context"]
        if context.secret_hash is not None and not context.cookie:  # a session may be that of a viewer of one project
            me = await dispatcher.dispatch(registry["get_me"], {}, context)
            if me.token is not None and me.token.company_id is not None:
                raise Forbidden("metrics describe the whole server; use a token without a restriction")
        elif not is_local(scope, context):
            raise Unauthorized("metrics require a token, except on the server's own machine")
        text, media_type = await metrics.render(get_header(scope, b"accept") or "")
        return Answer(200, text, media_type)

    return show_metrics


def is_local(scope: Scope, context: RequestContext) -> bool:
    """Whether the request comes from this machine, and not from a proxy on it."""
    if any(name in FORWARDED or name.startswith(b"x-forwarded-") for name, _ in scope["headers"]):
        return False
    try:
        return ip_address(context.address).is_loopback
    except ValueError:  # a unix socket
        return context.address == "local"
