"""Public identifiers: a prefix and lower-case base-32 without i, l, o and u (docs/use/api.md)."""

import re
import secrets
from enum import StrEnum

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
TICKET_LENGTH = 8
LENGTH = 12

_TICKET = re.compile(r"t-[0-9a-z]{6,12}")
_TICKET_ADDRESS = re.compile(r"https?://[^\s?#]*/(t-[0-9a-z]{6,12})/?(?:[?#].*)?")


class Prefix(StrEnum):
    """What an identifier names, as its first letters."""

    COMPANY = "co_"
    PROJECT = "proj_"
    COLUMN = "col_"
    TICKET = "t-"
    CAPTURE = "cap_"
    ASSET = "asset_"
    ANNOTATION = "ann_"
    COMMENT = "cmt_"
    USER = "usr_"
    TOKEN = "key_"  # noqa: S105 (a prefix, not a secret)
    SESSION = "ses_"
    INVITATION = "inv_"
    WEBHOOK = "hook_"
    DELIVERY = "dlv_"
    NOTIFICATION = "ntf_"
    EVENT = "evt_"
    CLIENT = "app_"
    WORK_SESSION = "wrk_"


def generate_id(prefix: Prefix) -> str:
    """Generate an identifier from the operating system's random numbers."""
    length = TICKET_LENGTH if prefix is Prefix.TICKET else LENGTH
    return prefix + "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(length))


def parse_ticket_id(text: str) -> str | None:
    """Parse a ticket's identifier as people and agents write it.

    Accepts `t-` and 6 to 12 alphanumerics in any case, alone or as the last part of the ticket's
    web address. Returns the lower-case identifier, or None if the text contains none.
    """
    text = text.strip().lower()
    if _TICKET.fullmatch(text):
        return text
    address = _TICKET_ADDRESS.fullmatch(text)
    return address[1] if address else None
