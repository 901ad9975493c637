"""Public identifiers: a prefix and lower-case base-32 without i, l, o and u (docs/use/api.md)."""

import contextlib
import re
import secrets
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
TICKET_LENGTH = 8
LENGTH = 12

_TICKET = re.compile(r"t-[0-9a-z]{6,12}")
_TICKET_KEY = re.compile(r"([0-9a-z]{2,5})-([1-9][0-9]{0,8})")
_IN_TEXT = re.compile(r"(?<![0-9A-Za-z])(t-[0-9a-z]{8}|(?=[0-9]*[A-Z])[0-9A-Z]{2,5}-[1-9][0-9]{0,8})(?![0-9A-Za-z])")
_TICKET_URL = re.compile(
    r"https?://[^\s?#]*/(?:(t-[0-9a-z]{6,12})|(?:t|tickets)/([0-9a-z]{2,5}-[1-9][0-9]{0,8}))/?(?:[?#].*)?"
)

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Prefix(StrEnum):
    """What an identifier names, as its first letters."""

    COMPANY = "co_"
    PROJECT = "proj_"
    COLUMN = "col_"
    TICKET = "t-"
    CAPTURE = "cap_"
    ASSET = "asset_"
    ANNOTATION = "ann_"
    EXPECTATION = "exp_"
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
    QUESTION = "qst_"
    VERIFICATION = "ver_"
    CRITERION = "crt_"
    EVIDENCE = "evd_"
    SECURITY_EVENT = "sec_"
    LABEL = "lbl_"
    GIT_HOOK = "git_"
    SOURCE_MAP = "map_"
    VIEW = "view_"
    REPORT_KEY = "rpk_"
    PASSKEY = "pk_"


def generate_id(prefix: Prefix) -> str:
    """Generate an identifier from the operating system's random numbers."""
    length = TICKET_LENGTH if prefix is Prefix.TICKET else LENGTH
    return prefix + "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(length))


def encode_key(prefix: Prefix, key: int) -> str:
    """Encode a row's number in the ids' alphabet, so that ids sort by time."""
    text = ""
    for _ in range(LENGTH):
        key, digit = divmod(key, len(ALPHABET))
        text = ALPHABET[digit] + text
    return prefix + text


class TicketKey(NamedTuple):
    """A ticket's key, such as WEB-42: the key of its project, and its number there."""

    project: str
    number: int


def parse_ticket_reference(text: str) -> str | TicketKey | None:
    """Parse what people and agents write for a ticket: its id, its key, or its URL in the web app.

    An id is `t-` and 6 to 12 alphanumerics, a key is 2 to 5 alphanumerics, a hyphen and a number, both in any case.
    A `#` before it is ignored. Returns the lower-case id, the key, or None if the text is neither.
    """
    text = text.strip().lower().removeprefix("#")
    if _TICKET.fullmatch(text):
        return text
    url = _TICKET_URL.fullmatch(text)
    if url is not None and url[1] is not None:
        return url[1]
    key = _TICKET_KEY.fullmatch(text if url is None else url[2])
    return None if key is None else TicketKey(key[1].upper(), int(key[2]))


def is_foreign_address(text: str, public_url: str) -> bool:
    """Whether a text is the URL of a ticket on another server than the one at `public_url`.

    `localhost` and `127.0.0.1` are the same server.
    """
    if _TICKET_URL.fullmatch(text.strip().lower()) is None:
        return False
    sent, own = (urlsplit(each.strip().lower()) for each in (text, public_url))
    is_same = _get_host(sent) == _get_host(own) and sent.path.startswith(f"{own.path.rstrip('/')}/")
    return bool(public_url) and not is_same


def _get_host(url: SplitResult) -> tuple[str, int | None]:
    """Return the host and port of a URL."""
    with contextlib.suppress(ValueError):
        host = "localhost" if url.hostname in _LOOPBACK else url.hostname or ""
        return host, url.port or {"http": 80, "https": 443}.get(url.scheme)
    return "", None


def find_ticket_in_branch(branch: str) -> str | None:
    """Find the id or key of a ticket in the name of a git branch, such as `fix/WEB-42-gift-card`.

    A key must be in capital letters, because `fix-2` is no ticket.
    """
    found = _IN_TEXT.search(branch)
    return None if found is None else found[1]


def find_tickets_in_text(text: str) -> list[str]:
    """Find the ids and keys of tickets in a text, such as a commit message; keys in capital letters only."""
    return _IN_TEXT.findall(text)
