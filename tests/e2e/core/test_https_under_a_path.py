"""Ticketbox under a path of an https site, behind a real nginx: each address that it sends leads back to it."""

import base64
import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256, Hash
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import Page, expect

from tests.agents.mcp_clients import NODE
from tests.agents.packages import install_or_skip, load_packages
from tests.cli.test_login import log_in
from tests.e2e.accounts.test_consent import sign_in
from tests.e2e.accounts.test_passkeys import UNCONFIRM, Authenticator, enter_password, leave
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message
from tests.http.events.test_email import QUICK, confirm_email, read_text, wait_for_emails
from tests.http.events.test_webhooks import create_webhook, wait_for_requests
from tests.http.git.test_git_hooks import Repository
from tests.http.reports.test_reports import Reporter
from tests.support import npm
from tests.support.cli import run
from tests.support.git_payloads import build_pull_request
from tests.support.mail_server import MailServer, create_certificate, run_mail_server
from tests.support.operation_cases import update_row
from tests.support.path_proxy import PATH, run_under_path
from tests.support.server import Box, World, eventually, ok, ticketbox
from tests.support.source_maps import build_source_map
from tests.support.webhook_receiver import run_receiver

pytestmark = pytest.mark.long

SECONDS = 60


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A certificate of localhost that this process and those that it starts trust, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    _, path = create_certificate(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
            bundle, others = folder / f"{name}.pem", os.environ.get(name)
            bundle.write_text(path.read_text() + (Path(others).read_text() if others else ""))
            patch.setenv(name, str(bundle))
        yield path, folder / "key.pem"


@pytest.fixture(scope="module")
def mail_server() -> Iterator[MailServer]:
    """Where the server's emails arrive."""
    with run_mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def box(
    tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path], mail_server: MailServer
) -> Iterator[Box]:
    """A server under a path of an https site, which sends emails after 0.3 s."""
    flags = ["--smtp-url", f"smtp://{mail_server.host}", "--smtp-from", "box@tickets.example"]
    with run_under_path(
        tmp_path_factory.mktemp("path"), *flags, "--allow-private-addresses", patch=QUICK, certificate=certificate
    ) as running:
        yield running


@pytest.fixture(scope="module")
def trusting(shell: str, certificate: tuple[Path, Path]) -> Iterator[Chromium]:
    """Chromium, which trusts the certificate: it refuses passkeys at addresses with one that it only ignores."""
    key = x509.load_pem_x509_certificate(certificate[0].read_bytes()).public_key()
    digest = Hash(SHA256())
    digest.update(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    trusted = base64.b64encode(digest.finalize()).decode()
    with Chromium(shell, f"--ignore-certificate-errors-spki-list={trusted}") as running:
        yield running


def test_passkey_signs_in_and_confirms_and_cookies_have_the_path(trusting: Chromium, world: World) -> None:
    bob = world.join("Bob")
    settings = f"{world.box.url}/settings/sign-in"

    async def visit(page: Page) -> None:
        device = await Authenticator.add(page)
        await page.goto(world.box.url)
        await expect(page).to_have_url(f"{world.box.url}/signin")
        await page.goto(settings)
        await enter_password(page, bob)
        await expect(page).to_have_url(settings)
        cookies = [each for each in await page.context.cookies() if each.get("name", "").startswith("__Secure-")]
        assert {(each.get("path"), each.get("secure"), each.get("httpOnly")) for each in cookies} == {
            (PATH, True, True)
        }
        await page.get_by_role("button", name="Add passkey…").click()
        dialog = page.get_by_role("dialog", name="Add passkey")
        await dialog.get_by_label("Name").fill("Bob's laptop")
        await dialog.get_by_role("button", name="Add passkey").click()
        await page.get_by_role("button", name="I saved the codes").click()
        await expect(page.get_by_role("list", name="Passkeys").get_by_text("Bob's laptop")).to_be_visible()
        (credential,) = await device.list_credentials()
        assert credential["rpId"] == "localhost"

        await leave(page, settings)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page).to_have_url(settings)
        update_row(world.box.db, UNCONFIRM, bob.id)
        await page.get_by_role("link", name="Profile").click()
        await page.get_by_label("Email address").fill(f"new.{bob.email}")
        await page.get_by_role("button", name="Save profile").click()
        confirm = page.get_by_role("dialog", name="Confirm password")
        await confirm.get_by_role("button", name="Use a passkey").click()
        await expect_message(page, "Profile saved")

        await leave(page, settings)
        await enter_password(page, bob)  # whose second step is the passkey
        await page.get_by_role("button", name="Use a passkey").click()
        await expect(page).to_have_url(settings)

    trusting.visit(visit, fresh=True)


def list_addresses(email: EmailMessage) -> set[str]:
    """All addresses of an email: those of its texts, and of its headers."""
    texts = [read_text(email), read_text(email, "html"), *(str(value) for value in email.values())]
    return set(re.findall(r"https?://[^\s<>\"']+", "\n".join(texts)))


def test_links_of_emails_lead_back(world: World, mail_server: MailServer) -> None:
    bob = confirm_email(world.join("Bob"), mail_server)
    ticket = world.ticket()
    ok(world.api.put(f"/tickets/{ticket['id']}/assignees/{bob.id}"))
    (notification,) = wait_for_emails(bob, mail_server, ticket["id"])
    assert ticket["url"] == f"{world.box.url}/tickets/{ticket['id']}"
    assert {ticket["url"], f"{world.box.url}/settings/notifications"} <= list_addresses(notification)
    unsubscribe = str(notification["List-Unsubscribe"]).strip(" <>")
    assert unsubscribe.startswith(f"{world.box.url}/mail/")
    changed = bob.web.patch("/profile", json={"email": f"new.{bob.email}"})
    assert changed.is_success, changed.text
    eventually(lambda: mail_server.to(f"new.{bob.email}"), 30)
    confirmation = mail_server.to(f"new.{bob.email}")[0]
    found = {each for email in (*mail_server.to(bob.email), confirmation) for each in list_addresses(email)}
    assert [each for each in found if not f"{each}/".startswith(f"{world.box.url}/")] == []
    with httpx.Client(cookies=bob.web.cookies, follow_redirects=True) as browser:
        for address in sorted(found):
            page = browser.get(address)
            assert (page.status_code, str(page.url).startswith(world.box.url)) == (200, True), address
        assert browser.post(unsubscribe, data={"List-Unsubscribe": "One-Click"}).status_code == 200
        assert ok(bob.web.get("/profile"))["mail"] == "off"
        (confirm,) = [each for each in found if "/address/" in each]
        form = re.search(r'<form[^>]* action="([^"]*)"', browser.get(confirm).text)
        assert form is None or form[1].startswith(f"{PATH}/")
        assert browser.post(confirm).status_code == 200
        assert ok(bob.web.get("/profile"))["email"] == f"new.{bob.email}"


def test_sign_in_link_of_the_command_line_signs_in(trusting: Chromium, box: Box) -> None:
    link = ticketbox("user", "sign-in-link", "root@example.org", "--public-url", box.url, db=box.db).stdout.strip()

    async def visit(page: Page) -> None:
        await page.goto(link)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.url.startswith(f"{box.url}/")
        assert "signin" not in page.url

    trusting.visit(visit, fresh=True)


@pytest.mark.parametrize("format_", ["slack", "discord"])
def test_links_of_webhooks_have_the_path(world: World, format_: str) -> None:
    with run_receiver() as receiver:
        create_webhook(world, receiver.url, types=["ticket.created"], format=format_)
        ticket = world.ticket()
        wait_for_requests(receiver, 1)
        assert f"{world.box.url}/tickets/{ticket['id']}" in receiver.got[0].body.decode()


def test_git_hook_receives_at_the_address_that_it_shows(world: World) -> None:
    repository, ticket = Repository(world), world.ticket()
    assert repository.url.startswith(f"{world.box.url}/hooks/git/githook_")
    repository.queue(build_pull_request("Keep the cart", f"Fixes {ticket['key']}"))
    assert [each["name"] for each in repository.links(ticket)] == ["#7"]


def test_command_line_signs_in_and_uploads_source_maps(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(os.environ, "PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    log_in(world)
    made = run("ticket", "create", "A", "--project", world.project, "--json", SERVICE_API_TOKEN="")
    ticket = json.loads(made.stdout)
    assert ticket["url"] == f"{world.box.url}/tickets/{ticket['id']}"
    (tmp_path / "main.js.map").write_bytes(build_source_map())
    uploaded = run("sourcemaps", "upload", tmp_path, "--project", world.project, SERVICE_API_TOKEN="")
    assert (uploaded.exit_code, uploaded.stdout) == (0, "Uploaded 1 source map\n")
    assert run("logout", SERVICE_API_TOKEN="").stdout == f"Signed out of {world.box.url}\n"


def test_packages_for_other_programs_have_the_address(world: World) -> None:
    for edition in ("chromium", "firefox"):
        archive = world.owner.web.get(f"{world.box.url}/extension/{edition}.zip")
        with zipfile.ZipFile(BytesIO(archive.content)) as zipped:
            assert json.loads(zipped.read("server.json")) == {"address": world.box.url}
    assert httpx.get(f"{world.box.url}/extension/version.json").status_code == 200
    described = httpx.get(f"{world.box.url}/llms.txt").text
    addresses = {each.rstrip(".,;)`") for each in re.findall(r"https://localhost[^\s<>\"'`)]+", described)}
    assert f"{world.box.url}/api/v1" in addresses
    for address in addresses - {f"{world.box.url}/api/v1"}:
        assert address.startswith(f"{world.box.url}/"), address
        assert httpx.get(address, follow_redirects=True).status_code != 404, address


def test_reporter_script_sends_from_another_site_and_its_receipt_opens(trusting: Chromium, world: World) -> None:
    with ReportingSite() as site:
        site.embed(world.box.url, Reporter(world, origins=[site.url]).key["key"])

        async def visit(page: Page) -> None:
            await page.goto(f"{site.url}/cart")
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            await dialog.get_by_label("What is wrong?").fill("By the script")
            await dialog.get_by_role("button", name="Send report").click()
            receipt = await page.get_by_role("link", name="Open receipt").get_attribute("href")
            assert receipt is not None
            assert receipt.startswith(f"{world.box.url}/r/rcpt_")
            await page.goto(receipt)
            await expect(page.get_by_role("status")).to_contain_text("Received.")

        trusting.visit(visit, fresh=True)


def test_mcp_remote_signs_in_with_only_the_address(trusting: Chromium, world: World, tmp_path: Path) -> None:
    packages: list[str] = load_packages()["clients"]["mcp-remote"]
    modules = install_or_skip("mcp-remote", lambda: npm.install_once(*packages))
    script = modules / "mcp-remote" / "dist" / "client.js"
    environment = {**os.environ, "HOME": str(tmp_path), "MCP_REMOTE_CONFIG_DIR": str(tmp_path), "PATH": "/nowhere"}
    command = [str(NODE), str(script), f"{world.box.url}/mcp", "--transport", "http-only"]
    mark = world.box.log_size()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []

        def read_until(wanted: str) -> str:
            for line in process.stdout or ():
                lines.append(line)
                if wanted in line:
                    return line
            raise AssertionError("".join(lines))

        address = read_until(f"{world.box.url}/oauth/authorize?").strip()

        async def approve(page: Page) -> None:
            await page.goto(address)
            await sign_in(page, world)
            await page.get_by_role("button", name="Approve").click()
            await expect(page).to_have_url(re.compile(r"^http://(localhost|127\.0\.0\.1)"))

        trusting.visit(approve, fresh=True)
        read_until('"list_tickets"')
        rest, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, rest
    requests = world.box.log_after(mark)
    assert f"path=/.well-known/oauth-protected-resource{PATH}/mcp status=200" in requests
    assert f"path=/.well-known/oauth-authorization-server{PATH} status=200" in requests
    (app,) = ok(world.owner.web.get("/connected-apps"))["items"]
    assert app["name"] == "MCP CLI Client"
