"""An app that connects, over plain HTTP: registration, the consent page's form, tokens."""

import base64
import hashlib
import html
import re
import secrets
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.support.server import Box, Person, World, ok

CALLBACK = "http://127.0.0.1:33418/callback"
ALL = "read comments tickets:write tickets:assign"


def challenge_of(verifier: str) -> str:
    """S256 (RFC 7636)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def browser_of(person: Person) -> httpx.Client:
    """The person's browser: the session's cookie, and what a page of the site sends with its forms."""
    browser = person.box.client(**{"Sec-Fetch-Site": "same-origin"})
    browser.base_url = httpx.URL(person.box.url)
    browser.cookies = person.web.cookies
    return browser


def query_of(answer: httpx.Response) -> dict[str, str]:
    """The parameters of the redirect in an answer."""
    assert answer.status_code == 303, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


def handle_in(page: httpx.Response) -> str:
    """The handle in a consent page."""
    match = re.search(r'name="handle" value="([^"]+)"', page.text)
    assert page.status_code == 200, page.text
    assert match is not None, page.text
    return html.unescape(match[1])


class App:
    """A registered app with its PKCE verifier."""

    def __init__(self, box: Box, *redirect_uris: str, name: str = "Test agent", **metadata: Any) -> None:
        self.box = box
        self.http = box.client()
        self.http.base_url = httpx.URL(box.url)
        self.redirect_uri = (redirect_uris or (CALLBACK,))[0]
        given = {"redirect_uris": list(redirect_uris or (CALLBACK,)), "client_name": name, **metadata}
        self.registered = ok(self.http.post("/oauth/register", json=given))
        self.client_id: str = self.registered["client_id"]
        self.verifier = secrets.token_urlsafe(48)

    def request(self, **changes: str | None) -> dict[str, str]:
        """The parameters of a sound authorization request, but for the changes."""
        given: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": f"{self.box.url}/mcp",
            "scope": ALL,
            "state": "a state & more",
            **changes,
        }
        return {name: value for name, value in given.items() if value is not None}

    def ask(self, browser: httpx.Client, **changes: str | None) -> httpx.Response:
        """Open the authorization endpoint in a browser."""
        return browser.get("/oauth/authorize", params=self.request(**changes))

    def approve(self, person: Person, *scopes: str, **choice: Any) -> str:
        """Let a person approve; the code."""
        browser = browser_of(person)
        asked = {name: choice.pop(name) for name in ("resource", "redirect_uri") if name in choice}
        form = {"handle": handle_in(self.ask(browser, **asked)), "decision": "approve", "company": "", **choice}
        answer = browser.post("/oauth/authorize", data={**form, "scope": list(scopes or ALL.split())})
        return query_of(answer)["code"]

    def token(self, **given: str | None) -> httpx.Response:
        """Ask the token endpoint."""
        form = {"client_id": self.client_id, **given}
        return self.http.post("/oauth/token", data={name: value for name, value in form.items() if value is not None})

    def redeem(self, code: str, /, **changes: str | None) -> httpx.Response:
        """Exchange a code."""
        given = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": f"{self.box.url}/mcp",
        }
        return self.token(**{**given, **changes})

    def refresh(self, refresh_token: str, /, **changes: str | None) -> httpx.Response:
        """Exchange a refresh token."""
        return self.token(grant_type="refresh_token", refresh_token=refresh_token, **changes)

    def connect(self, person: Person, *scopes: str, **choice: Any) -> dict[str, Any]:
        """All of it: the first pair."""
        return ok(self.redeem(self.approve(person, *scopes, **choice), **_only(choice, "resource")))

    def call(self, secret: str, tool: str = "whoami", **arguments: Any) -> httpx.Response:
        """Call a tool at the MCP endpoint."""
        headers = {
            "Authorization": f"Bearer {secret}",
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": "2025-11-25",
        }
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}
        }  # fmt: skip
        return self.http.post("/mcp", json=message, headers=headers)


def _only(choice: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: choice[name] for name in names if name in choice}


def connect_app(world: World) -> str:
    """The public id of something that the owner granted, in the world's company."""
    App(world.box).connect(world.owner, "read", company=world.company)
    return ok(world.owner.web.get("/connected-apps"))["items"][0]["id"]
