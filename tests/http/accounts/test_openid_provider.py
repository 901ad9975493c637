"""Sign in with a real OpenID Connect provider."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.openid_provider import RealProvider, open_provider_browser, sign_in_at_provider
from tests.support.server import Box, copy_initialized_file, find_free_port, ok, run_beside, run_server

pytestmark = pytest.mark.long


class Organisation(NamedTuple):
    """A server and its provider."""

    box: Box
    provider: RealProvider


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Organisation]:
    """A server whose members come from a provider, with a role for each group."""
    folder = Path(tmp_path_factory.mktemp("organisation"))
    port = find_free_port()
    company = run_beside(copy_initialized_file(folder), lambda tx: tx.fetch_value("SELECT public_id FROM company"))
    secret = folder / "secret"
    secret.write_text("a secret: 100%\n")
    with RealProvider(f"http://localhost:{port}") as provider:
        flags = [
            "--port", str(port), "--oidc-issuer", provider.url, "--oidc-client-id", "ticketbox",
            "--oidc-client-secret-file", str(secret), "--oidc-email-domain", "acme.example", "--oidc-create-accounts",
            "--oidc-role", f"engineers={company}:member", "--oidc-role", f"leads={company}:admin",
            "--allow-private-addresses",
        ]  # fmt: skip
        with run_server(folder, *flags) as box:
            yield Organisation(box, provider)


def claims(name: str, *groups: str) -> dict[str, object]:
    return {"email": f"{name}@acme.example", "email_verified": True, "name": name.title(), "groups": list(groups)}


def test_member_of_a_real_provider_signs_in_and_follows_its_groups(organisation: Organisation) -> None:
    box, provider = organisation
    me = f"{box.url}/api/v1/me"
    with open_provider_browser() as browser:
        for groups, role in ((["leads"], "admin"), (["engineers"], "member"), ([], None)):
            provider.describe_people(ann=claims("ann", *groups))
            page = sign_in_at_provider(browser, f"{box.url}/signin/provider?next=/inbox", "ann")
            assert (page.status_code, page.url.path) == (200, "/inbox"), page.text
            shown = ok(browser.get(me))
            assert shown["user"]["name"] == "Ann"
            assert [each["role"] for each in shown["companies"]] == ([role] if role else [])
        provider.rotate_keys()
        page = sign_in_at_provider(browser, f"{box.url}/signin/provider?next=/inbox", "ann")
        assert (page.status_code, page.url.path) == (200, "/inbox"), "with the provider's new key"


def test_fresh_sign_in_at_a_real_provider_confirms_the_session(organisation: Organisation) -> None:
    box, provider = organisation
    provider.describe_people(bob=claims("bob", "engineers"))
    body = {"label": "x", "scopes": ["read"]}
    with open_provider_browser() as browser:
        sign_in_at_provider(browser, f"{box.url}/signin/provider", "bob")
        assert browser.post(f"{box.url}/api/v1/tokens", json=body).status_code == 403
        page = sign_in_at_provider(browser, f"{box.url}/signin/provider?fresh=1&next=/settings/tokens", "bob")
        assert page.url.path == "/settings/tokens", page.text
        ok(browser.post(f"{box.url}/api/v1/tokens", json=body))


def test_stranger_and_unverified_address_of_a_real_provider_are_refused(organisation: Organisation) -> None:
    box, provider = organisation
    provider.describe_people(
        eve={**claims("eve"), "email": "eve@evil.example"}, mallory={**claims("mallory"), "email_verified": False}
    )
    for name in ("eve", "mallory", "nobody"):
        with open_provider_browser() as browser:
            page = sign_in_at_provider(browser, f"{box.url}/signin/provider", name)
            assert page.status_code == 403, page.text
            assert "verified email address of acme.example" in page.text
            assert browser.get(f"{box.url}/api/v1/me").status_code == 401


def test_real_provider_that_stops_is_reported_and_works_again(organisation: Organisation) -> None:
    box, provider = organisation
    with open_provider_browser() as browser:
        start = browser.get(f"{box.url}/signin/provider").headers["location"]
        provider.stop()
        answer = browser.get(f"{box.url}/signin/callback?code=x&iss={provider.url}&state={read_state(start)}")
        assert answer.status_code == 503
        assert "can’t be reached" in answer.text
        provider.start()
        provider.describe_people(carl=claims("carl", "engineers"))
        page = sign_in_at_provider(browser, f"{box.url}/signin/provider?next=/inbox", "carl")
        assert page.url.path == "/inbox", page.text


def read_state(address: str) -> str:
    """The state in an address at the provider."""
    return address.partition("&state=")[2].partition("&")[0]
