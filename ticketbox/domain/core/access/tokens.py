"""Estimate how many tokens of a model's context a text takes (docs/decisions/0017-answers-that-fit-a-context.md).

A real tokenizer is a dependency of several megabytes and slower than the answers it would measure. The estimate counts
the pieces that byte-pair vocabularies have: parts of words, up to three digits, up to three signs. It is meant to be
too high rather than too low; tests/agents/test_estimate.py compares it with a real tokenizer.
"""

import re

_PIECE = re.compile(r"[A-Z]?[a-z]{1,6}|[A-Z]{1,3}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,3}|\n+|  +|\t+")
_RANDOM = re.compile(r"[a-z]{13,}")  # no word is that long: random letters, of which a token has about two
_RANDOM_LETTERS = 3
_LONGEST_PIECE = 10  # characters; so that only the beginning of a long text is estimated
_MARGIN = 1.2
_BYTES_BEYOND_ASCII = 2.5  # bytes of UTF-8 for each token


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    pieces = len(_PIECE.findall(text))
    pieces += sum(map(len, _RANDOM.findall(text))) // _RANDOM_LETTERS
    beyond = (
        0.0 if text.isascii() else (len(text.encode("utf-8", "replace")) - _count_ascii(text)) / _BYTES_BEYOND_ASCII
    )
    return int(_MARGIN * pieces + beyond) + 1


def fits(text: str, tokens: int) -> bool:
    """Whether a text takes at most this many tokens; a token is at least one byte, so short texts aren't counted."""
    if 4 * len(text) <= tokens or (len(text) <= tokens and text.isascii()):
        return True
    return estimate_tokens(text) <= tokens


def clip_text(text: str, tokens: int, more: str = "") -> str:
    """Clip a text to a number of tokens, with a mark that says how much is missing, and where it is (`more`)."""
    if fits(text, tokens):
        return text
    longest, shortest = min(len(text), _LONGEST_PIECE * tokens), 0
    while longest - shortest > max(20, longest // 20):
        middle = (longest + shortest) // 2
        if estimate_tokens(text[:middle]) <= tokens:
            shortest = middle
        else:
            longest = middle
    kept = text[:shortest].rstrip()
    return f"{kept}… [{len(text) - len(kept):,} more characters{more and '; '}{more}]"


def _count_ascii(text: str) -> int:
    return len(text.encode("ascii", "ignore"))
