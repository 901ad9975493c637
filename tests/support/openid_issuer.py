"""An OpenID Connect issuer that tests control, to send what no real provider would."""

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

SECRET = "a secret: 100%"


class SigningKey:
    """An RSA key of an issuer, and its public half as a JWK."""

    def __init__(self, kid: str) -> None:
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = json.loads(RSAAlgorithm.to_jwk(self.private.public_key()))
        self.jwk: dict[str, Any] = {**public, "kid": kid, "use": "sig"}
        self.kid = kid


class Issuer:
    """What the issuer answers. `claims` are those of the next ID token, `more` those of userinfo."""

    def __init__(self) -> None:
        self.key = SigningKey("first")
        self.keys = [self.key.jwk]
        self.claims: dict[str, Any] = {}
        self.more: dict[str, Any] | None = None
        self.metadata: dict[str, Any] = {}
        self.is_down = False
        self.url = ""
        self.forms: list[dict[str, str]] = []
        self.credentials: list[str] = []
        self.token: str | None = None  # instead of the signed claims
        self.person: dict[str, Any] = {}  # who is signed in at the authorization endpoint

    def expect(self, start: str, **claims: Any) -> str:
        """Let the next ID token answer a sign-in's address; return its state."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(start).query).items()}
        now = int(time.time())
        self.claims = {
            "iss": self.url, "aud": "ticketbox", "sub": "ann", "iat": now, "exp": now + 300, "nonce": query["nonce"],
            **claims,
        }  # fmt: skip
        return query["state"]

    def sign(self, claims: dict[str, Any]) -> str:
        """Sign claims with the present key."""
        return jwt.encode(claims, self.key.private, algorithm="RS256", headers={"kid": self.key.kid})

    def describe(self) -> dict[str, Any]:
        """The metadata document."""
        userinfo = {"userinfo_endpoint": f"{self.url}/me"} if self.more is not None else {}
        return {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/auth", "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks", **userinfo, **self.metadata,
        }  # fmt: skip

    def answer(self, path: str) -> Any:
        """The body for a path."""
        if path == "/token":
            token = self.token or self.sign({name: each for name, each in self.claims.items() if each is not None})
            return {"id_token": token, "access_token": "an access token", "token_type": "Bearer"}
        return {"/.well-known/openid-configuration": self.describe(), "/jwks": {"keys": self.keys}, "/me": self.more}[
            path
        ]


@contextlib.contextmanager
def run_issuer() -> Iterator[Issuer]:
    """An issuer on a free port."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/auth?"):
                query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                answer = {"code": "a code", "state": issuer.expect(self.path, **issuer.person), "iss": issuer.url}
                self.send_response(303)
                self.send_header("location", f"{query['redirect_uri']}?{urlencode(answer)}")
                self.end_headers()
                return
            self._send()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            issuer.forms.append({name: values[0] for name, values in parse_qs(body).items()})
            scheme, _, text = self.headers.get("authorization", "").partition(" ")
            issuer.credentials.append(base64.b64decode(text).decode() if scheme == "Basic" else "")
            self._send()

        def _send(self) -> None:
            body = json.dumps({} if issuer.is_down else issuer.answer(self.path)).encode()
            self.send_response(503 if issuer.is_down else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name in the base class)
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
