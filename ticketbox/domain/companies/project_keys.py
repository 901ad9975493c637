"""Keys of projects: 2 to 5 letters and digits, such as WEB, that begin the keys of their tickets."""

import unicodedata
from collections.abc import Iterator
from itertools import count

MIN_LENGTH, MAX_LENGTH = 2, 5
PATTERN = rf"[A-Z0-9]{{{MIN_LENGTH},{MAX_LENGTH}}}"
_FALLBACK = "PRJ"


def propose_keys(name: str) -> Iterator[str]:
    """Propose keys for a project with this name, best first and without end: WEB, WEBS, WEBSH, WEB2, WEB3 and so on."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().upper()
    letters = "".join(char for char in plain if char.isalnum())
    if len(letters) < MIN_LENGTH:
        letters = _FALLBACK
    for length in range(min(3, len(letters)), min(MAX_LENGTH, len(letters)) + 1):
        yield letters[:length]
    for number in count(2):
        ending = str(number)
        yield letters[: min(3, MAX_LENGTH - len(ending))] + ending
