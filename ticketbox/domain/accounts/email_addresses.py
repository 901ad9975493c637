"""Email addresses, as accounts and reporters have them: ASCII, so that two that look alike are the same."""

import string

from ticketbox.domain.core.patterns import match_whole

PATTERN = r"[!-?A-~]+@[!-?A-~]+"
FORM = match_whole(PATTERN)

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold_address(text: str) -> str:
    """Return the address under which an account is found. Only ASCII letters are folded: U+212A isn't a k."""
    return text.strip().translate(_LOWER)
