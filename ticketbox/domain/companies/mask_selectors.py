"""Mask selectors: the CSS selectors of the parts of a project's pages that recordings never show.

Only what every browser supports is accepted, so that a selector never fails where it has to hide something
(https://www.w3.org/TR/selectors-4/#grammar).
"""

import re

_NAME = r"-?(?:[A-Za-z_]|[^\x00-\x7f])(?:[\w-]|[^\x00-\x7f])*"
_STRING = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
_ATTRIBUTE = rf"\[\s*{_NAME}\s*(?:[~|^$*]?=\s*(?:{_NAME}|{_STRING})\s*(?:\s[iI]\s*)?)?\]"
_CLASSES = (
    "first-child|last-child|only-child|first-of-type|last-of-type|only-of-type|empty|root|checked|disabled|enabled|"
    "required|optional"
)
_STEP = r"\s*(?:odd|even|[+-]?\d+|[+-]?\d*n(?:\s*[+-]\s*\d+)?)\s*"
_SIMPLE = re.compile(rf"[#.]{_NAME}|{_ATTRIBUTE}|:(?:{_CLASSES})(?![\w(-])|:nth-(?:last-)?(?:child|of-type)\({_STEP}\)")
_TYPE = re.compile(rf"\*|{_NAME}")
_NESTED = re.compile(r":(?:not|is|where)\(\s*")
_COMBINATOR = re.compile(r"\s*[>+~]\s*|\s++(?![),])")
_SEPARATOR = re.compile(r"\s*,\s*")
_END = re.compile(r"\s*\)")
_MAX_DEPTH = 3


def is_mask_selector(text: str) -> bool:
    """Whether a text is one CSS selector, without pseudo-elements; only `:is()` and its like contain lists."""
    return _read_complex(text, 0, 0) == len(text)


def _read_complex(text: str, at: int, depth: int) -> int | None:
    """Read compounds with combinators between them. Return where they end, or None if it isn't a selector."""
    end = _read_compound(text, at, depth)
    while end is not None and (combinator := _COMBINATOR.match(text, end)):
        end = _read_compound(text, combinator.end(), depth)
    return end


def _read_compound(text: str, at: int, depth: int) -> int | None:
    found = _TYPE.match(text, at)
    end = found.end() if found else at
    while True:
        if simple := _SIMPLE.match(text, end):
            end = simple.end()
        elif nested := _NESTED.match(text, end):
            after = _read_list(text, nested.end(), depth + 1)
            if after is None:
                return None
            end = after
        else:
            return end if end > at else None


def _read_list(text: str, at: int, depth: int) -> int | None:
    """Read the selectors of a functional pseudo-class up to its bracket."""
    if depth > _MAX_DEPTH:
        return None
    end = _read_complex(text, at, depth)
    while end is not None and (separator := _SEPARATOR.match(text, end)):
        end = _read_complex(text, separator.end(), depth)
    bracket = None if end is None else _END.match(text, end)
    return bracket.end() if bracket else None
