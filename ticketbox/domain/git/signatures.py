"""Signatures of deliveries: of GitHub, of Gitea and Forgejo, and the secret token of GitLab (docs/use/git.md)."""

import hashlib
import hmac
from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Provider(StrEnum):
    """Whose form a delivery has."""

    GITHUB = "github"
    GITEA = "gitea"
    GITLAB = "gitlab"


class Signature(msgspec.Struct, frozen=True):
    """What a delivery is signed with: hexadecimal digits, or for GitLab the secret itself."""

    provider: Provider
    text: str


def read_signature(headers: dict[str, str]) -> Signature | None:
    """Read the signature from a delivery's headers, with lower-case names; None if there is none.

    Gitea and Forgejo send GitHub's headers as well, so theirs go first.
    """
    for name in ("x-forgejo-signature", "x-gitea-signature"):
        if headers.get(name):
            return Signature(Provider.GITEA, headers[name])
    if headers.get("x-gitlab-token"):
        return Signature(Provider.GITLAB, headers["x-gitlab-token"])
    scheme, _, digits = headers.get("x-hub-signature-256", "").partition("=")
    return Signature(Provider.GITHUB, digits) if scheme == "sha256" and digits else None


def is_signed(signature: Signature, secrets: Iterable[str], body: bytes) -> bool:
    """Whether a delivery was signed with one of the secrets, compared in constant time."""
    given = signature.text.strip().encode()
    matches = [hmac.compare_digest(_sign(signature.provider, secret, body), given) for secret in secrets]
    return any(matches)


def _sign(provider: Provider, secret: str, body: bytes) -> bytes:
    if provider is Provider.GITLAB:
        return secret.encode()
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode()
