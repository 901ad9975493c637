"""The figures in Prometheus' text formats; imported when somebody asks for them."""

import typing
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from ticketbox import __version__
from ticketbox.http.metrics import Metrics
from ticketbox.operations.core.services import Services
from ticketbox.store.events import email_outbox, webhook_deliveries

Waiting = tuple[webhook_deliveries.WebhookBacklog, email_outbox.EmailBacklog]


def render(metrics: Metrics, services: Services, waiting: Waiting, accept: str) -> tuple[bytes, str]:
    """Every figure as text, with its media type, in the newest format that `accept` takes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(metrics, services, waiting))
    ProcessCollector(registry=registry)
    encode, kind = choose_encoder(accept)
    return typing.cast(Callable[[CollectorRegistry], bytes], encode)(registry), kind


class _Figures(Collector):
    """What passed the edge, and what the rooms know."""

    def __init__(self, metrics: Metrics, services: Services, waiting: Waiting) -> None:
        self._metrics = metrics
        self._services = services
        self._waiting = waiting

    def collect(self) -> Iterator[Metric]:
        """Every figure of ours."""
        yield InfoMetricFamily("ticketbox", "The version that runs.", {"version": __version__})
        requests = CounterMetricFamily(
            "ticketbox_http_requests", "Requests by surface, method and status.", None, ["surface", "method", "status"]
        )
        for (surface, method, status), count in sorted(self._metrics.requests.items()):
            requests.add_metric([surface, method, str(status)], count)
        yield requests
        took = HistogramMetricFamily(
            "ticketbox_http_request_seconds", "How long requests took, to the last byte.", labels=["surface"]
        )
        for surface, times in self._metrics.times.items():
            took.add_metric([surface], times.buckets(), times.total)
        yield took
        yield _counter("ticketbox_refusals", "Refused calls by the problem's code.", "code", self._metrics.refusals)
        limiter = self._services.limiter
        yield _counter("ticketbox_bucket_refusals", "Draws that found a bucket short, by its name.", "bucket",
                       limiter.refusals)  # fmt: skip
        yield GaugeMetricFamily("ticketbox_buckets", "Buckets that are kept.", len(limiter))
        yield from self._of_the_file()
        yield from self._of_the_outboxes()

    def _of_the_file(self) -> Iterator[Metric]:
        database = self._services.database
        yield GaugeMetricFamily("ticketbox_writer_queue", "Units of work that wait for the writer.", database.backlog)
        yield CounterMetricFamily("ticketbox_writes", "Units of work that the writer took.", database.written)
        yield CounterMetricFamily("ticketbox_commits", "Transactions that they shared.", database.commits)
        sizes = database.sizes()
        yield GaugeMetricFamily("ticketbox_database_bytes", "Size of the file.", sizes.file)
        yield GaugeMetricFamily("ticketbox_wal_bytes", "Size of its write-ahead log.", sizes.log)
        yield GaugeMetricFamily("ticketbox_disk_free_bytes", "Free room on the file's disk.", sizes.free)
        if (last := self._services.last_backup) is not None:
            yield GaugeMetricFamily("ticketbox_last_backup_timestamp_seconds", "When serve last made a backup.", last)

    def _of_the_outboxes(self) -> Iterator[Metric]:
        webhooks, mail = self._waiting
        now = self._services.database.clock.now()
        yield GaugeMetricFamily("ticketbox_deliveries_waiting", "Deliveries to webhooks that wait.", webhooks.pending)
        yield GaugeMetricFamily(
            "ticketbox_deliveries_oldest_seconds", "How long the oldest of them waits.", _age(webhooks.oldest, now)
        )
        yield GaugeMetricFamily("ticketbox_webhooks_disabled", "Webhooks that are disabled.", webhooks.disabled)
        yield GaugeMetricFamily("ticketbox_mails_waiting", "Mails that wait.", mail.pending)
        yield GaugeMetricFamily(
            "ticketbox_mails_oldest_seconds", "How long the oldest of them waits.", _age(mail.oldest, now)
        )
        yield _counter("ticketbox_mails", "Mails by what became of an attempt.", "outcome", self._services.mailed)


def _age(since: int | None, now: int) -> float:
    """Seconds since a moment in epoch milliseconds; 0 for none."""
    return 0.0 if since is None else max(0, now - since) / 1000


def _counter(name: str, words: str, label: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(name, words, None, [label])
    for key, count in sorted(counts.items()):
        family.add_metric([key], count)
    return family
