"""How the caller signs in: password, and the identity at the provider that is linked to the account."""

import msgspec

from ticketbox.domain.accounts import secrets
from ticketbox.domain.accounts.identity_provider import Identity, ProviderSettings
from ticketbox.domain.accounts.security_events import NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via, require_confirmation
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, NotFound, PasswordRequired
from ticketbox.domain.core.records import Time
from ticketbox.operations.accounts.identity_provider import PreparedStart, StartedSignIn, prepare_start
from ticketbox.operations.accounts.security_events import queue_notice, record_account_change
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Nothing
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors, identities, passkeys, provider_requests, second_factors, users
from ticketbox.store.file.database import Read, Write


class ProviderLink(msgspec.Struct, frozen=True):
    """The server's identity provider, and whether the account signs in with it."""

    name: str
    linked: bool


class EnabledFactor(msgspec.Struct, frozen=True):
    """Since when the account requires a second factor, and how many recovery codes are left.

    `app` says whether it has an authenticator app, `passkeys` how many passkeys it has.
    """

    since: Time
    recovery_codes: int
    app: bool
    passkeys: int


class SignInMethods(msgspec.Struct, frozen=True):
    """How the account can sign in. `password_sign_in` says whether this server allows passwords at all.

    `second_factor_required` says whether a company of the caller requires a second factor.
    """

    has_password: bool
    password_sign_in: bool
    provider: ProviderLink | None
    second_factor: EnabledFactor | None
    second_factor_required: bool


async def get_provider_settings(
    services: Services, actor: Actor, args: msgspec.Struct, context: RequestContext
) -> ProviderSettings | None:
    """Return the settings of the identity provider."""
    return None if services.provider is None else services.provider.settings


@operation(
    "get_sign_in_methods", scope=Access.SESSION, budget=Budget.READ, rest="GET /profile/sign-in",
    prepare=get_provider_settings, without_factor=True,
)  # fmt: skip
def get_sign_in_methods(tx: Read, actor: Actor, args: Nothing, settings: ProviderSettings | None) -> SignInMethods:
    """Show how the caller can sign in."""
    account = users.find_account_by_key(tx, actor.user)
    provider = None
    if settings is not None:
        provider = ProviderLink(settings.name, identities.is_linked(tx, actor.user, settings.issuer))
    has_password = account is not None and account.password_hash is not None
    second, required = _load_factor(tx, actor.user), second_factors.is_second_factor_required(tx, actor.user)
    return SignInMethods(has_password, settings is None or settings.allows_passwords, provider, second, required)


def _load_factor(tx: Read, user: int) -> EnabledFactor | None:
    app = second_factors.find_second_factor(tx, user)
    enabled_at = None if app is None else app.enabled_at
    keys = passkeys.list_passkeys(tx, user)
    since = [] if enabled_at is None else [format_rfc3339(enabled_at)]
    since += [each.created for each in keys[:1]]
    if not since:
        return None
    left = second_factors.count_recovery_codes(tx, user)
    return EnabledFactor(min(since), left, enabled_at is not None, len(keys))


async def prepare_link(services: Services, actor: Actor, args: Nothing, context: RequestContext) -> PreparedStart:
    """Build the address at the provider. Raises PasswordRequired, NotFound and Unavailable."""
    require_confirmation(actor.confirmed)
    return await prepare_start(services, "/settings/sign-in", link=True)


@operation("link_provider", scope=Access.SESSION, budget=Budget.WRITE, prepare=prepare_link)
def link_provider(tx: Write, actor: Actor, args: Nothing, start: PreparedStart) -> StartedSignIn:
    """Start a sign-in at the provider that links it to the caller's account. The session must be confirmed."""
    state = secrets.hash_secret(start.state)
    provider_requests.insert_provider_request(tx, state, start.request, user=actor.user)
    return StartedSignIn(start.url)


def link_identity(tx: Write, user: int, identity: Identity, settings: ProviderSettings) -> None:
    """Link an identity to an account, and report it to the person. Raises Conflict if either has another link."""
    holder = identities.find_linked_user(tx, identity.issuer, identity.subject)
    if holder == user:
        return
    if holder is not None:
        raise Conflict(f"this account of {settings.name} is linked to another account here")
    if identities.is_linked(tx, user, identity.issuer):
        raise Conflict(f"your account is linked to another account of {settings.name}; unlink that first")
    identities.insert_identity(tx, user, identity.issuer, identity.subject)
    person = actors.load_user_as_actor(tx, user, Via.WEB)
    record_account_change(tx, person, SecurityAction.PROVIDER_LINK, "account.provider_linked", provider=settings.name)
    queue_notice(tx, user, NoticeKind.PROVIDER_LINKED, person.email)


@operation(
    "unlink_provider", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /profile/provider",
    refuses=(NotFound, Conflict, PasswordRequired), prepare=get_provider_settings,
)  # fmt: skip
def unlink_provider(tx: Write, actor: Actor, args: Nothing, settings: ProviderSettings | None) -> None:
    """Stop signing in with the identity provider. Roles that its groups decided stay.

    Requires that this session confirmed the password, and a password to sign in with.
    """
    require_confirmation(actor.confirmed)
    account = users.find_account_by_key(tx, actor.user)
    if account is None or account.password_hash is None or (settings is not None and not settings.allows_passwords):
        raise Conflict("this is the only way to sign in to your account")
    if not identities.delete_identities(tx, actor.user):
        raise NotFound("provider", "your account isn't linked to an identity provider")
    record_account_change(tx, actor, SecurityAction.PROVIDER_UNLINK, "account.provider_unlinked")
    queue_notice(tx, actor.user, NoticeKind.PROVIDER_UNLINKED, actor.email)
