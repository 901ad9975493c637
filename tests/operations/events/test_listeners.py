"""When a listener wakes, how often it reads, and how a waiting call runs again."""

import asyncio
import contextlib

import msgspec
import pytest

from ticketbox.domain.core.access.policy import ANONYMOUS, Actor, Membership
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.problems import RateLimited, Unavailable
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.live import waiting
from ticketbox.operations.core.live.listeners import PAUSE_FOR_EACH, PAUSE_SECONDS, Listener, Listeners, Subscription
from ticketbox.operations.core.live.waiting import NothingYet, wait_for_result
from ticketbox.store.file.database import CommittedEvent


def create_actor(user: int, credential: int, company: int) -> Actor:
    """A member of a company, with one of their tokens."""
    membership = Membership(company, f"co_{company}", "Company", Role.MEMBER, None, None, True)
    return msgspec.structs.replace(ANONYMOUS, user=user, credential=credential, memberships=(membership,))


def test_first_event_is_read_immediately_and_following_ones_in_batches() -> None:
    async def listen() -> None:
        listener, now = Listener(ANONYMOUS), asyncio.get_running_loop().time
        listener.wake()
        started, readings = now(), 0
        while readings < 2 or now() - started < 5 * PAUSE_SECONDS:
            assert await listener.wait(5)
            readings += 1
            for _ in range(20):
                listener.wake()
                await asyncio.sleep(0)
        assert 2 <= readings <= (now() - started) / PAUSE_SECONDS + 1
        assert await listener.wait(5), "what came during the pause was forgotten"
        assert not await listener.wait(PAUSE_SECONDS * 2), "one event was read twice"

    asyncio.run(listen())


def test_end_does_not_wait_for_the_pause() -> None:
    async def listen() -> None:
        listener = Listener(ANONYMOUS)
        listener.wake()
        assert await listener.wait(5)
        listener.end()
        waiting = asyncio.create_task(listener.wait(5))
        for _ in range(5):
            await asyncio.sleep(0)
        assert waiting.done()
        assert listener.ended

    asyncio.run(listen())


def test_many_listeners_pause_longer() -> None:
    async def listen() -> list[float]:
        now, listeners = asyncio.get_running_loop().time, Listeners(100_000)
        with contextlib.ExitStack() as stack:
            actors = [msgspec.structs.replace(ANONYMOUS, credential=number, user=number) for number in range(300)]
            first, *_ = [stack.enter_context(listeners.listen(actor)) for actor in actors]
            times: list[float] = []
            for _ in range(2):
                first.wake()
                assert await first.wait(5)
                times.append(now())
            return times

    first, second = asyncio.run(listen())
    assert second - first >= 300 * PAUSE_FOR_EACH


def test_interest_selects_events_about_tickets_by_type_project_and_ticket() -> None:
    def event(type_: str, project: int | None, ticket: int | None) -> CommittedEvent:
        return CommittedEvent(1, type_, 1, project, ticket, None)

    moved = Subscription(frozenset({"ticket.moved"}), project=7)
    assert moved.includes(event("ticket.moved", 7, 1))
    assert not moved.includes(event("ticket.moved", 8, 1))
    assert not moved.includes(event("ticket.created", 7, 1))
    assert moved.includes(event("member.removed", None, None)), "it can change the caller's access"
    assert Subscription().includes(event("ticket.created", 8, 1))
    answered = Subscription(ticket=1)
    assert answered.includes(event("ticket.question_answered", 8, 1)), "the ticket may have moved"
    assert not answered.includes(event("ticket.question_answered", 8, 2))


def test_event_between_a_run_and_the_wait_is_not_missed() -> None:
    async def call() -> str:
        opened, runs = Listeners(), 0

        async def run(_: msgspec.Struct, is_repeated: bool) -> str:
            nonlocal runs
            runs += 1
            if not is_repeated:
                opened.publish([CommittedEvent(1, "ticket.created", 1, 1, 1, None)])
                raise NothingYet("nothing")
            return "found"

        async with asyncio.timeout(10):
            return await wait_for_result(run, Waiting(50), RequestContext(actor=ANONYMOUS), opened)

    assert asyncio.run(call()) == "found"


def test_handler_continues_with_the_changed_arguments() -> None:
    async def call() -> list[int]:
        opened, positions = Listeners(), list[int]()

        async def run(args: msgspec.Struct, _: bool) -> str:
            assert isinstance(args, Waiting)
            positions.append(args.after)
            if len(positions) == 3:
                return "found"
            opened.publish([CommittedEvent(1, "member.joined", None, None, None, None)])
            raise NothingYet("nothing", after=args.after + 10)

        await wait_for_result(run, Waiting(50), RequestContext(actor=ANONYMOUS), opened)
        return positions

    assert asyncio.run(call()) == [0, 10, 20]


def test_wait_is_never_longer_than_the_longest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def call() -> str:
        async def run(_: msgspec.Struct, __: bool) -> str:
            raise NothingYet("nothing")

        async with asyncio.timeout(10):
            return await wait_for_result(run, Waiting(3600), RequestContext(actor=ANONYMOUS), Listeners())

    monkeypatch.setattr(waiting, "MAX_WAIT_SECONDS", 0.01)
    assert asyncio.run(call()) == "nothing"


@pytest.mark.parametrize("other", [create_actor(1, 2, 1), create_actor(1, 1, 1)])
def test_cancelled_call_ends_and_no_other_one(other: Actor) -> None:
    opened, actor = Listeners(), create_actor(1, 1, 1)
    with opened.wait(actor, 7) as cancelled, opened.wait(actor, "7") as second, opened.wait(actor) as third:
        opened.cancel(other, 7)
        assert cancelled.ended == (other == actor)
        assert not second.ended
        assert not third.ended


class Waiting(msgspec.Struct, frozen=True):
    """Arguments of a waiting call."""

    wait_seconds: int
    after: int = 0


def test_tokens_of_one_account_share_a_tenth_of_the_streams() -> None:
    opened = Listeners(500)
    with contextlib.ExitStack() as streams:
        for each in range(50):
            streams.enter_context(opened.listen(create_actor(1, each // 20, 1)))
        with (
            pytest.raises(RateLimited, match="this account has 50 open event streams"),
            opened.listen(create_actor(1, 25, 1)),
        ):
            pass
        streams.enter_context(opened.listen(create_actor(2, 99, 1)))
        assert opened.refusals == {("event_streams", "account"): 1}
    with opened.listen(create_actor(1, 25, 1)):
        assert opened.streams == 1


def test_accounts_of_one_company_leave_half_of_the_streams_to_others() -> None:
    opened = Listeners(500)
    with contextlib.ExitStack() as streams:
        for each in range(250):
            streams.enter_context(opened.listen(create_actor(each // 10, each, 1)))
        with (
            pytest.raises(Unavailable, match="this company has 250 open event streams"),
            opened.listen(create_actor(99, 999, 1)),
        ):
            pass
        streams.enter_context(opened.listen(create_actor(99, 999, 2)))
