"""The words of texts in the search index (docs/use/search.md, "Words").

SQLite's tokenizer unicode61 splits texts only at spaces and punctuation, removes only the accents of Latin letters and
the most common combining marks, and skips emoji. Texts of other scripts are therefore written into the index in a form
that it reads as wanted, and from which the text that is shown can be restored.
"""

import itertools
import re
import unicodedata

OPEN, CLOSE = "\ufdd0", "\ufdd1"  # around a match; noncharacters: no text is written with them
_SEPARATOR = "\x1f"
# Scripts without spaces between words, and Hangul: each two neighbouring characters are a word, and the last one.
_SPACELESS = (
    "\u0e01-\u0e3e\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai and Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17dc\u17dd"  # Khmer
    "\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u31bf\u31f0-\u31ff\uff66-\uff9f"  # Japanese
    "\u1100-\u11ff\uac00-\ud7a3"  # Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_RUN = re.compile(f"[{_SPACELESS}]+|[{_EMOJI}]")
_VERSION = re.compile(r"[0-9]+\.[0-9]", re.ASCII)
_AFTER_WORDS = re.compile(f"[^\\w{_SPACELESS}{_EMOJI}]+$")
_ACCENTED = re.compile(f"[^\0-\u024f\u1e00-\u1eff{_SPACELESS}{_EMOJI}]+")  # not Latin
_OTHER_SCRIPT = re.compile("[^\0-\u024f\u1e00-\u1eff\u2000-\u22ff]")

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
_IS_EMOJI = re.compile(f"[{_EMOJI}]")
_PRIVATE = re.compile("[\U000ff000-\U000ffaff\U00100e00-\U0010aaff]")
_ASTRAL_OFFSET, _OFFSET = 0xE0000, 0x100000
_WRITTEN_RUN = f"[{_SPACELESS}\U00100e00-\U001017ff\U0010a9e0-\U0010aaff]"
_LETTER = re.compile(f"{_WRITTEN_RUN}$")
_OVERLAP = re.compile(f"({_WRITTEN_RUN})({CLOSE}?){_SEPARATOR}({OPEN}?)\\1")


def separate_words(text: str) -> str:
    """Write a text as it is indexed. A text in Latin script stays as it is."""
    if text.isascii() or not _OTHER_SCRIPT.search(text):
        return text
    text = _write_accents(unicodedata.normalize("NFC", text.replace(_SEPARATOR, " ")))
    return _SIGN.sub(_write_sign, _RUN.sub(_separate_run, text))


def write_query(text: str) -> str:
    """Write words to search for as the index has them, without accents.

    What follows a last run of a script without spaces isn't known. If that is one character, it is a beginning.
    """
    if text.isascii() or not _OTHER_SCRIPT.search(text):
        return text
    text = _write_accents(_AFTER_WORDS.sub("", unicodedata.normalize("NFC", text))).translate(_REMOVED)
    text = _RUN.sub(lambda run: _separate_run(run, goes_on=run.end() == len(run.string)), text)
    return _SIGN.sub(_write_sign, text)


def list_spellings(text: str) -> list[str]:
    """List what finds a text; a version is written with and without a `v`."""
    return [text, f"v{text}"] if _VERSION.match(text) else [text]


def _write_accents(text: str) -> str:
    return _ACCENTED.sub(lambda run: unicodedata.normalize("NFD", run[0]).translate(_WRITTEN), text)


def _separate_run(run: re.Match[str], *, goes_on: bool = False) -> str:
    """Write each two neighbouring characters as a word, then the last one; an emoji is a word."""
    letters = run[0]
    words = ["".join(pair) for pair in itertools.pairwise(letters)]
    if goes_on and not _IS_EMOJI.match(letters):
        return _SEPARATOR + (f"{_SEPARATOR.join(words)}{_SEPARATOR}" if words else letters)
    return f"{_SEPARATOR}{_SEPARATOR.join([*words, letters[-1]])}{_SEPARATOR}"


def _write_sign(sign: re.Match[str]) -> str:
    return chr(ord(sign[0]) + (_ASTRAL_OFFSET if sign[0] > "\uffff" else _OFFSET))


def restore_text(written: str) -> str:
    """Return the text that was written into the index; matches in it stay marked."""
    if written.isascii() or not _OTHER_SCRIPT.search(written):
        return written
    text = _OVERLAP.sub(_join_pairs, written).replace(_SEPARATOR, "")
    return unicodedata.normalize("NFC", _ESCAPED.sub(_read_accent, _PRIVATE.sub(_read_sign, text)))


def _join_pairs(overlap: re.Match[str]) -> str:
    letter, close, begin = overlap.groups()
    return letter + close + begin if close else begin + letter


def _read_sign(letter: re.Match[str]) -> str:
    return chr(ord(letter[0]) - (_ASTRAL_OFFSET if letter[0] < "\U00100000" else _OFFSET))


def _read_accent(written: re.Match[str]) -> str:
    high, middle, low = map(_DIGITS.index, written[1])
    return chr((high * len(_DIGITS) + middle) * len(_DIGITS) + low)


def is_whole(text: str) -> bool:
    """Whether the last of words to search for is whole: two letters of a script without spaces, or an emoji."""
    return text.endswith(_SEPARATOR)


def is_letter(text: str) -> bool:
    """Whether the last of words to search for is a single letter of a script without spaces: a beginning."""
    return bool(_LETTER.search(text))


def can_be_prefix(text: str, least: int) -> bool:
    """Whether words to search for end in at least that many letters or digits."""
    return len(text) >= least and all(map(_is_token, text[-least:]))


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


def _is_token(letter: str) -> bool:
    """Whether a character is part of a word in the index (SQLite's unicode61)."""
    return unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) == "Co"
