"""Whose webhook deliveries are sent next (docs/use/webhooks.md): companies in turns, so that none waits for another."""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Set
from typing import TypeVar

T = TypeVar("T")

DEFAULT_DELIVERIES = 20
WEBHOOK_LIMIT = 4


class DeliveryTurns:
    """Deliveries in flight, and the order of the next ones.

    The turn is the company's that has the fewest in flight; among equals, the one's whose turn was longest ago. The
    webhooks of a company take turns in the same way. A company has at most a quarter of all deliveries.
    """

    def __init__(self, most: int = DEFAULT_DELIVERIES) -> None:
        self._most = most
        self._most_of_company = max(1, most // 4)
        # Of each webhook its company and its deliveries. Replaced, never changed: a reader's thread may look at it.
        self._running: dict[int, tuple[int, frozenset[int]]] = {}
        self._last_turns: Counter[tuple[str, int]] = Counter()
        self._turn = 0

    def begin(self, company: int, webhook: int, key: int) -> None:
        """Count a delivery as in flight."""
        self._running = {**self._running, webhook: (company, self._get_running(webhook) | {key})}

    def end(self, webhook: int, key: int) -> None:
        """Count a delivery as done."""
        company, keys = self._running[webhook]
        others = {each: running for each, running in self._running.items() if each != webhook}
        self._running = {**others, webhook: (company, keys - {key})} if len(keys) > 1 else others

    def _get_running(self, webhook: int) -> frozenset[int]:
        running = self._running.get(webhook)
        return running[1] if running else frozenset()

    def choose(self, due: Iterable[tuple[int, int]], load: Callable[[int, Set[int], int], list[T]]) -> list[T]:
        """Return what may start now.

        `due` are webhooks with due deliveries, each with its company. `load` returns up to so many of a webhook's
        deliveries, without those in flight.
        """
        webhooks_of: dict[int, list[int]] = {}
        for webhook, company in due:
            webhooks_of.setdefault(company, []).append(webhook)
        in_flight = Counter[int]()
        for company, keys in self._running.values():
            in_flight[company] += len(keys)
        queues = {company: self._queue_webhooks(webhooks) for company, webhooks in webhooks_of.items()}
        turns = [(in_flight[company], self._last_turns["company", company], company) for company in queues]
        heapq.heapify(turns)
        free = self._most - in_flight.total()
        loaded: dict[int, deque[T]] = {}
        chosen: list[T] = []
        while turns and len(chosen) < free:
            count, _, company = heapq.heappop(turns)
            if count < self._most_of_company and (item := self._take(queues[company], loaded, load)) is not None:
                chosen.append(item)
                self._turn += 1
                self._last_turns["company", company] = self._turn
                heapq.heappush(turns, (count + 1, self._turn, company))
        return chosen

    def _queue_webhooks(self, webhooks: list[int]) -> deque[int]:
        return deque(
            sorted(webhooks, key=lambda each: (len(self._get_running(each)), self._last_turns["webhook", each]))
        )

    def _take(
        self, queue: deque[int], loaded: dict[int, deque[T]], load: Callable[[int, Set[int], int], list[T]]
    ) -> T | None:
        """Take a delivery of a company's next webhook that has one."""
        while queue:
            webhook = queue.popleft()
            if webhook not in loaded:
                running = self._get_running(webhook)
                free = WEBHOOK_LIMIT - len(running)
                loaded[webhook] = deque(load(webhook, running, free) if free > 0 else ())
            if loaded[webhook]:
                queue.append(webhook)
                self._last_turns["webhook", webhook] = self._turn + 1
                return loaded[webhook].popleft()
        return None
