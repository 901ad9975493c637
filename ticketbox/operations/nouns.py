"""Every module that declares operations, in the order of the documentation.

To come, each as one more name here: `webhooks` (its operations need `scope=Access.SESSION`).
`find_similar_tickets` joins `search`.
"""

from ticketbox.operations import (
    accounts,
    annotations,
    assets,
    assignments,
    authorizations,
    captures,
    clients,
    columns,
    comments,
    companies,
    connected_apps,
    details,
    events,
    grants,
    invitations,
    members,
    moves,
    profile,
    projects,
    search,
    sessions,
    streams,
    tickets,
    tokens,
    work,
)

NOUNS = (
    profile,
    companies,
    projects,
    columns,
    members,
    invitations,
    tickets,
    details,
    search,
    moves,
    work,
    assignments,
    comments,
    captures,
    streams,
    assets,
    annotations,
    events,
    tokens,
    connected_apps,
    sessions,
    accounts,
    clients,
    authorizations,
    grants,
)
ORDER = {noun.__name__.rpartition(".")[2]: place for place, noun in enumerate(NOUNS)}
