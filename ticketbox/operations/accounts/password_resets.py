"""A forgotten password: an email has a link with which the person chooses a new one (docs/use/accounts.md)."""

import msgspec

from ticketbox.domain.accounts import passwords
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.accounts.security_events import RESET_LIFETIME, NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, NotFound
from ticketbox.operations.accounts.security_events import queue_notice, record_account_change, record_security_event
from ticketbox.operations.accounts.sessions import require_password_sign_in
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Password, Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import account_links, actors, credentials, devices, users
from ticketbox.store.accounts.account_links import Purpose
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Read, Write


class RequestPasswordReset(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The email address of an account."""

    email: Email


async def request_later(services: Services, actor: Actor, args: RequestPasswordReset, context: RequestContext) -> None:
    """Look for the account a moment later, so that the response takes as long for an address without one.

    Raises RateLimited, and Forbidden if passwords are off or the server sends no email.
    """
    services.limit(context.network, "password-reset", 10, "too many requests for new passwords")
    require_password_sign_in(services)
    if not services.sends_email:
        raise Forbidden("this server sends no email; ask its operator for a new password")

    def send_link(tx: Write) -> None:
        tx.origin = services.describe_origin(context)
        account = users.find_account_by_email(tx, fold_address(args.email))
        # an account without a password signs in with the identity provider
        if account is None or account.disabled or account.password_hash is None:
            return
        if account_links.compute_retry_after(tx, Purpose.PASSWORD, account.key):
            return
        address = account.user.email
        key = account_links.create_account_link(tx, Purpose.PASSWORD, account.key, address, RESET_LIFETIME)
        record_security_event(
            tx, actors.load_user_as_actor(tx, account.key, Via.WEB), SecurityAction.PASSWORD_RESET_REQUEST
        )
        queue_notice(tx, account.key, NoticeKind.PASSWORD_RESET, address, key=key)

    services.write_later(send_link)


@operation("request_password_reset", scope=Access.PUBLIC, budget=Budget.NONE, prepare=request_later)
def request_password_reset(tx: Read, actor: Actor, args: RequestPasswordReset, _: None) -> None:
    """Send a link to choose a new password, if an account has this address. The response is always the same."""


class ResetKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The secret of the link."""

    key: Secret


class ResetAccount(msgspec.Struct, frozen=True):
    """The address of the account whose password a link resets."""

    email: str


async def limit_attempts(services: Services, actor: Actor, args: ResetKey, context: RequestContext) -> None:
    """Limit attempts to guess links, for each address. Raises RateLimited, and Forbidden if passwords are off."""
    services.limit(context.network, "password-link", 20, "too many attempts with links for new passwords")
    require_password_sign_in(services)


@operation("get_password_reset", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_attempts)
def get_password_reset(tx: Read, actor: Actor, args: ResetKey, _: None) -> ResetAccount:
    """Show whose password a link resets. This doesn't use the link up, because scanners of emails open links."""
    return ResetAccount(_find_account(tx, args.key).user.email)


class ResetPassword(ResetKey, forbid_unknown_fields=True, frozen=True):
    """The secret of the link, and the new password."""

    password: Password


async def hash_new_password(services: Services, actor: Actor, args: ResetPassword, context: RequestContext) -> str:
    """Hash the new password if the link is valid. Raises NotFound, and as `limit_attempts` does."""
    await limit_attempts(services, actor, args, context)
    await services.read(lambda tx: _find_account(tx, args.key), (0, context.network))
    return await services.passwords.run((context.network,), passwords.hash_password, args.password)


@operation("reset_password", scope=Access.PUBLIC, budget=Budget.NONE, prepare=hash_new_password)
def reset_password(tx: Write, actor: Actor, args: ResetPassword, password_hash: str) -> ResetAccount:
    """Set the new password, once, and end all sessions of the account. Signing in still requires its second factor."""
    account = _find_account(tx, args.key)
    users.set_password(tx, account.key, password_hash)
    account_links.end_account_links(tx, account.key)
    credentials.revoke_sessions(tx, account.key)
    devices.forget_devices(tx, account.key)
    person = actors.load_user_as_actor(tx, account.key, Via.WEB)
    record_account_change(tx, person, SecurityAction.PASSWORD_CHANGE, "account.password_changed")
    queue_notice(tx, account.key, NoticeKind.PASSWORD_CHANGED, account.user.email)
    return ResetAccount(account.user.email)


def _find_account(tx: Read, key: str) -> Account:
    """Find the account of a link. A link that was sent to an address that the account no longer has isn't valid."""
    link = account_links.find_account_link(tx, Purpose.PASSWORD, key)
    account = None if link is None else users.find_account_by_key(tx, link.user)
    if link is None or account is None or account.disabled or account.user.email != link.address:
        raise NotFound("link", "this link has expired or was already used")
    return account
