"""An instance from the wheel, without a clone: a stranger reports, a colleague signs in, a pull request closes it."""

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.docs.pages import ROOT
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.browser import Chromium
from tests.support.git_payloads import build_headers, build_pull_request, encode
from tests.support.openid_provider import RealProvider, open_provider_browser, sign_in_at_provider
from tests.support.server import PASSWORD, Box, eventually, find_free_port, ok
from ticketbox.domain.git.signatures import Provider

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="a virtual environment has other paths there"),
]
OWNER = ["--email", "root@example.org", "--name", "Root", "--company", "Acme", "--project", "Shop", "--password-stdin"]


class InstalledServer(Box):
    """The server of an installation."""

    def __init__(self, program: Path, db: Path, *arguments: str) -> None:
        self.program = program
        super().__init__(db, *arguments)

    def command(self) -> list[str]:
        """The installed command, which serves."""
        return [str(self.program), "serve", "--db", str(self.db), "--no-open", *self.arguments]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The command `ticketbox`, installed from the wheel into an empty virtual environment."""
    packages, environment = tmp_path / "packages", tmp_path / "environment"
    run("uv", "build", "--quiet", "--wheel", "--out-dir", packages, cwd=ROOT)
    (wheel,) = packages.glob("*.whl")
    venv.create(environment)
    run("uv", "pip", "install", "--quiet", "--python", environment / "bin/python", wheel, cwd=tmp_path)
    return environment / "bin/ticketbox"


def run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    """Run a command that must succeed, and return what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        command, cwd=cwd, env=kept, input=stdin, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def report_from_page(chromium: Chromium, site: ReportingSite) -> str:
    """Report a problem on the page as a stranger; the address of the receipt."""

    async def visit(page: Page) -> str:
        await page.goto(f"{site.url}/cart")
        await page.get_by_role("button", name="Add lamp").click()
        await page.get_by_role("button", name="Report a problem").click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        await dialog.get_by_label("What is wrong?").fill("The cart stays empty")
        await dialog.get_by_role("button", name="Send report").click()
        receipt = page.get_by_role("dialog", name="Report sent").get_by_role("link", name="Open receipt")
        await expect(receipt).to_be_visible()
        address = await receipt.get_attribute("href")
        assert address is not None
        return address

    return chromium.visit(visit, fresh=True)


def expect_receipt(chromium: Chromium, address: str, state: str) -> None:
    """Open a receipt as the stranger, and expect a state."""

    async def visit(page: Page) -> None:
        await page.goto(address)
        await expect(page.get_by_role("status")).to_contain_text(state)

    chromium.visit(visit, fresh=True)


def test_installed_instance_takes_a_report_to_its_fix(chromium: Chromium, program: Path, tmp_path: Path) -> None:
    db, port = tmp_path / "ticketbox.db", find_free_port()
    run(program, "init", "--db", db, *OWNER, cwd=tmp_path, stdin=PASSWORD)
    secret = tmp_path / "secret"
    secret.write_text("a secret: 100%\n")
    with RealProvider(f"http://localhost:{port}") as provider, ReportingSite() as site:
        flags = [
            "--port", str(port), "--oidc-issuer", provider.url, "--oidc-client-id", "ticketbox",
            "--oidc-client-secret-file", str(secret), "--oidc-email-domain", "acme.example", "--oidc-create-accounts",
            "--allow-private-addresses",
        ]  # fmt: skip
        with InstalledServer(program, db, *flags) as box, open_provider_browser() as browser:
            owner = box.client()
            ok(owner.post("/session", json={"email": "root@example.org", "password": PASSWORD}))
            (company,) = ok(owner.get("/companies"))["items"]
            (project,) = ok(owner.get("/projects"))["items"]
            key: dict[str, Any] = ok(
                owner.post(
                    f"/projects/{project['id']}/report-keys",
                    json={"kind": "script", "name": "Shop", "origins": [site.url]},
                )
            )

            site.embed(box.url, key["key"])
            receipt = report_from_page(chromium, site)
            expect_receipt(chromium, receipt, "Received.")

            provider.describe_people(bob={"email": "bob@acme.example", "email_verified": True, "name": "Bob"})
            page = sign_in_at_provider(browser, f"{box.url}/signin/provider?next=/inbox", "bob")
            assert (page.status_code, page.url.path) == (200, "/inbox"), page.text
            invited = ok(owner.post(f"/companies/{company['id']}/invitations", json={"role": "member"}))["secret"]
            ok(browser.post(f"{box.api}/invitations/accept/{invited}", json={}))
            (ticket,) = ok(browser.get(f"{box.api}/tickets"))["items"]
            assert (ticket["title"], ticket["labels"]) == ("The cart stays empty", ["external"])
            seen = ok(browser.get(f"{box.api}/tickets/{ticket['id']}"))
            assert seen["capture"]["error_groups"]["items"][0]["message"] == "TypeError: no lamp"

            hook = ok(owner.post(f"/projects/{project['id']}/git-hooks", json={"name": "shop/web"}))
            merged = build_pull_request(f"Fixes {ticket['key']}", state="closed", action="closed", merged=True)
            body = encode(merged)
            headers = build_headers(Provider.GITHUB, hook["secret"], body, "pull_request")
            assert httpx.post(hook["url"], content=body, headers=headers).status_code == 202

            def read() -> dict[str, Any]:
                return ok(browser.get(f"{box.api}/tickets/{ticket['id']}"))

            assert eventually(lambda: (found := read())["resolved"] and found)["column"] == "Done"
            expect_receipt(chromium, receipt, "The problem is fixed.")
