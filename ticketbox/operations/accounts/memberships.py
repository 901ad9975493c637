"""Memberships that end, and those that groups at the identity provider decide (docs/operate/single-sign-on.md)."""

import logging

from ticketbox.domain.accounts.identity_provider import Identity, ProviderSettings
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Role, RoleName
from ticketbox.operations.core.recording import record_company_event
from ticketbox.store.accounts import actors, credentials, identities
from ticketbox.store.accounts.users import Account
from ticketbox.store.companies import companies, members
from ticketbox.store.companies.members import MemberWithKeys
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import assignments

log = logging.getLogger("ticketbox.provider")


def end_membership(tx: Write, actor: Actor, company: int, place: MemberWithKeys) -> None:
    """Remove a member from a company, with the assignments and the tokens there."""
    record_company_event(tx, actor, "member.removed", company, user_id=place.member.id)
    members.delete_member(tx, place.key)
    assignments.unassign_from_company(tx, company, place.user)
    credentials.revoke_credentials_in_company(tx, place.user, company)


def apply_group_roles(tx: Write, account: Account, identity: Identity, settings: ProviderSettings) -> None:
    """Give a person the roles of their groups, and take away those of groups that they left."""
    for company_id, granted in settings.find_roles(identity.groups).items():
        company = companies.find_company_key(tx, company_id)
        if company is None:
            log.warning("--oidc-role names a company that doesn't exist: %s", company_id)
            continue
        _apply_group_role(tx, account, company, granted)


def _apply_group_role(tx: Write, account: Account, company: int, granted: Role | None) -> None:
    place = members.find_member(tx, company, account.user.id)
    present = None if place is None else place.role
    known = identities.find_own_role(tx, account.key, company)
    if known is None and (granted is None or (present is not None and present >= granted)):
        return  # no group decided the role before, and none raises it now
    (own,) = (present,) if known is None else known
    roles = [role for role in (granted, own) if role is not None]
    wanted = max(roles) if roles else None
    if present is Role.OWNER and wanted is not Role.OWNER and members.count_owners(tx, company) == 1:
        log.warning("%s stays the last owner of a company, although no group makes them one", account.user.id)
        return
    if granted is None:
        identities.delete_provider_role(tx, account.key, company)
    elif known is None:
        identities.insert_provider_role(tx, account.key, company, own)
    if wanted is not present:
        _change_role(tx, account, company, place, wanted)


def _change_role(tx: Write, account: Account, company: int, place: MemberWithKeys | None, role: Role | None) -> None:
    person = actors.load_user_as_actor(tx, account.key, Via.WEB)
    if role is None:
        if place is not None:
            end_membership(tx, person, company, place)
        return
    name = RoleName(role.label)
    if place is None:
        members.insert_member(tx, company, account.key, role, None, bylines.ensure_byline(tx, person))
        joined = actors.load_user_as_actor(tx, account.key, Via.WEB)
        record_company_event(tx, joined, "member.joined", company, user_id=account.user.id, role=name)
        return
    projects = None if place.member.project_ids is None else members.list_project_keys(tx, place.key)
    members.update_member(tx, place.key, role, projects)
    record_company_event(
        tx, person, "member.changed", company,
        user_id=account.user.id, role=name, project_ids=place.member.project_ids,
    )  # fmt: skip
