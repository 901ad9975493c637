"""What belongs to an account, as every surface shows it: credentials, invitations, mail, notifications."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import Time


class TokenKind(StrEnum):
    """How a token came to be: made in Settings, or granted to an app."""

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
    """What a user granted to an app. `client_host` publishes the app's description; null for one that registered."""

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


class User(msgspec.Struct, frozen=True):
    """An account."""

    id: str
    name: str
    email: str


class MailState(StrEnum):
    """Whether a person gets e-mail: `asked` until they open the link that was mailed to them.

    `unavailable`: the server's operator named no mail server.
    """

    UNAVAILABLE = "unavailable"
    OFF = "off"
    ASKED = "asked"
    ON = "on"


class Profile(msgspec.Struct, frozen=True):
    """The caller's own account."""

    id: str
    name: str
    email: str
    mail: MailState
