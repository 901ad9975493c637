"""Invitations: single-use links that are valid for 14 days. They don't require a mail server, but one sends them."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.accounts.security_events import Notice, NoticeKind, Outcome, SecurityAction
from ticketbox.domain.companies.records import Invitation
from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Access, Role, RoleName
from ticketbox.domain.core.clock import DAY
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidRequest, NotFound, RateLimited, Unauthorized
from ticketbox.operations.accounts.confirmation import CONFIRMATION_PROBLEMS, WithPassword, check_confirmation
from ticketbox.operations.accounts.security_events import log_security_event, record_security_event
from ticketbox.operations.accounts.sessions import SignedIn, renew_session, require_password_sign_in, start_session
from ticketbox.operations.companies.members import ProjectIds, find_project_keys, require_may_grant
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Name, Password, Secret
from ticketbox.operations.core.lookups import CompanyId, InvitationId, find_membership
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors, credentials, security_events, users
from ticketbox.store.accounts.users import Account
from ticketbox.store.companies import invitations, members
from ticketbox.store.companies.invitations import OpenInvitation
from ticketbox.store.core import bylines
from ticketbox.store.events import email_outbox
from ticketbox.store.file.database import Read, Write

LIFETIME = 14 * DAY
MAX_MAILED_A_DAY = 20
MAX_TAKEN_A_DAY = 10
TAKEN = "an account with this email address already exists: sign in, then open the link again"

InvitationSecret = Annotated[Secret, Meta(description="The last part of the invitation's link.")]


class ListInvitations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Only open invitations are listed: not accepted, withdrawn or expired."""

    company_id: CompanyId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_invitations",
    scope=Access.SESSION,
    budget=Budget.READ,
    rest="GET /companies/{company_id}/invitations",
)
def list_invitations(tx: Read, actor: Actor, args: ListInvitations) -> Page[Invitation]:
    """List a company's open invitations. Requires the role admin."""
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, invitations.list_invitations(tx, key, after, args.limit + 1))


class CreateInvitation(WithPassword, forbid_unknown_fields=True, frozen=True):
    """With an email address, only an account with that address can accept."""

    company_id: CompanyId
    email: Annotated[Email, Meta(description="The only email address that can accept.")] | None = None
    role: RoleName = RoleName.MEMBER
    project_ids: ProjectIds | None = None


class CreatedInvitation(Invitation, frozen=True):
    """The new invitation. `secret` and `path` are shown only in this response.

    `mailed`: the link is sent to `email`. Otherwise, send it to the person yourself.
    """

    secret: str
    path: str
    mailed: bool


@operation(
    "create_invitation", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /companies/{company_id}/invitations",
    creates=True, refuses=CONFIRMATION_PROBLEMS, prepare=check_confirmation,
    example={"company_id": "co_7h2k9m4p1r6t", "email": "bob@example.org", "role": "member"},
)  # fmt: skip
def create_invitation(tx: Write, actor: Actor, args: CreateInvitation, confirmed: bool) -> CreatedInvitation:
    """Create a single-use link to join a company. Requires the role admin, or owner to invite an owner.

    A server that sends email sends the link to `email`, for up to 20 invitations of a person a day.
    Inviting an owner or admin requires the password, in this session or in this call.
    """
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    require_may_grant(actor, key, args.role.role, confirmed)
    email = None if args.email is None else fold_address(args.email)
    secret = secrets.generate_secret()
    public_id = invitations.insert_invitation(
        tx,
        key,
        email,
        args.role.role,
        find_project_keys(tx, key, args.project_ids),
        secrets.hash_secret(secret),
        bylines.ensure_byline(tx, actor),
        tx.now + LIFETIME,
    )
    offer = invitations.find_invitation_by_id(tx, public_id)
    assert offer is not None
    record_company_event(tx, actor, "member.invited", key, invitation_id=public_id, email=email, role=args.role)
    shown = msgspec.structs.asdict(offer.invitation)
    mailed = email is not None and _mail_invitation(tx, actor, email, offer.company_name, secret)
    return CreatedInvitation(**shown, secret=secret, path=f"/invitations/{secret}", mailed=mailed)


def _mail_invitation(tx: Write, actor: Actor, email: str, company: str, secret: str) -> bool:
    """Send the link, if the server sends email and the person didn't invite too many addresses today."""
    if not tx.origin.sends_email:
        return False
    if security_events.count_done(tx, actor.user, SecurityAction.INVITATION_MAIL) >= MAX_MAILED_A_DAY:
        return False
    record_security_event(tx, actor, SecurityAction.INVITATION_MAIL, to=email)
    notice = Notice(NoticeKind.INVITATION, tx.now, "", "", key=secret, name=actor.name, title=company)
    email_outbox.queue_notice(tx, actor.user, email, notice)
    return True


class DeleteInvitation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An open invitation."""

    invitation_id: InvitationId


@operation("delete_invitation", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /invitations/{invitation_id}")
def delete_invitation(tx: Write, actor: Actor, args: DeleteInvitation) -> None:
    """Withdraw an invitation. Its link stops working. Requires the role admin."""
    offer = invitations.find_invitation_by_id(tx, args.invitation_id)
    if offer is None or actor.find_membership(offer.company) is None:
        raise NotFound("invitation")
    require_may_grant(actor, offer.company, Role.ADMIN, confirmed=True)
    invitations.delete_invitation(tx, offer.key)


class ShowInvitation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An invitation, named by the secret in its link."""

    secret: InvitationSecret


class Welcome(msgspec.Struct, frozen=True):
    """What the person is invited to."""

    company_name: str
    role: RoleName
    email: str | None
    invited_by: str
    signed_in: bool


async def limit_attempts(services: Services, actor: Actor, args: ShowInvitation, context: RequestContext) -> None:
    """Limit attempts to guess links, per address. Raises RateLimited."""
    services.limit(context.network, "invitation", 60, "too many attempts with invitation links")


@operation(
    "get_invitation", scope=Access.PUBLIC, budget=Budget.NONE, rest="GET /invitations/accept/{secret}",
    prepare=limit_attempts,
)  # fmt: skip
def get_invitation(tx: Read, actor: Actor, args: ShowInvitation, _: None) -> Welcome:
    """Show what an invitation link is for, without signing in."""
    offer = _find_invitation(tx, args.secret)
    return Welcome(
        company_name=offer.company_name,
        role=RoleName(offer.role.label),
        email=offer.invitation.email,
        invited_by=offer.invitation.created.user.name,
        signed_in=actor.kind is Kind.SESSION,
    )


class AcceptInvitation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Signed-in callers send only the secret; others also send `name`, `email` and `password` for a new account."""

    secret: InvitationSecret
    name: Annotated[Name, Meta(description="The new account's name.")] | None = None
    email: Annotated[Email, Meta(description="The new account's email address.")] | None = None
    password: Password | None = None


class PreparedAcceptance(msgspec.Struct, frozen=True):
    """The hash of a new account's password, computed outside the transaction."""

    password_hash: str | None


async def prepare_acceptance(
    services: Services, actor: Actor, args: AcceptInvitation, context: RequestContext
) -> PreparedAcceptance:
    """Hash a new account's password if the link is valid and the address free.

    Raises RateLimited, NotFound, InvalidRequest and Conflict.
    """
    services.limit(context.network, "invitation", 60, "too many attempts with invitation links")
    offer = await services.read(lambda tx: _find_invitation(tx, args.secret), (0, context.network))
    hashed = None
    if args.password is not None and actor.kind is not Kind.SESSION:
        require_password_sign_in(services)
        if args.email is not None:
            await _require_free_address(services, offer, fold_address(args.email), context)
        hashed = await services.passwords.run((context.network,), passwords.hash_password, args.password)
    return PreparedAcceptance(hashed)


async def _require_free_address(
    services: Services, offer: OpenInvitation, address: str, context: RequestContext
) -> None:
    """Refuse an address that has an account. Raises Conflict and RateLimited, and InvalidRequest for another address.

    The refusal says that the account exists, and everybody with an account can invite themselves. So it is reported to
    the person who invited, whose invitations are refused like this a few times a day and then for every new account.
    """
    _require_invited_address(offer, address)

    def count_refusals(tx: Read) -> tuple[Account, bool]:
        inviter = users.find_account_by_id(tx, offer.invitation.created.user.id)
        assert inviter is not None
        refusals = security_events.count_refusals(tx, inviter.key, SecurityAction.INVITATION_ACCEPT, DAY)
        return inviter, refusals >= MAX_TAKEN_A_DAY

    def record_refusal(tx: Write) -> tuple[Account, bool]:
        tx.origin = services.describe_origin(context)
        inviter, limited = count_refusals(tx)
        if not limited:
            action = SecurityAction.INVITATION_ACCEPT
            security_events.insert_security_event(tx, inviter.key, action, Outcome.FAILED, Via.WEB, {})
        return inviter, limited

    fair_share = (0, context.network)
    taken = await services.read(lambda tx: users.find_account_by_email(tx, address) is not None, fair_share)
    inviter, limited = await (
        services.database.write(record_refusal) if taken else services.read(count_refusals, fair_share)
    )
    if taken or limited:
        outcome = Outcome.LIMITED if limited else Outcome.FAILED
        action, user_id = SecurityAction.INVITATION_ACCEPT, inviter.user.id
        log_security_event(action, outcome, context.address, user_id, Via.WEB, {})
    if limited:
        raise RateLimited(DAY // 1000, "too many new accounts with addresses of others", "invited addresses a day")
    if taken:
        raise Conflict(TAKEN)


@operation(
    "accept_invitation", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /invitations/accept/{secret}",
    refuses=(Conflict,), creates=True, prepare=prepare_acceptance,
    example={"secret": "tok_…", "name": "Bob", "email": "bob@example.org", "password": "correct horse battery"},
)  # fmt: skip
def accept_invitation(
    tx: Write, actor: Actor, args: AcceptInvitation, acceptance: PreparedAcceptance
) -> WithSession[SignedIn]:
    """Join a company with an invitation link, as the signed-in account or with a new one.

    The response sets a session's cookie.
    """
    offer = _find_invitation(tx, args.secret)
    account = _find_or_create_account(tx, actor, args, acceptance)
    _require_invited_address(offer, fold_address(account.user.email))
    if members.find_member(tx, offer.company, account.user.id) is not None:
        raise Conflict("you are already a member of this company")
    members.insert_member(tx, offer.company, account.key, offer.role, offer.projects, offer.invited_by)
    invitations.accept_invitation(tx, offer.key)
    joined = actors.load_user_as_actor(tx, account.key, actor.via)
    role = RoleName(offer.role.label)
    record_company_event(tx, joined, "member.joined", offer.company, user_id=account.user.id, role=role)
    if actor.kind is Kind.SESSION and actor.token_id is not None:
        credentials.revoke_credential(tx, actor.user, actor.token_id, Kind.SESSION)
        return renew_session(tx, account, credentials.find_confirmation(tx, actor.credential))
    return start_session(tx, account)


def _find_or_create_account(tx: Write, actor: Actor, args: AcceptInvitation, acceptance: PreparedAcceptance) -> Account:
    if actor.kind is Kind.SESSION:
        account = users.find_account_by_key(tx, actor.user)
        assert account is not None
        return account
    if args.name is None or args.email is None or acceptance.password_hash is None:
        raise Unauthorized("sign in, or send name, email and password to create an account")
    email = fold_address(args.email)
    if users.find_account_by_email(tx, email) is not None:
        raise Conflict(TAKEN)
    return users.insert_account(tx, email, args.name.strip(), acceptance.password_hash)


def _require_invited_address(offer: OpenInvitation, address: str) -> None:
    if offer.invitation.email is not None and address != offer.invitation.email:
        raise InvalidRequest("this invitation is for another email address")


def _find_invitation(tx: Read, secret: str) -> OpenInvitation:
    offer = invitations.find_invitation_by_secret(tx, secrets.hash_secret(secret))
    if offer is None:
        raise NotFound("invitation")
    return offer
