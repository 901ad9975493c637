"""Mail for notifications, with a real mail server: who says yes to it, what it holds, how it ends."""

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.authenticator import Phone
from tests.support.mail_server import PASSWORD, USER, MailServer, authenticate, create_certificate, run_mail_server
from tests.support.operation_cases import draw_address, update_row
from tests.support.seed import PatchedServer
from tests.support.server import PASSWORD as PERSON_PASSWORD
from tests.support.server import (
    Box,
    Person,
    World,
    copy_initialized_file,
    eventually,
    expect_error,
    ok,
    run_server,
    ticketbox,
)
from ticketbox.cli.core.operations import run_operation

QUICK = """
from ticketbox.domain.events import retry_schedule as retries
from ticketbox.store.events import email_outbox as mails
retries.FIRST_MS = 200
mails.DELAY_MS = 300
from ticketbox.cli import main
main()
"""
PATIENT = """
from ticketbox.jobs.email import smtp
smtp.ANSWER_SECONDS = 60.0
from ticketbox.cli import main
main()
"""
FROM = ["--smtp-from", "The box <box@tickets.example>"]


@pytest.fixture(scope="module")
def mailed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Box, MailServer]]:
    """A server that mails after 0.3 s, and the mail server that takes it."""
    db = copy_initialized_file(tmp_path_factory.mktemp("mailed"))
    with run_mail_server() as box:
        flags = ["--smtp-url", f"smtp://{box.host}", *FROM, "--trusted-proxy", "127.0.0.1/32"]
        with PatchedServer(QUICK, db, *flags) as running:
            yield running, box


@pytest.fixture
def inside(mailed: tuple[Box, MailServer]) -> Iterator[World]:
    """A company on that server."""
    yield World(mailed[0])
    mailed[0].close_clients()


@pytest.fixture
def mail_server(mailed: tuple[Box, MailServer]) -> MailServer:
    """What came."""
    return mailed[1]


def request_confirmation(person: Person, mail_server: MailServer) -> str:
    """The link in the mail that asks a person's address."""
    before = len(mail_server.to(person.email))
    assert ok(person.web.patch("/profile", json={"mail": True}))["mail"] == "asked"
    eventually(lambda: len(mail_server.to(person.email)) > before, 30)
    return find_link(mail_server.to(person.email)[-1])


def find_link(message: EmailMessage) -> str:
    """The address of the choice in a mail."""
    match = re.search(r"https?://\S+/mail/mbx_\w+", read_text(message))
    assert match is not None
    return match[0]


def read_text(message: EmailMessage, kind: str = "plain") -> str:
    """A mail's text."""
    part = message.get_body((kind,))
    assert part is not None
    return part.get_content().replace("\r\n", "\n")


def confirm_email(person: Person, mail_server: MailServer) -> Person:
    """A person who wants mail, and has said so."""
    address = request_confirmation(person, mail_server)
    assert httpx.post(address, data={"wanted": "yes"}).status_code == 200
    assert ok(person.web.get("/profile"))["mail"] == "on"
    return person


def wait_for_emails(person: Person, mail_server: MailServer, ticket: str, count: int = 1) -> list[EmailMessage]:
    """The mails of a ticket, once so many came."""
    eventually(lambda: sum(ticket in str(each["Message-ID"]) for each in mail_server.to(person.email)) >= count, 30)
    return [each for each in mail_server.to(person.email) if ticket in str(each["Message-ID"])]


def all_mail_left(box: Box, person: Person) -> bool:
    """Whether no mail to a person is queued that wasn't tried yet."""
    with contextlib.closing(sqlite3.connect(box.db)) as connection:
        query = (
            "SELECT count(*) FROM mail m JOIN user u ON u.id = m.user_id "
            "WHERE u.public_id = ? AND m.state = 'pending' AND m.attempts = 0"
        )
        return connection.execute(query, (person.id,)).fetchone() == (0,)


def make_retries_due(box: Box) -> None:
    """Make the next attempts of a stopped server due; how long they wait depends on how many failed."""
    update_row(box.db, "UPDATE mail SET due_at = 0 WHERE state = 'pending'")


def test_address_that_gets_no_email_is_refused_where_email_is_turned_on(inside: World) -> None:
    jurgen = inside.join("Jurgen")
    query = "UPDATE user SET email = 'jürgen-' || public_id || '@example.org' WHERE public_id = ?"
    update_row(inside.box.db, query, jurgen.id)
    refused = expect_error(jurgen.web.patch("/profile", json={"mail": True}), 400, "invalid_request")
    assert "other characters than ASCII before the @" in refused["detail"]
    assert ok(jurgen.web.get("/profile"))["mail"] == "off"


def test_email_is_confirmed_at_the_address_and_then_contains_the_inbox(inside: World, mail_server: MailServer) -> None:
    bob = inside.join("Bob")
    assert ok(bob.web.get("/profile"))["mail"] == "off"
    address = request_confirmation(bob, mail_server)
    (question,) = mail_server.to(bob.email)
    assert inside.box.url in read_text(question)
    inside.ticket(description="@Bob, not yet")
    page = httpx.get(address)
    assert page.status_code == 200
    assert bob.email in page.text
    assert ok(bob.web.get("/profile"))["mail"] == "asked"  # a look is no yes
    assert httpx.post(address, data={"wanted": "yes"}).status_code == 200
    made = inside.ticket("Cart", description="@Bob, now")
    ticket = made["id"]
    ok(inside.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    ok(inside.owner.web.post(f"/tickets/{ticket}/comments", json={"body": "Any **news**?"}))
    wait_for_emails(bob, mail_server, ticket)
    eventually(lambda: all_mail_left(inside.box, bob))
    _, mail, *later = mail_server.to(bob.email)  # a slow machine sends the rest in another one
    assert mail["Subject"] == f"[First project] Cart ({made['key']})"
    assert mail["From"] == "The box <box@tickets.example>"
    assert mail["To"] == f"Bob <{bob.email}>"
    assert mail["X-Envelope-To"] == bob.email
    assert mail["Auto-Submitted"] == "auto-generated"
    said = "\n".join(read_text(each) for each in (mail, *later))
    assert "Ann (a token, via rest) mentioned you in the description:\n\n@Bob, now" in said
    assert "Ann (a token, via rest) assigned you." in said
    assert "Ann commented:\n\nAny **news**?" in said
    assert f"{inside.box.url}/tickets/{ticket}" in said
    assert "not yet" not in said  # what came before the yes isn't mailed


def test_emails_of_a_ticket_form_one_thread(inside: World, mail_server: MailServer) -> None:
    bob = confirm_email(inside.join("Bob"), mail_server)
    ticket = inside.ticket(description="@Bob")["id"]
    wait_for_emails(bob, mail_server, ticket)
    ok(inside.api.post(f"/tickets/{ticket}/comments", json={"body": "@Bob again"}))
    first, second = wait_for_emails(bob, mail_server, ticket, 2)
    assert first["Message-ID"] != second["Message-ID"]
    assert first["References"] == second["References"] == f"<{ticket}@tickets.example>"
    assert "again" in read_text(second)


def test_one_click_and_profile_setting_both_unsubscribe(inside: World, mail_server: MailServer) -> None:
    bob = confirm_email(inside.join("Bob"), mail_server)
    ticket = inside.ticket(description="@Bob")["id"]
    (mail,) = wait_for_emails(bob, mail_server, ticket)
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = mail["List-Unsubscribe"].strip("<>")
    assert httpx.get(address).status_code == 200
    assert ok(bob.web.get("/profile"))["mail"] == "on"
    # as RFC 8058 has it: from another server, without cookies, in either form
    assert httpx.post(address, files={"List-Unsubscribe": (None, "One-Click")}).status_code == 200
    assert ok(bob.web.get("/profile"))["mail"] == "off"
    assert httpx.post(address, data={"wanted": "yes"}).status_code == 200
    assert httpx.post(address, data={"List-Unsubscribe": "One-Click"}).status_code == 200
    assert ok(bob.web.get("/profile"))["mail"] == "off"
    confirm_email(bob, mail_server)
    count = len(mail_server.to(bob.email))
    assert ok(bob.web.patch("/profile", json={"mail": False}))["mail"] == "off"
    ok(inside.api.post(f"/tickets/{ticket}/comments", json={"body": "@Bob"}))
    eventually(lambda: all_mail_left(inside.box, bob))
    assert len(mail_server.to(bob.email)) == count


def test_other_sites_and_wrong_links_change_nothing(inside: World, mail_server: MailServer) -> None:
    address = request_confirmation(inside.join("Bob"), mail_server)
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert httpx.post(address, data={"wanted": "yes"}, headers=headers).status_code == 403
    for wrong in (address[:-1], address + "x", f"{inside.box.url}/mail/x", f"{inside.box.url}/mail/{'x' * 300}"):
        assert httpx.get(wrong).status_code in {400, 404}
        assert httpx.post(wrong, data={"wanted": "yes"}).status_code in {400, 404}
    assert address.rpartition("/")[2] not in inside.box.log.read_text()


def find_address_link(mail_server: MailServer, address: str, count: int = 1) -> str:
    """The link in the newest mail to a new address, once so many came."""
    eventually(lambda: len(mail_server.to(address)) >= count, 30)
    match = re.search(r"https?://\S+/address/mbx_\w+", read_text(mail_server.to(address)[-1]))
    assert match is not None
    return match[0]


def test_new_address_takes_effect_when_its_link_is_opened(inside: World, mail_server: MailServer) -> None:
    bob = confirm_email(inside.join("Bob"), mail_server)
    choice, old, new = find_link(mail_server.to(bob.email)[-1]), bob.email, f"new-{bob.email}"
    asked = ok(bob.web.patch("/profile", json={"email": new}))
    assert (asked["email"], asked["pending_email"], asked["mail"]) == (old, new, "on")
    link = find_address_link(mail_server, new)
    assert new in httpx.get(link).text
    assert ok(bob.web.get("/profile"))["email"] == old  # a look is no yes
    assert httpx.post(link, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert httpx.post(link).status_code == 200
    changed = ok(bob.web.get("/profile"))
    assert (changed["email"], changed["pending_email"], changed["mail"]) == (new, None, "on")
    assert httpx.post(link).status_code == httpx.get(link).status_code == 404
    assert httpx.post(choice, data={"wanted": "yes"}).status_code == 404
    eventually(lambda: "was changed" in str(mail_server.to(old)[-1]["Subject"]))
    assert new in read_text(mail_server.to(old)[-1])
    ticket = inside.ticket(description="@Bob")["id"]
    eventually(lambda: any(ticket in str(each["Message-ID"]) for each in mail_server.to(new)), 30)
    assert link.rpartition("/")[2] not in inside.box.log.read_text()


def find_password_link(mail_server: MailServer, address: str, count: int = 1) -> str:
    """The newest link to choose a password that was sent to an address, once so many came."""
    eventually(lambda: len(list_password_links(mail_server, address)) >= count, 30)
    return list_password_links(mail_server, address)[-1]


def list_password_links(mail_server: MailServer, address: str) -> list[str]:
    """All links to choose a password that were sent to an address, oldest first."""
    texts = "".join(read_text(each) for each in mail_server.to(address))
    return re.findall(r"https?://\S+/password/mbx_\w+", texts)


def ask_for_password(box: Box, email: str) -> httpx.Response:
    """Send the form of somebody who forgot the password."""
    return httpx.post(f"{box.url}/password", data={"email": email}, headers={"X-Forwarded-For": draw_address()})


def test_forgotten_password_is_replaced_by_a_link_that_works_once(inside: World, mail_server: MailServer) -> None:
    box, bob, new = inside.box, inside.join("Bob"), "a better one, longer"
    phone = Phone(bob)
    assert "Forgot your password?" in httpx.get(f"{box.url}/signin").text
    assert ask_for_password(box, bob.email.title()).status_code == 200
    link = find_password_link(mail_server, bob.email)
    for _ in range(2):
        assert bob.email in httpx.get(link).text  # a scanner of emails doesn't use it up
    form = {"password": new, "password_again": new}
    refused = [
        httpx.post(link, data={**form, "password_again": "another"}),
        httpx.post(link, data={"password": "short", "password_again": "short"}),
        httpx.post(link, data=form, headers={"Sec-Fetch-Site": "cross-site"}),
    ]
    assert [each.status_code for each in refused] == [400, 400, 403]
    assert bob.web.get("/profile").status_code == 200
    answer = httpx.post(link, data=form)
    assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
    assert bob.web.get("/profile").status_code == 401
    assert httpx.post(link, data=form).status_code == httpx.get(link).status_code == 404
    signs_in = {"email": bob.email, "password": new}
    expect_error(box.client().post("/session", json={**signs_in, "password": PERSON_PASSWORD}), 401, "unauthorized")
    expect_error(box.client().post("/session", json=signs_in), 403, "second_factor_required")
    ok(box.client().post("/session", json={**signs_in, "code": phone.recovery_codes[0]}))
    eventually(lambda: "Your password was changed" in [each["Subject"] for each in mail_server.to(bob.email)], 30)
    assert link.rpartition("/")[2] not in box.log.read_text()


def test_asking_for_a_password_shows_nothing_and_sends_little(inside: World, mail_server: MailServer) -> None:
    box, bob, carl = inside.box, inside.join("Bob"), inside.join("Carl")
    run_operation(box.db, "disable_user", {"user": carl.email})
    answers = {email: ask_for_password(box, email) for email in (bob.email, carl.email, f"x{bob.email}")}
    assert {each.status_code for each in answers.values()} == {200}
    assert len({each.text.replace(email, "…") for email, each in answers.items()}) == 1
    for count in range(2, 6):
        find_password_link(mail_server, bob.email, count - 1)
        ask_for_password(box, bob.email)
    newest = find_password_link(mail_server, bob.email, 5)
    assert len(set(list_password_links(mail_server, bob.email))) == 5
    assert httpx.get(list_password_links(mail_server, bob.email)[0]).status_code == 404  # a newer one replaced it
    for _ in range(3):
        assert ask_for_password(box, bob.email).status_code == 200
    change = {"current_password": PERSON_PASSWORD, "new_password": "one more, longer"}
    ok(bob.web.post("/profile/password", json=change))
    assert httpx.get(newest).status_code == 404
    assert len(list_password_links(mail_server, bob.email)) == 5
    assert mail_server.to(carl.email) == mail_server.to(f"x{bob.email}") == []
    events = [each["action"] for each in ok(bob.web.get("/security-events"))["items"]]
    assert events.count("password_reset_request") == 5
    assert httpx.post(f"{box.url}/password", data={"email": "nothing"}).status_code == 400


def test_link_for_a_password_ends_with_its_time_and_its_address(inside: World, mail_server: MailServer) -> None:
    bob, carl = inside.join("Bob"), inside.join("Carl")
    for person in (bob, carl):
        ask_for_password(inside.box, person.email)
    of_bob, of_carl = (find_password_link(mail_server, person.email) for person in (bob, carl))
    update_row(inside.box.db, "UPDATE account_link SET expires_at = expires_at - 1800000 WHERE address = ?", bob.email)
    update_row(inside.box.db, "UPDATE user SET email = ? WHERE public_id = ?", f"new-{carl.email}", carl.id)
    assert [httpx.get(each).status_code for each in (of_bob, of_carl)] == [404, 404]


def test_invitation_is_sent_to_its_address(inside: World, mail_server: MailServer) -> None:
    invitations = f"/companies/{inside.company}/invitations"
    assert not ok(inside.owner.web.post(invitations, json={}))["mailed"]
    email = f"new-{inside.owner.email}"
    made = ok(inside.owner.web.post(invitations, json={"email": email}))
    assert made["mailed"]
    (mail,) = eventually(lambda: mail_server.to(email), 30)
    company = ok(inside.owner.web.get("/companies"))["items"][0]["name"]
    assert mail["Subject"] == f"{inside.owner.name} invites you to {company}"
    assert [each.addr_spec for each in mail["To"].addresses] == [email]
    assert made["path"] in read_text(mail)
    sent = [ok(inside.owner.web.post(invitations, json={"email": f"{n}-{email}"}))["mailed"] for n in range(20)]
    assert sent == [True] * 19 + [False]


def test_request_for_a_taken_address_has_the_same_answer(inside: World, mail_server: MailServer) -> None:
    bob, carl = inside.join("Bob"), inside.join("Carl")
    free = f"free-{bob.email}"
    answers = [ok(bob.web.patch("/profile", json={"email": email})) for email in (free, carl.email)]
    assert [{**each, "pending_email": None} for each in answers] == [{**answers[0], "pending_email": None}] * 2
    assert [each["pending_email"] for each in answers] == [free, carl.email]
    assert httpx.post(find_address_link(mail_server, free)).status_code == 404  # a newer request replaced it
    refused = httpx.post(find_address_link(mail_server, carl.email))
    assert (refused.status_code, "Another account uses it" in refused.text) == (409, True)
    assert ok(bob.web.get("/profile"))["email"] == bob.email
    assert ok(bob.web.patch("/profile", json={"email": bob.email}))["pending_email"] is None
    assert httpx.post(find_address_link(mail_server, carl.email)).status_code == 404


def test_address_is_asked_at_most_five_times_a_day(inside: World, mail_server: MailServer) -> None:
    owner, victim = inside.owner.web, f"victim-{inside.owner.email}"
    for _ in range(5):
        ok(owner.patch("/profile", json={"email": victim}))
        ok(owner.patch("/profile", json={"mail": False}))
        ok(owner.patch("/profile", json={"mail": True}))
    for asked in ({"mail": True}, {"email": f"other-{victim}"}):
        answer = expect_error(owner.patch("/profile", json=asked), 429, "rate_limited")
        assert 86_000 < answer["retry_after"] <= 86_400
    eventually(lambda: all_mail_left(inside.box, inside.owner))
    assert len(mail_server.to(victim)) <= 5


def test_person_is_notified_by_email_about_their_account(inside: World, mail_server: MailServer) -> None:
    """At the account's address, whether notifications are on or not."""
    bob = inside.join("Bob")
    new = "a better one, longer"
    browser = inside.box.client(**{"User-Agent": "Elsewhere/1.0 <b>"})
    given = {"email": bob.email, "password": "correct horse battery"}
    assert browser.post("/session", json={**given, "password": "wrong password"}).status_code == 401
    for _ in range(2):  # known from the second time on
        ok(browser.post("/session", json=given))
    ok(bob.web.post("/profile/password", json={"current_password": given["password"], "new_password": new}))
    eventually(lambda: len(mail_server.to(bob.email)) >= 2, 30)
    eventually(lambda: all_mail_left(inside.box, bob))
    signed_in, changed = mail_server.to(bob.email)
    assert signed_in["Subject"] == "New sign-in to your account"
    assert browser.headers["x-forwarded-for"] in read_text(signed_in)
    assert "Elsewhere/1.0" in read_text(signed_in)
    assert "<b>" not in read_text(signed_in, "html").replace("<p><b>", "")
    assert changed["Subject"] == "Your password was changed"
    assert all("password" not in each["Subject"] for each in mail_server.to(inside.owner.email))


@pytest.mark.long
def test_person_is_notified_by_email_about_the_second_factor(inside: World, mail_server: MailServer) -> None:
    phone = Phone(inside.join("Bob"))
    ok(phone.sign_in(code=phone.recovery_codes[0]))
    ok(inside.owner.web.delete(f"/companies/{inside.company}/members/{phone.person.id}/second-factor"))
    email = phone.person.email
    wanted = {
        "Your second factor was turned on", "A recovery code was used", "Your second factor was turned off",
    }  # fmt: skip
    eventually(lambda: wanted <= {each["Subject"] for each in mail_server.to(email)}, 30)
    text = "".join(read_text(each) for each in mail_server.to(email))
    assert not any(secret in text for secret in [phone.secret, *phone.recovery_codes])


def test_user_text_adds_no_header_and_no_html(inside: World, mail_server: MailServer) -> None:
    bob = confirm_email(inside.join("Bob"), mail_server)
    ok(bob.web.patch("/profile", json={"name": 'Bob", <eve@evil.example>, "=?utf-8?q?=0ABcc:_x?='}))
    ok(inside.owner.web.patch(f"/projects/{inside.project}", json={"name": "<b>Shop</b> Bcc: eve@evil.example"}))
    title = "<script>alert(1)</script> Bcc: eve@evil.example Zażółć 🛒 "
    title += "=?utf-8?q?=0ABcc:_eve@evil.example?= " * 3
    ticket = inside.ticket(title)["id"]
    body = "<img src=x onerror=alert(1)>\r\n.\r\nBcc: eve@evil.example\r\n\u2028Bcc: eve@evil.example\r\n"
    body += "x" * 3_000 + " &amp; {{ 7 * 7 }} \x01"
    ok(inside.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    ok(inside.owner.web.post(f"/tickets/{ticket}/comments", json={"body": body}))
    eventually(lambda: any(ticket in each.as_string() for each in mail_server.to(bob.email)))
    mail = next(each for each in mail_server.to(bob.email) if ticket in each.as_string())
    expected = {
        "From", "To", "Date", "Auto-Submitted", "Subject", "Message-ID", "In-Reply-To", "References",
        "List-Unsubscribe", "List-Unsubscribe-Post", "MIME-Version", "Content-Type", "X-Envelope-To",
    }  # fmt: skip
    assert set(mail.keys()) <= expected
    assert len(mail.keys()) == len(set(mail.keys()))
    assert mail["X-Envelope-To"] == bob.email
    assert [each.addr_spec for each in mail["To"].addresses] == [bob.email]
    assert "Zażółć 🛒" in mail["Subject"]
    assert body.replace("\r\n", "\n") in read_text(mail)
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            tags.append(tag)

    Tags().feed(read_text(mail, "html"))
    assert set(tags) <= {"html", "head", "meta", "title", "body", "p", "a", "br", "b", "div"}
    assert tags.count("b") == 2  # the two sentences of ours


ODD = ["a,b@x.example", "a>b@x.example", '"a@x.example', "<a@x.example", "a;b@x.example", "ä@x.example", "a@ü.example"]


def test_unusable_address_does_not_block_other_emails(inside: World, mail_server: MailServer) -> None:
    before = len(mail_server.got)
    eves = [inside.join("Eve") for _ in ODD]
    for eve, email in zip(eves, ODD, strict=True):
        eve.web.patch("/profile", json={"email": email.replace("@", f"-{eve.id}@")})
    bob = inside.join("Bob")
    request_confirmation(bob, mail_server)
    for eve in eves:
        eventually(lambda eve=eve: all_mail_left(inside.box, eve))
    came = [each["X-Envelope-To"] for each in mail_server.got[before:]]
    assert bob.email in came
    assert len(came) <= 1 + len(ODD)
    assert all("," not in each for each in came)


def test_email_is_unavailable_without_a_mail_server(world: World) -> None:
    assert ok(world.owner.web.get("/profile"))["mail"] == "unavailable"
    expect_error(world.owner.web.patch("/profile", json={"mail": True}), 409, "conflict")
    assert ok(world.owner.web.patch("/profile", json={"mail": False}))["mail"] == "unavailable"


@pytest.mark.long
def test_starttls_with_a_password_that_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, cert = create_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    guarded = {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": authenticate}
    with run_mail_server(**guarded) as mail_server:
        url = f"smtp://{USER}:s3cret%20p%40ss%2Fw%3Ard@{mail_server.host}?starttls=always"
        secret = tmp_path / "smtp-url"
        secret.write_text(url + "\n")
        with run_server(tmp_path, "--smtp-url-file", str(secret), *FROM) as box:
            assert request_confirmation(Person(box, "Ann"), mail_server)
            shown = Path(f"/proc/{box.process.pid}/cmdline").read_bytes()
            assert PASSWORD.encode() not in shown
            assert b"s3cret" not in shown
        secret.write_text(url.replace("s3cret", "wrong"))
        with run_server(tmp_path, "--smtp-url-file", str(secret), *FROM) as box:
            person = Person(box, "Eve")
            ok(person.web.patch("/profile", json={"mail": True}))
            eventually(lambda: "refuses the user name and password (535" in box.log.read_text(), 30)
            assert mail_server.to(person.email) == []
        done = ticketbox("check", "--smtp-url-file", str(secret), *FROM, db=box.db)
        assert "the email server refuses the user name and password (535" in done.stdout
        secret.write_text(url)
        done = ticketbox("check", "--smtp-from", FROM[1], db=box.db, TICKETBOX_SMTP_URL=url)
        assert "ok       connected to the email server localhost" in done.stdout
        assert done.returncode == 0
        for part in ("s3cret", "wrong%20", "wrong p@ss"):
            assert part not in box.log.read_text()


@pytest.mark.long
def test_implicit_tls_requires_a_trusted_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, cert = create_certificate(tmp_path)
    with run_mail_server(ssl_context=context) as mail_server:
        flags = ["--smtp-url", f"smtps://{mail_server.host}", *FROM]
        with run_server(tmp_path, *flags) as box:
            person = Person(box, "Ann")
            ok(person.web.patch("/profile", json={"mail": True}))
            eventually(lambda: "can't connect to the email server" in box.log.read_text(), 30)
            assert mail_server.got == []
        make_retries_due(box)
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        with run_server(tmp_path, *flags) as box:
            request_confirmation(Person(box, "Eve"), mail_server)
            eventually(lambda: mail_server.to(person.email), 30)


@pytest.mark.long
def test_mail_server_without_encryption_gets_no_mail(tmp_path: Path) -> None:
    with (
        run_mail_server() as mail_server,
        run_server(tmp_path, "--smtp-url", f"smtp://{mail_server.host}?starttls=always", *FROM) as box,
    ):
        ok(Person(box, "Ann").web.patch("/profile", json={"mail": True}))
        eventually(lambda: "can't connect to the email server" in box.log.read_text(), 30)
        assert mail_server.got == []


@pytest.mark.long
def test_stop_during_a_silent_mail_server_is_quick_and_loses_nothing(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        db = copy_initialized_file(tmp_path)
        with PatchedServer(PATIENT, db, "--smtp-url", f"smtp://localhost:{port}", *FROM) as box:
            person = Person(box, "Ann")
            ok(person.web.patch("/profile", json={"mail": True}))
            silent.settimeout(60)
            connected, _ = silent.accept()
            begun = time.monotonic()
            assert box.stop() == 0
            assert time.monotonic() - begun < 40  # it would wait a minute for the mail server
            assert "Traceback" not in box.log.read_text()
        connected.close()
    make_retries_due(box)
    with run_mail_server() as mail_server, run_server(tmp_path, "--smtp-url", f"smtp://{mail_server.host}", *FROM):
        eventually(lambda: mail_server.to(person.email), 30)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--smtp-url", "smtp://mail.example"], "--smtp-url requires --smtp-from"),
        (["--smtp-url", "http://mail.example", *FROM], "--smtp-url: write it as"),
        (["--smtp-url", "smtp://u:s3cret@mail.example?starttls=never", *FROM], "isn't sent unencrypted"),
        (["--smtp-url", "smtp://u:s3cret@mail.example/x", *FROM], "--smtp-url: write it as"),
        (["--smtp-url", "smtp://mail.example", "--smtp-from", "nobody"], "--smtp-from: must be one address"),
        (["--smtp-url", "smtp://mail.example", "--smtp-from", "a@b.c\nBcc: d@e.f"], "--smtp-from: must be one address"),
        (["--smtp-url", "smtp://a.b", "--smtp-url-file", __file__, *FROM], "not both"),
    ],
)
def test_invalid_settings_are_rejected_without_repeating_the_password(
    tmp_path: Path, flags: list[str], words: str
) -> None:
    done = ticketbox("serve", "--port", "0", *flags, db=tmp_path / "x.db")
    assert done.returncode == 1
    assert words in done.stderr
    assert "s3cret" not in done.stdout + done.stderr


@pytest.mark.long
def test_sent_emails_are_counted_and_check_finds_failures(tmp_path: Path) -> None:
    with (
        run_mail_server() as mail_server,
        run_server(tmp_path, "--smtp-url", f"smtp://{mail_server.host}", *FROM) as box,
    ):
        person = Person(box, "Ann")
        request_confirmation(person, mail_server)
        mail_server.refuse = lambda _: "550 5.1.1 unknown"
        ok(person.web.patch("/profile", json={"mail": True}))
        text = eventually(lambda: 'outcome="given_up"' in (got := httpx.get(f"{box.url}/metrics").text) and got)
        for outcome in ("sent", "failed", "given_up"):
            assert f'ticketbox_mails_total{{outcome="{outcome}"}} 1.0' in text
        assert "abandoned: the email server refuses the address (550 5.1.1 unknown)" in box.log.read_text()
        assert person.email not in box.log.read_text()
        mail_server.refuse = lambda _: "451 4.7.1 greylisted"
        ok(person.web.patch("/profile", json={"mail": True}))
        eventually(lambda: "greylisted" in box.log.read_text())
        completed = ticketbox("check", db=box.db)
        assert completed.returncode == 0
        assert (
            "warning  emails that failed and will be retried: 1; last error: the email server refuses the address (451"
            in completed.stdout
        )
        assert "note     emails abandoned in the last 30 days: 1" in completed.stdout
