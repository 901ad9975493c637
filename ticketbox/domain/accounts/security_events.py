"""What happens to an account's credentials (docs/use/accounts.md, "Security events")."""

from enum import StrEnum
from typing import Any

import msgspec

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.records import Time

RESET_LIFETIME = 30 * MINUTE


class SecurityAction(StrEnum):
    """What somebody did, or tried to do."""

    SIGN_IN = "sign_in"
    SIGN_OUT = "sign_out"
    PASSWORD_CHECK = "password_check"  # noqa: S105 (a name)
    PASSWORD_CHANGE = "password_change"  # noqa: S105 (a name)
    PASSWORD_RESET_REQUEST = "password_reset_request"  # noqa: S105 (a name)
    ADDRESS_REQUEST = "address_request"
    ADDRESS_CHANGE = "address_change"
    INVITATION_MAIL = "invitation_mail"
    INVITATION_ACCEPT = "invitation_accept"
    TOKEN_CREATE = "token_create"  # noqa: S105 (a name)
    TOKEN_REVOKE = "token_revoke"  # noqa: S105 (a name)
    ACCOUNT_DISABLE = "account_disable"
    ACCOUNT_ENABLE = "account_enable"
    PROVIDER_LINK = "provider_link"
    PROVIDER_UNLINK = "provider_unlink"
    SIGN_IN_LINK = "sign_in_link"
    SECOND_FACTOR_ENABLE = "second_factor_enable"
    SECOND_FACTOR_DISABLE = "second_factor_disable"
    SECOND_FACTOR_CHECK = "second_factor_check"
    RECOVERY_CODE = "recovery_code"
    RECOVERY_CODES_REPLACE = "recovery_codes_replace"
    PASSKEY_ADD = "passkey_add"
    PASSKEY_CHECK = "passkey_check"
    PASSKEY_DELETE = "passkey_delete"


class Outcome(StrEnum):
    """Whether it was done.

    `failed`: the password, the code or the passkey was wrong, or the new address is taken, also that of somebody who
    accepts an invitation of the account;
    `limited`: too many attempts, and nothing was checked.
    """

    DONE = "done"
    FAILED = "failed"
    LIMITED = "limited"


class NoticeKind(StrEnum):
    """What an email to the person reports."""

    NEW_DEVICE = "new_device"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 (a name)
    ADDRESS_CHANGED = "address_changed"
    CONFIRM_ADDRESS = "confirm_address"
    PASSWORD_RESET = "password_reset"  # noqa: S105 (a name)
    INVITATION = "invitation"
    PROVIDER_LINKED = "provider_linked"
    PROVIDER_UNLINKED = "provider_unlinked"
    SECOND_FACTOR_ENABLED = "second_factor_enabled"
    SECOND_FACTOR_DISABLED = "second_factor_disabled"
    RECOVERY_CODE_USED = "recovery_code_used"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_DELETED = "passkey_deleted"
    REPORT_REPLY = "report_reply"


class Notice(msgspec.Struct, frozen=True):
    """An email about the account: what happened, when, and from where, in epoch milliseconds.

    `key` is the secret of its link. A reply to a reporter has the reporter's name, the report's title and the reply's
    text instead, an invitation the name of the person who invites and of the company.
    """

    kind: NoticeKind
    at: int
    address: str
    user_agent: str
    new_address: str = ""
    key: str = ""
    name: str = ""
    title: str = ""
    text: str = ""


class SecurityEvent(msgspec.Struct, frozen=True):
    """Something that happened to the account. `count` repetitions from one address within an hour are one entry."""

    id: str
    action: SecurityAction
    outcome: Outcome
    via: Via
    address: str | None
    user_agent: str | None
    data: dict[str, Any]
    count: int
    at: Time
