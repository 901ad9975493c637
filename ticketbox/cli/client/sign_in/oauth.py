"""Sign in to a server in the browser: OAuth 2.1 with PKCE and a loopback redirect (RFC 8252, 7.3)."""

import base64
import hashlib
import hmac
import html
import secrets
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import msgspec

from ticketbox.cli.client.sign_in.credentials import (
    Grant,
    Resource,
    delete_grant,
    load_grant,
    lock_credentials,
    save_grant,
)
from ticketbox.cli.client.terminal import escape_line
from ticketbox.cli.core.output import exit_with_error

TIMEOUT_SECONDS = 30.0
CONSENT_SECONDS = 600.0  # the server accepts an answer for as long
EARLY_SECONDS = 60  # a token this close to its end is refreshed

_PATH = "/callback"
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    "<body style='font: 16px system-ui; margin: 15vh auto; max-width: 30rem; text-align: center'><h1>{title}</h1>"
    "<p>You can close this window and return to the terminal.</p>"
)


class Metadata(msgspec.Struct):
    """What the sign-in needs of a server's metadata (RFC 8414)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str


class _Tokens(msgspec.Struct):
    access_token: str
    refresh_token: str
    expires_in: float


def sign_in(url: str, resource: Resource, scopes: tuple[str, ...], show_address: Callable[[str], None]) -> Grant:
    """Let a person approve the command line in a browser, and return the tokens. Exits with a message on failure."""
    with httpx2.Client(timeout=TIMEOUT_SECONDS) as http, _Listener(("127.0.0.1", 0), _Callback) as listener:
        metadata = _load_metadata(http, url)
        redirect_uri = f"http://127.0.0.1:{listener.server_port}{_PATH}"
        client_id = _register(http, metadata, redirect_uri)
        verifier, listener.state = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        target = f"{url}/{resource.value}"
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": redirect_uri,
            "state": listener.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "resource": target,
            **({"scope": " ".join(scopes)} if scopes else {}),
        }
        show_address(f"{metadata.authorization_endpoint}?{urlencode(query)}")
        answer = listener.wait()
        if answer.get("iss", metadata.issuer) != metadata.issuer:  # RFC 9207: an answer of another server
            exit_with_error("the answer is from another server; sign in again")
        if "code" not in answer:
            reason = answer.get("error_description") or answer.get("error", "no reason")
            exit_with_error(f"the sign-in was refused: {escape_line(reason)}")
        form = {
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": answer["code"],
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
            "resource": target,
        }
        return _request_tokens(http, metadata.token_endpoint, client_id, form)


def get_access_token(url: str, resource: Resource) -> str | None:
    """Return a valid access token of a sign-in, refreshed if necessary; None without a sign-in.

    Exits with a message if the sign-in has ended.
    """
    grant = load_grant(url, resource)
    if grant is None or grant.expires_at - EARLY_SECONDS > time.time():
        return None if grant is None else grant.access_token
    with lock_credentials(), httpx2.Client(timeout=TIMEOUT_SECONDS) as http:
        grant = load_grant(url, resource)  # another process may have refreshed it
        if grant is None or grant.expires_at - EARLY_SECONDS > time.time():
            return None if grant is None else grant.access_token
        form = {"grant_type": "refresh_token", "client_id": grant.client_id, "refresh_token": grant.refresh_token}
        renewed = _request_tokens(http, f"{url}/oauth/token", grant.client_id, form)
        save_grant(url, resource, renewed, make_default=False)
        return renewed.access_token


def sign_out(url: str, resource: Resource) -> bool:
    """Revoke and forget a sign-in; return False if there is none. It is forgotten even if the server is away."""
    grant = load_grant(url, resource)
    if grant is None:
        return False
    delete_grant(url, resource)
    with httpx2.Client(timeout=TIMEOUT_SECONDS) as http:
        form = {"client_id": grant.client_id, "token": grant.refresh_token}
        _send(http, "POST", f"{url}/oauth/revoke", data=form)
    return True


def _load_metadata(http: httpx2.Client, url: str) -> Metadata:
    response = _send(http, "GET", f"{url}/.well-known/oauth-authorization-server")
    try:
        metadata = msgspec.json.decode(response.content, type=Metadata)
    except msgspec.DecodeError:
        exit_with_error(f"{url} isn't a ticketbox server")
    if metadata.issuer != url:  # RFC 8414, 3.3
        exit_with_error(f"{url} calls itself {escape_line(metadata.issuer)}; sign in with that address")
    endpoints = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint)
    if not all(each.startswith(f"{url}/") for each in endpoints):
        exit_with_error(f"{url} names another server to sign in to")
    return metadata


def _register(http: httpx2.Client, metadata: Metadata, redirect_uri: str) -> str:
    name = f"ticketbox command line on {socket.gethostname()}"
    body = {"client_name": name, "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
    response = _send(http, "POST", metadata.registration_endpoint, json=body)
    return str(msgspec.json.decode(response.content)["client_id"])


def _request_tokens(http: httpx2.Client, endpoint: str, client_id: str, form: dict[str, str]) -> Grant:
    response = _send(http, "POST", endpoint, data=form)
    tokens = msgspec.json.decode(response.content, type=_Tokens)
    return Grant(client_id, tokens.access_token, tokens.refresh_token, time.time() + tokens.expires_in)


def _send(http: httpx2.Client, method: str, address: str, **content: Any) -> httpx2.Response:
    """Send a request. Exits with a message if it fails."""
    parts = urlsplit(address)
    server = f"{parts.scheme}://{parts.netloc}"
    try:
        response = http.request(method, address, **content)
    except httpx2.TransportError as error:
        exit_with_error(f"can't reach {server} ({type(error).__name__})", 5)
    if not response.is_success:
        _exit_with_refusal(response, server)
    return response


def _exit_with_refusal(response: httpx2.Response, server: str) -> NoReturn:
    """Print why a request was refused (RFC 6749, 5.2), and exit."""
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.DecodeError:
        problem = {}
    if problem.get("error") in {"invalid_grant", "invalid_client"}:
        exit_with_error("the sign-in has ended; run `ticketbox login`", 4)
    detail = problem.get("error_description") or problem.get("detail") or f"{server} answered {response.status_code}"
    exit_with_error(escape_line(str(detail)))


class _Listener(HTTPServer):
    """Waits on this machine for the browser's answer."""

    state = ""
    answer: dict[str, str] | None = None

    def wait(self) -> dict[str, str]:
        """Return the parameters of the answer. Exits with a message after ten minutes."""
        deadline = time.monotonic() + CONSENT_SECONDS
        while self.answer is None:
            self.timeout = deadline - time.monotonic()
            if self.timeout <= 0:
                exit_with_error("nobody answered within ten minutes; run `ticketbox login` again")
            self.handle_request()
        return self.answer


class _Callback(BaseHTTPRequestHandler):
    server: _Listener  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = 10

    def do_GET(self) -> None:
        """Accept the one answer that carries the state of this sign-in (RFC 6749, 10.12); refuse everything else."""
        parts = urlsplit(self.path)
        given = dict(parse_qsl(parts.query))
        valid = parts.path == _PATH and hmac.compare_digest(given.get("state", ""), self.server.state)
        title = "Not found" if not valid else "Signed in" if "code" in given else "Not signed in"
        body = _PAGE.format(title=html.escape(title)).encode()
        self.send_response(200 if valid else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
        if valid:
            self.server.answer = given

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the line would contain the code."""
