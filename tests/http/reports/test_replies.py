"""Replies to reporters by email: what they get, what the ticket keeps, and who may send one (docs/use/reports.md)."""

from collections.abc import Iterator
from email.message import EmailMessage

import pytest

from tests.http.reports.test_reports import Reporter
from tests.support.mail_server import MailServer, run_mail_server
from tests.support.server import World, eventually, expect_error, ok, run_server

ADDRESS = "eve@stranger.example"


@pytest.fixture(scope="module")
def mail_server() -> Iterator[MailServer]:
    """What takes the emails."""
    with run_mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def mailing(mail_server: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A company on a server that sends email."""
    flags = ["--smtp-url", f"smtp://{mail_server.host}", "--smtp-from", "ticketbox <box@tickets.example>"]
    with run_server(tmp_path_factory.mktemp("mailing"), "--trusted-proxy", "127.0.0.1/32", *flags) as box:
        yield World(box)


def read(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    return part.get_content()


def report(world: World, **given: str) -> str:
    """The path of the replies to a new report."""
    reporter = Reporter(world)
    ok(reporter.send(**given))
    return f"/tickets/{reporter.find_tickets()[0]['id']}/reporter/replies"


def test_reply_reaches_the_reporter_and_stays_on_the_ticket(mailing: World, mail_server: MailServer) -> None:
    path = report(mailing, name="Eve =?utf-8?q?=0d=0aBcc:?= x", email=ADDRESS, title="The <b>cart</b>")
    comment = ok(mailing.owner.web.post(path, json={"body": "Which <i>browser</i>?\nThank you."}))
    assert comment["body"] == "To the reporter:\n\nWhich <i>browser</i>?\nThank you."
    (message,) = eventually(lambda: mail_server.to(ADDRESS), 30)
    assert (message["Subject"], message["X-Envelope-To"], message["Bcc"]) == ("Re: The <b>cart</b>", ADDRESS, None)
    assert message["To"].addresses[0].addr_spec == ADDRESS
    plain, html = read(message, "plain").replace("\r\n", "\n"), read(message, "html")
    assert plain.startswith("Which <i>browser</i>?\nThank you.\n")
    assert mailing.box.url in plain
    assert "Which &lt;i&gt;browser&lt;/i&gt;?" in html
    ticket = path.removesuffix("/reporter/replies")
    assert ok(mailing.api.get(f"{ticket}/comments"))["items"] == [comment]
    assert ticket.rpartition("/")[2] not in plain  # the reporter sees nothing of the ticket
    assert mailing.owner.email not in str(message)


def test_only_members_in_a_session_reply(mailing: World, mail_server: MailServer) -> None:
    path = report(mailing, email="other@stranger.example")
    viewer = mailing.join("Vi", "viewer")
    expect_error(mailing.api.post(path, json={"body": "Hello"}), 403, "forbidden")
    expect_error(viewer.web.post(path, json={"body": "Hello"}), 403, "forbidden")
    ok(mailing.owner.web.post(path.replace("reporter/replies", "archive"), json={}))
    expect_error(mailing.owner.web.post(path, json={"body": "Hello"}), 409, "ticket_archived")
    assert ok(mailing.api.get(path.replace("reporter/replies", "comments")))["items"] == []
    assert mail_server.to("other@stranger.example") == []


def test_reply_that_can_reach_nobody_is_refused(mailing: World, world: World) -> None:
    for where, given, why in ((mailing, {}, "gave no email address"), (world, {"email": ADDRESS}, "sends no email")):
        path = report(where, **given)
        assert why in expect_error(where.owner.web.post(path, json={"body": "Hello"}), 409, "conflict")["detail"]
        assert ok(where.api.get(path.replace("reporter/replies", "comments")))["items"] == []
    ticket = mailing.ticket()["id"]
    answer = mailing.owner.web.post(f"/tickets/{ticket}/reporter/replies", json={"body": "Hello"})
    expect_error(answer, 404, "not_found")


def test_repeated_reply_sends_one_email_to_the_reporter_of_the_ticket_with_that_key(
    mailing: World, mail_server: MailServer
) -> None:
    path = report(mailing, email="once@stranger.example")
    key = ok(mailing.api.get(path.removesuffix("/reporter/replies")))["key"]
    by_key = f"/tickets/{key}/reporter/replies"
    headers = {"Idempotency-Key": "reply-1"}
    first, second = (mailing.owner.web.post(by_key, json={"body": "Hello"}, headers=headers) for _ in range(2))
    assert ok(first) == ok(second)
    assert second.headers["Idempotency-Replayed"] == "true"
    ok(mailing.owner.web.post(path, json={"body": "Anything else?"}))
    bodies = eventually(lambda: len(found := mail_server.to("once@stranger.example")) == 2 and found, 30)
    assert sorted(read(each, "plain").splitlines()[0] for each in bodies) == ["Anything else?", "Hello"]
