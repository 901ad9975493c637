"""An account's records as every surface shows them: tokens, connected apps, sessions, email."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import Time


class TokenKind(StrEnum):
    """How a token was created: in Settings, or by granting access to an app."""

    API = "api"
    OAUTH = "oauth"


class Token(msgspec.Struct, frozen=True):
    """An API token, without its secret; `prefix` is the start of it."""

    id: str
    label: str
    prefix: str
    kind: TokenKind
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    expires_at: Time | None
    created: Time
    last_used_at: Time | None


class ConnectedApp(msgspec.Struct, frozen=True):
    """An app that a user granted access. `client_host` publishes its metadata; null for an app that registered."""

    id: str
    name: str
    client_host: str | None
    redirect_host: str
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    created: Time
    last_used_at: Time | None
    expires_at: Time


class Session(msgspec.Struct, frozen=True):
    """A signed-in web session."""

    id: str
    current: bool
    address: str | None
    user_agent: str | None
    created: Time
    last_used_at: Time | None
    expires_at: Time


class Passkey(msgspec.Struct, frozen=True):
    """A passkey of an account: a key of a device, security key or password manager that signs in."""

    id: str
    name: str
    created: Time
    last_used_at: Time | None


class User(msgspec.Struct, frozen=True):
    """An account."""

    id: str
    name: str
    email: str


class MailState(StrEnum):
    """Whether a person gets email: `asked` until they open the link in the confirmation mail.

    `unavailable`: the server has no mail server configured.
    """

    UNAVAILABLE = "unavailable"
    OFF = "off"
    ASKED = "asked"
    ON = "on"


class Profile(msgspec.Struct, frozen=True):
    """The caller's own account. `pending_email` is a new address whose link wasn't opened yet."""

    id: str
    name: str
    email: str
    pending_email: str | None
    mail: MailState
