"""An OpenID Connect provider: the operator's settings, and who somebody is there (docs/operate/single-sign-on.md)."""

import re
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.accounts.email_addresses import PATTERN, fold_address
from ticketbox.domain.core.access.scopes import Role, RoleName
from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.unsafe_characters import REORDERING

SCOPES = ("openid", "email", "profile")
MAX_GROUPS = 1_000
_UNSAFE = re.compile(rf"[\x00-\x1f\x7f{REORDERING}]")
_EMAIL = re.compile(PATTERN)
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


class GroupRole(msgspec.Struct, frozen=True):
    """A group at the provider, and the role that its members have in a company."""

    group: str
    company_id: str
    role: Role


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator set. `name` is on the button. Without `domains`, every email address is allowed.

    `trusts_emails` treats addresses as verified although the provider doesn't say so. Without `allows_passwords`,
    nobody signs in with a password.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    name: str
    domains: tuple[str, ...] = ()
    groups_claim: str = "groups"
    roles: tuple[GroupRole, ...] = ()
    creates_accounts: bool = False
    trusts_emails: bool = False
    allows_passwords: bool = True

    def __repr__(self) -> str:
        return f"ProviderSettings({self.issuer})"  # a traceback or a log line may show it

    def allows_email(self, identity: "Identity") -> bool:
        """Whether somebody with this address may sign in: with `domains`, a verified one in one of them."""
        if not self.domains:
            return True
        return identity.is_verified and identity.email.rpartition("@")[2] in self.domains

    def find_roles(self, groups: frozenset[str]) -> dict[str, Role | None]:
        """Return the highest role in each company that the settings name; None without a matching group."""
        found: dict[str, Role | None] = {each.company_id: None for each in self.roles}
        for each in self.roles:
            if each.group in groups:
                found[each.company_id] = max(found[each.company_id] or each.role, each.role)
        return found


class ProviderMetadata(msgspec.Struct, frozen=True):
    """The fields used from the provider's metadata (OpenID Connect Discovery 1.0, 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    scopes_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Provider(msgspec.Struct):
    """The provider: the operator's settings, and its metadata and public keys as far as they were fetched.

    `stale_at` is a time of the monotonic clock, in seconds, from which the metadata is fetched again.
    """

    settings: ProviderSettings
    metadata: ProviderMetadata | None = None
    keys: list[dict[str, Any]] = []
    stale_at: float = 0.0


class Identity(msgspec.Struct, frozen=True):
    """Who somebody is at the provider. `email` is empty if the provider didn't send one.

    `signed_in_at` is when the person last entered credentials there, in epoch seconds, if the provider says so.
    """

    issuer: str
    subject: str
    email: str
    is_verified: bool
    name: str
    groups: frozenset[str]
    signed_in_at: int | None


def read_identity(claims: dict[str, Any], settings: ProviderSettings) -> Identity:
    """Read the claims of a checked ID token (OpenID Connect Core 1.0, 5.1)."""
    email = fold_address(_get_text(claims, "email"))
    if not _EMAIL.fullmatch(email) or len(email) > 254:
        email = ""
    names = (_get_text(claims, key) for key in ("name", "preferred_username"))
    name = next(filter(None, names), "") or email.partition("@")[0] or "New member"
    groups = _read_groups(claims.get(settings.groups_claim))
    verified = claims.get("email_verified")  # some providers send it as text
    at = claims.get("auth_time")
    return Identity(
        issuer=settings.issuer,
        subject=claims["sub"],
        email=email,
        is_verified=bool(email) and (settings.trusts_emails or verified is True or verified == "true"),
        name=normalize_text(name)[:100],
        groups=groups,
        signed_in_at=int(at) if isinstance(at, int | float) and not isinstance(at, bool) else None,
    )


def _read_groups(given: Any) -> frozenset[str]:
    """Return the names in a list; one name can come without a list."""
    if isinstance(given, str):
        return frozenset({given})
    listed = cast(list[Any], given) if isinstance(given, list) else []
    return frozenset(each for each in listed[:MAX_GROUPS] if isinstance(each, str))


def _get_text(claims: dict[str, Any], key: str) -> str:
    value = claims.get(key)
    return " ".join(_UNSAFE.sub(" ", value).split()) if isinstance(value, str) else ""


def parse_issuer(text: str) -> str:
    """Return an issuer as it is written, which tokens repeat exactly. Raises InvalidField."""
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment or parts.username:
        raise InvalidField("oidc-issuer", "use the provider's URL, such as https://login.example.org")
    return text


def parse_group_role(text: str) -> GroupRole:
    """Parse `GROUP=COMPANY:ROLE`, in which only the group can contain these characters. Raises InvalidField."""
    group, _, rest = text.rpartition("=")
    company_id, _, role = rest.rpartition(":")
    if not group or not company_id or role not in set(RoleName):
        raise InvalidField("oidc-role", f"{text} is not GROUP=COMPANY:ROLE, such as staff=co_7h2k9m4p1r6t:member")
    return GroupRole(group, company_id, RoleName(role).role)


def parse_email_domain(text: str) -> str:
    """Return a domain in lower case. Raises InvalidField."""
    domain = text.strip().removeprefix("@").lower()
    if not _DOMAIN.fullmatch(domain):
        raise InvalidField("oidc-email-domain", f"{text} is not a domain, such as example.org")
    return domain
