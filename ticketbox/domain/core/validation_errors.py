"""What msgspec says about a value that has the wrong shape: only in words, which this module takes apart."""

import re
from typing import NamedTuple

import msgspec

_ERROR = re.compile(r"(?s)(.*) - at `(key` in `)?\$(.*)`")


class ValidationFault(NamedTuple):
    """The words, and the path of the value below the whole input, such as `.page.url`.

    With `is_of_name`, what is wrong is the name of a member there.
    """

    message: str
    path: str = ""
    is_of_name: bool = False


def split_error(error: msgspec.ValidationError) -> ValidationFault:
    """Take an error of msgspec apart."""
    match = _ERROR.fullmatch(str(error))
    return ValidationFault(match[1], match[3], match[2] is not None) if match else ValidationFault(str(error))
