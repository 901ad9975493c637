"""Sign in with the identity provider: start, the provider's answer, and linking an account that exists."""

import secrets as random
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import secrets
from ticketbox.domain.accounts.identity_provider import Identity, ProviderSettings
from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, NotFound, Unauthorized
from ticketbox.operations.accounts.identities import link_identity
from ticketbox.operations.accounts.identity_provider import (
    PreparedStart,
    ProviderClient,
    SignInRequest,
    StartedSignIn,
    prepare_start,
    require_provider,
)
from ticketbox.operations.accounts.memberships import apply_group_roles
from ticketbox.operations.accounts.second_factor.sign_in import CodeRequired, continue_sign_in
from ticketbox.operations.accounts.sessions import WRONG, SignedIn, SignIn, check_account_password
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, devices, identities, provider_requests, second_factors, users
from ticketbox.store.accounts.actors import CONFIRMED_MS
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Read, Write

PER_MINUTE = 60
NO_REQUEST = "this sign-in has expired, was already used, or began in another browser; start again"

Browser = Annotated[Secret, Meta(description="The secret in the browser's cookie, which binds a sign-in to it.")]
LongText = Annotated[str, Meta(max_length=8_000)]


class StartSignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The page to continue to; `fresh` asks the provider to identify the person again."""

    then: LongText
    browser: Browser
    fresh: bool = False


async def prepare_sign_in(
    services: Services, actor: Actor, args: StartSignIn, context: RequestContext
) -> PreparedStart:
    """Limit starts, and build the address. Raises RateLimited, NotFound and Unavailable."""
    services.limit(context.network, "provider-start", PER_MINUTE, "too many sign-ins from this address")
    return await prepare_start(services, args.then, fresh=args.fresh)


@operation("start_provider_sign_in", scope=Access.PUBLIC, budget=Budget.NONE, prepare=prepare_sign_in)
def start_provider_sign_in(tx: Write, actor: Actor, args: StartSignIn, start: PreparedStart) -> StartedSignIn:
    """Start a sign-in with the identity provider."""
    provider_requests.insert_provider_request(
        tx, secrets.hash_secret(start.state), start.request, browser_hash=secrets.hash_secret(args.browser)
    )
    return StartedSignIn(start.url)


class TakeRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The state in the provider's answer, and the secret of the browser that brought it."""

    state: LongText
    browser: Browser | None = None


async def limit_answers(services: Services, actor: Actor, args: TakeRequest, context: RequestContext) -> None:
    """Limit answers for each address. Raises RateLimited, and NotFound without a provider."""
    require_provider(services)
    services.limit(context.network, "provider-answer", PER_MINUTE, "too many sign-ins from this address")


@operation("take_provider_request", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_answers)
def take_provider_request(tx: Write, actor: Actor, args: TakeRequest, _: None) -> SignInRequest:
    """Return the sign-in that an answer belongs to. It can't be used again, whatever becomes of it."""
    state, browser = secrets.hash_secret(args.state), _hash_browser(args.browser)
    found = provider_requests.take_provider_request(tx, state, browser, _get_user(actor), SignInRequest)
    if found is None:
        raise NotFound("sign-in", NO_REQUEST)
    return found


def _get_user(actor: Actor) -> int:
    return actor.user if actor.kind is Kind.SESSION else 0


class CompleteSignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The sign-in that the provider answers, the code, and the issuer in the answer (RFC 9207)."""

    request: SignInRequest
    code: LongText
    issuer: LongText | None = None
    browser: Browser | None = None


class IdentifiedPerson(msgspec.Struct, frozen=True):
    """Who the person is at the provider."""

    identity: Identity
    settings: ProviderSettings


async def identify_person(
    services: Services, actor: Actor, args: CompleteSignIn, context: RequestContext
) -> IdentifiedPerson:
    """Exchange the code. Raises Forbidden and Unavailable."""
    identity = await ProviderClient(services).identify(args.request, args.code, args.issuer)
    return IdentifiedPerson(identity, require_provider(services).settings)


class LinkRequest(msgspec.Struct, frozen=True):
    """An identity that waits for the person to link it to the account with its address."""

    identity: Identity
    then: str


class LinkFirst(msgspec.Struct, frozen=True):
    """An account with the address exists: the person must sign in to it once, to link it.

    `is_verified` says that the provider verified the address.
    """

    handle: str
    email: str
    is_verified: bool


class IdentityLink(msgspec.Struct, frozen=True):
    """The identity is linked to the account that is signed in."""


@operation("complete_provider_sign_in", scope=Access.PUBLIC, budget=Budget.NONE, prepare=identify_person)
def complete_provider_sign_in(
    tx: Write, actor: Actor, args: CompleteSignIn, person: IdentifiedPerson
) -> WithSession[SignedIn] | CodeRequired | LinkFirst | IdentityLink:
    """Sign in the person whom the provider identified, or say what is missing."""
    identity, settings = person.identity, person.settings
    if not settings.allows_email(identity):
        raise Forbidden(f"{settings.name} must send a verified email address of {' or '.join(settings.domains)}")
    if args.request.link:
        if actor.kind is not Kind.SESSION:
            raise Unauthorized("sign in again, then link the account")
        link_identity(tx, actor.user, identity, settings)
        return IdentityLink()
    user = identities.find_linked_user(tx, identity.issuer, identity.subject)
    account = None if user is None else users.find_account_by_key(tx, user)
    if account is None:
        holder = users.find_account_by_email(tx, identity.email) if identity.email else None
        if holder is not None and args.browser is not None:
            return _ask_to_link(tx, identity, args)
        account = _create_account(tx, identity, settings)
    confirmed_at = _find_confirmation(tx, person, args.request.fresh)
    return _sign_in(tx, actor, account, person, confirmed_at)


def _ask_to_link(tx: Write, identity: Identity, args: CompleteSignIn) -> LinkFirst:
    assert args.browser is not None
    handle = random.token_urlsafe(32)
    provider_requests.insert_provider_request(
        tx, secrets.hash_secret(handle), LinkRequest(identity, args.request.then),
        browser_hash=secrets.hash_secret(args.browser),
    )  # fmt: skip
    return LinkFirst(handle, identity.email, identity.is_verified)


def _create_account(tx: Write, identity: Identity, settings: ProviderSettings) -> Account:
    if not settings.creates_accounts:
        raise Forbidden("you have no account on this server; ask an admin of your company for an invitation")
    if not identity.email:
        raise Forbidden(f"{settings.name} sent no email address; its client for ticketbox needs the scope `email`")
    if not identity.is_verified:
        raise Forbidden(f"{settings.name} hasn't verified your email address; verify it there, then sign in again")
    account = users.insert_account(tx, identity.email, identity.name, None)
    identities.insert_identity(tx, account.key, identity.issuer, identity.subject)
    return account


def _find_confirmation(tx: Read, person: IdentifiedPerson, fresh: bool) -> int | None:
    """Find when the person last entered credentials at the provider. Raises Forbidden if that had to be now."""
    at = person.identity.signed_in_at
    confirmed_at = None if at is None else min(at * 1000, tx.now)
    if fresh and (confirmed_at is None or tx.now - confirmed_at > CONFIRMED_MS - MINUTE):
        raise Forbidden(
            f"{person.settings.name} doesn't say that you have just signed in there (`auth_time`), so nothing is "
            "confirmed"
        )
    return confirmed_at


def _sign_in(
    tx: Write, actor: Actor, account: Account, person: IdentifiedPerson, confirmed_at: int | None
) -> WithSession[SignedIn] | CodeRequired:
    if account.disabled:
        raise Forbidden("your account on this server is disabled")
    identities.record_identity_use(tx, person.identity.issuer, person.identity.subject)
    apply_group_roles(tx, account, person.identity, person.settings)
    return continue_sign_in(tx, actor, account, confirmed_at, provider=person.settings.name)


class LinkAccount(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The password of the account that has the identity's address; without one, the account is taken over.

    Only a verified address takes an account over, and only an account without a second factor.
    """

    handle: Secret
    browser: Browser | None
    password: Secret | None = None


class PreparedLink(msgspec.Struct, frozen=True):
    """The account whose password is right, if one was sent, and the provider."""

    account: Account | None
    settings: ProviderSettings


async def check_link(services: Services, actor: Actor, args: LinkAccount, context: RequestContext) -> PreparedLink:
    """Check the password. Raises NotFound, RateLimited, and Unauthorized for a wrong password."""
    settings = require_provider(services).settings
    services.limit(context.network, "provider-answer", PER_MINUTE, "too many sign-ins from this address")
    found = await services.read(lambda tx: _find_link(tx, actor, args), (0, context.network))
    if found is None:
        raise NotFound("sign-in", NO_REQUEST)
    if args.password is None:
        return PreparedLink(None, settings)
    account = await check_account_password(services, SignIn(found.identity.email, args.password), context)
    if account is None:
        raise Unauthorized(WRONG)
    return PreparedLink(account, settings)


def _find_link(tx: Read, actor: Actor, args: LinkAccount) -> LinkRequest | None:
    handle, browser = secrets.hash_secret(args.handle), _hash_browser(args.browser)
    return provider_requests.find_provider_request(tx, handle, browser, _get_user(actor), LinkRequest)


def _hash_browser(browser: str | None) -> bytes | None:
    return None if browser is None else secrets.hash_secret(browser)


class LinkedSession(msgspec.Struct, frozen=True):
    """The session of a person who linked an account, and the page to continue to."""

    session: WithSession[SignedIn] | CodeRequired
    then: str


@operation("link_account", scope=Access.PUBLIC, budget=Budget.NONE, prepare=check_link)
def link_account(tx: Write, actor: Actor, args: LinkAccount, prepared: PreparedLink) -> LinkedSession:
    """Link an identity to the account with its address, and sign in.

    An account that is taken over without its password loses what opened it before: password, sessions, tokens and
    connected apps. Somebody else may have created it with the address.
    """
    handle, browser = secrets.hash_secret(args.handle), _hash_browser(args.browser)
    request = provider_requests.take_provider_request(tx, handle, browser, _get_user(actor), LinkRequest)
    account = None if request is None else users.find_account_by_email(tx, request.identity.email)
    if request is None or account is None:
        raise NotFound("sign-in", NO_REQUEST)
    if prepared.account is None:
        if not request.identity.is_verified or second_factors.has_second_factor(tx, account.key):
            raise Forbidden("enter the password of the account to link it")
        users.set_password(tx, account.key, None)
        credentials.revoke_all_credentials(tx, account.key)
        devices.forget_devices(tx, account.key)
    elif (account.key, account.password_hash) != (prepared.account.key, prepared.account.password_hash):
        raise Unauthorized(WRONG)
    person = IdentifiedPerson(request.identity, prepared.settings)
    link_identity(tx, account.key, request.identity, prepared.settings)
    confirmed_at = _find_confirmation(tx, person, fresh=False) if prepared.account is None else tx.now
    session = _sign_in(tx, actor, account, person, confirmed_at)
    return LinkedSession(session, request.then)
