"""The words of texts in the search index (docs/use/search.md, "Words").

SQLite's tokenizer unicode61 splits texts only at spaces and punctuation, removes only the accents of Latin letters and
the most common combining marks, and skips emoji. Texts are therefore written into the index in a form that it reads
as wanted, and from which the text that is shown can be restored.
"""

import re
import unicodedata

_SEPARATOR = "\x1f"
# Scripts without spaces between words, and Hangul: each character is a word.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"  # Thai, Lao, Burmese and Khmer
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\uac00-\ud7a3"  # Japanese, Bopomofo and Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_SEPARATE = re.compile(f"[{_SPACELESS}{_EMOJI}]+")
_ACCENTED = re.compile(f"[^\0-\u024f\u1e00-\u1eff{_SPACELESS}{_EMOJI}]+")  # not Latin
# The letter of a version: `v1.2.3` contains the phrase `1.2.3`.
_VERSION = re.compile(r"\b([vV])(?=[0-9]+\.[0-9])", re.ASCII)

# The combining marks that the tokenizer skips. Other accents are written in them: one that no letter combines with, and
# three digits.
_SKIPPED = "".join(map(chr, (*range(0x300, 0x305), *range(0x306, 0x30D), 0x30F, 0x311, 0x31B, *range(0x323, 0x329))))
_DIGITS = _SKIPPED + "\u032d\u032e\u0330"
_ESCAPE = "\u0331"
_ESCAPED = re.compile(f"{_ESCAPE}([{_DIGITS}]{{3}})")
_ACCENT_CLASSES = {*range(10, 37), *range(202, 241)}  # of Unicode; vowel signs of Indic scripts have others


def _write_accent(code: int) -> str:
    first, rest = divmod(code, len(_DIGITS) ** 2)
    second, third = divmod(rest, len(_DIGITS))
    return _ESCAPE + _DIGITS[first] + _DIGITS[second] + _DIGITS[third]


_REMOVED = dict.fromkeys(map(ord, _DIGITS + _ESCAPE))
_WRITTEN = {
    code: _write_accent(code)
    for code in range(0x300, 0x2100)
    if unicodedata.combining(chr(code)) in _ACCENT_CLASSES and code not in _REMOVED
}

# Emoji, and vowel signs of scripts without spaces, are written as private characters, which are letters in the index.
_SIGNS = "".join(
    chr(code)
    for code in (*range(0xE00, 0x10A0), *range(0x1780, 0x1800), *range(0xA9E0, 0xAA80))
    if unicodedata.category(chr(code))[0] == "M"
)
_SIGN = re.compile(f"[{_EMOJI}{_SIGNS}]")
_PRIVATE = re.compile("[\U000ff000-\U000ffaff\U00100e00-\U0010aaff]")
_ASTRAL_OFFSET, _OFFSET = 0xE0000, 0x100000


def separate_words(text: str) -> str:
    """Write a text as it is indexed."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = _ACCENTED.sub(lambda run: unicodedata.normalize("NFD", run[0]).translate(_WRITTEN), text)
        text = _SEPARATE.sub(lambda run: f"{_SEPARATOR}{_SEPARATOR.join(run[0])}{_SEPARATOR}", text)
        text = _SIGN.sub(_write_sign, text)
    return _VERSION.sub(rf"\1{_SEPARATOR}", text)


def _write_sign(sign: re.Match[str]) -> str:
    return chr(ord(sign[0]) + (_ASTRAL_OFFSET if sign[0] > "\uffff" else _OFFSET))


def restore_text(written: str) -> str:
    """Return the text that was written into the index."""
    text = written.replace(_SEPARATOR, "")
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ESCAPED.sub(_read_accent, _PRIVATE.sub(_read_sign, text)))


def _read_sign(letter: re.Match[str]) -> str:
    return chr(ord(letter[0]) - (_ASTRAL_OFFSET if letter[0] < "\U00100000" else _OFFSET))


def _read_accent(written: re.Match[str]) -> str:
    high, middle, low = map(_DIGITS.index, written[1])
    return chr((high * len(_DIGITS) + middle) * len(_DIGITS) + low)


def write_query(text: str) -> str:
    """Write words to search for as the index has them, without accents."""
    return separate_words(text).translate(_REMOVED)


def ends_in_separate_character(text: str) -> bool:
    """Whether the last character of a text, as it is indexed, is a whole word."""
    return text.endswith(_SEPARATOR)


def split_last_word(text: str) -> tuple[str, str]:
    """Split a text before its last word, which is returned as in the index: lower-case, without accents."""
    at = len(text)
    while at and _is_token(text[at - 1]):
        at -= 1
    plain = unicodedata.normalize("NFD", text[at:].lower())
    return text[:at], "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")


def count_words(text: str) -> int:
    """Count the words of a text as the index does; a run of a script without spaces is one."""
    text = text.replace(_SEPARATOR, "")
    return sum(1 for at, letter in enumerate(text) if _is_token(letter) and (at == 0 or not _is_token(text[at - 1])))


def can_be_prefix(text: str, least: int) -> bool:
    """Whether a text ends in at least that many characters of a word."""
    return len(text) >= least and all(map(_is_token, text[-least:]))


def _is_token(letter: str) -> bool:
    """Whether a character is part of a word in the index (SQLite's unicode61)."""
    return unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) == "Co"
