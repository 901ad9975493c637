"""The order in which companies and their webhooks get their turns, without any receiver."""

import sys
from collections import Counter
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor

from ticketbox.domain.events.delivery_turns import WEBHOOK_LIMIT, DeliveryTurns

Delivery = tuple[int, int, int]


class Backlog:
    """Companies that always have due deliveries: `webhooks` of each, numbered from its company's number times 100."""

    def __init__(self, companies: int, webhooks: int) -> None:
        self.due = [(company * 100 + each, company) for company in range(companies) for each in range(webhooks)]
        self.turns = DeliveryTurns(20)
        self.running: list[Delivery] = []
        self.started: Counter[int] = Counter()
        self._keys = 0

    def start(self) -> list[Delivery]:
        """Start what may start."""

        def load(webhook: int, in_flight: Set[int], most: int) -> list[Delivery]:
            self._keys += most
            return [(webhook // 100, webhook, self._keys - each) for each in range(most)]

        chosen = self.turns.choose(self.due, load)
        for each in chosen:
            self.turns.begin(*each)
            self.started[each[0]] += 1
        self.running += chosen
        return chosen

    def end(self, count: int) -> None:
        """End the oldest ones."""
        for _, webhook, key in self.running[:count]:
            self.turns.end(webhook, key)
        del self.running[:count]


def test_company_has_a_quarter_and_a_webhook_four() -> None:
    assert len(Backlog(1, 20).start()) == 5
    assert len(Backlog(1, 1).start()) == WEBHOOK_LIMIT
    backlog = Backlog(9, 9)
    assert len(backlog.start()) == 20
    assert max(backlog.started.values()) - min(backlog.started.values()) <= 1


def test_more_companies_than_slots_get_equally_many_turns() -> None:
    backlog = Backlog(50, 2)
    for _ in range(500):
        backlog.start()
        assert len(backlog.running) == 20
        backlog.end(1)
    assert set(backlog.started) == set(range(50))
    assert max(backlog.started.values()) - min(backlog.started.values()) <= 1


def test_new_company_has_the_next_free_slot() -> None:
    backlog = Backlog(8, 20)
    backlog.start()
    backlog.due.append((9900, 99))
    assert backlog.start() == []
    backlog.end(1)
    assert [company for company, *_ in backlog.start()] == [99]


def test_deliveries_end_while_a_thread_chooses() -> None:
    turns = DeliveryTurns(1_000)
    for webhook in range(300):
        turns.begin(webhook % 7, webhook, 1)

    def end_and_begin() -> None:
        for _ in range(20):
            for webhook in range(300):
                turns.end(webhook, 1)
                turns.begin(webhook % 7, webhook, 1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as pool:
            changes = pool.submit(end_and_begin)
            while not changes.done():
                assert turns.choose([(1, 1)], lambda webhook, in_flight, most: []) == []
            changes.result()
    finally:
        sys.setswitchinterval(interval)
