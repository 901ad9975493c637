"""All modules that declare operations, in the order of the documentation and the tool list."""

import functools

from ticketbox.operations.accounts import (
    address_changes,
    confirmation,
    identities,
    issued_tokens,
    password_resets,
    profile,
    provider_sign_in,
    security_events,
    sessions,
    tokens,
    users,
)
from ticketbox.operations.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.operations.accounts.oauth import clients as oauth_clients
from ticketbox.operations.accounts.oauth import connected_apps
from ticketbox.operations.accounts.oauth import grants as oauth_grants
from ticketbox.operations.accounts.second_factor import enrolment, passkey_sign_in, passkeys, reset
from ticketbox.operations.accounts.second_factor import sign_in as second_factor_sign_in
from ticketbox.operations.captures import (
    assets,
    bugs,
    captures,
    expectations,
    har_downloads,
    occurrences,
    replays,
    reproduction,
    source_maps,
    streams,
    timeline,
)
from ticketbox.operations.captures import confirmation as capture_confirmation
from ticketbox.operations.captures import deletion as capture_deletion
from ticketbox.operations.captures.pictures import annotations, screenshots
from ticketbox.operations.companies import (
    columns,
    companies,
    invitations,
    labels,
    members,
    projects,
    second_factor_reset,
    setup,
    sites,
    views,
)
from ticketbox.operations.core.registry import Registry, list_operations
from ticketbox.operations.events import email, events, notifications, presence, watchers, webhooks
from ticketbox.operations.git import deliveries as git_deliveries
from ticketbox.operations.git import hooks as git_hooks
from ticketbox.operations.reports import replies, report_keys, reports
from ticketbox.operations.tickets import assignments, comments, deletion, links, ticket_detail, tickets, tracker_import
from ticketbox.operations.tickets.finding import counts, lists, search, similar
from ticketbox.operations.tickets.placement import archiving, moves
from ticketbox.operations.work import (
    approvals,
    claims,
    criteria,
    evidence,
    finish,
    progress,
    questions,
    ready,
    verifications,
)
from ticketbox.operations.work import sessions as work_sessions

MODULES = (
    profile,
    companies,
    projects,
    sites,
    columns,
    members,
    second_factor_reset,
    invitations,
    labels,
    views,
    lists,
    counts,
    tickets,
    archiving,
    deletion,
    ticket_detail,
    search,
    similar,
    moves,
    links,
    claims,
    ready,
    progress,
    finish,
    work_sessions,
    questions,
    approvals,
    verifications,
    criteria,
    evidence,
    assignments,
    comments,
    captures,
    occurrences,
    replays,
    streams,
    har_downloads,
    timeline,
    reproduction,
    bugs,
    expectations,
    assets,
    screenshots,
    annotations,
    source_maps,
    capture_confirmation,
    capture_deletion,
    events,
    tokens,
    connected_apps,
    webhooks,
    git_hooks,
    git_deliveries,
    report_keys,
    replies,
    reports,
    notifications,
    watchers,
    presence,
    email,
    sessions,
    confirmation,
    identities,
    provider_sign_in,
    second_factor_sign_in,
    enrolment,
    passkeys,
    passkey_sign_in,
    reset,
    security_events,
    address_changes,
    password_resets,
    setup,
    users,
    issued_tokens,
    oauth_clients,
    oauth_authorizations,
    oauth_grants,
    tracker_import,
)


@functools.cache
def load_registry() -> Registry:
    """Return the registry of all operations, in the order of `MODULES`."""
    order = {module.__name__: index for index, module in enumerate(MODULES)}
    ordered = sorted(list_operations(), key=lambda operation: order.get(operation.module, len(order)))
    return Registry({operation.name: operation for operation in ordered})
