"""Texts that match the pattern of a field: HTML's `pattern`, a regular expression of JavaScript.

The pattern is text of a page, so it is never compiled. What isn't understood, such as a look-ahead, has no sample.
"""

import string

MAX_LENGTH = 500

_CLASSES = {
    "d": string.digits, "w": string.ascii_letters + string.digits + "_", "s": " ",
    "D": string.ascii_letters, "W": "-", "S": string.ascii_letters + string.digits,
}  # fmt: skip
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
_PREFERRED = "aA1 " + string.ascii_letters + string.digits + string.punctuation
_DIGITS_FIRST = "1aA " + string.digits + string.ascii_letters + string.punctuation


class _NotUnderstoodError(Exception):
    """The pattern has a part without a sample."""


def write_match(pattern: str, least: int = 0, *, prefers_digits: bool = False) -> str | None:
    """Write a text that matches a pattern, with at least so many characters if it can; None if it isn't understood."""
    reader = _Reader(pattern, least, _DIGITS_FIRST if prefers_digits else _PREFERRED)
    try:
        text = reader.read_alternatives()
        return text if reader.at == len(pattern) else None
    except (_NotUnderstoodError, IndexError, ValueError, RecursionError):
        return None


class _Reader:
    """Reads a pattern from left to right, and writes the match while it reads."""

    def __init__(self, pattern: str, least: int, preferred: str) -> None:
        self.pattern, self.at = pattern, 0
        self._least, self._preferred = least, preferred

    def read_alternatives(self) -> str:
        """Read alternatives; the first one is the match."""
        first = self._read_sequence()
        while self._take("|"):
            self._read_sequence()
        return first

    def _read_sequence(self) -> str:
        text = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            text += self._read_repeated()
            if len(text) > MAX_LENGTH:
                raise _NotUnderstoodError
        return text

    def _read_repeated(self) -> str:
        atom = self._read_atom()
        count = self._read_count()
        if len(atom) * count > MAX_LENGTH:
            raise _NotUnderstoodError
        return atom * count

    def _read_count(self) -> int:
        if self._take("?"):
            return 0
        is_open = self.pattern[self.at : self.at + 1] in ("*", "+")
        if is_open:
            self.at += 1
            count = max(1, self._least)
        elif self._take("{"):
            bounds = self._read_until("}").split(",")
            least = int(bounds[0])
            most = least if len(bounds) == 1 else int(bounds[1] or MAX_LENGTH)
            count = min(max(least, self._least, 1), most)
        else:
            return 1
        self._take("?")
        return count

    def _read_atom(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        match char:
            case "^" | "$":
                return ""
            case ".":
                return self._preferred[0]
            case "[":
                return self._read_class()
            case "(":
                return self._read_group()
            case "\\":
                return self._choose(self._read_escape())
            case "*" | "+" | "?" | "{":
                raise _NotUnderstoodError
            case _:
                return char

    def _read_group(self) -> str:
        if self._take("?") and not self._take(":"):
            if not self._take("<") or self.pattern[self.at] in "=!":
                raise _NotUnderstoodError
            self._read_until(">")
        text = self.read_alternatives()
        if not self._take(")"):
            raise _NotUnderstoodError
        return text

    def _read_escape(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in _CLASSES:
            return _CLASSES[char]
        if char.isalnum() and char not in _ESCAPED:
            raise _NotUnderstoodError  # a reference, a code, or a boundary
        return _ESCAPED.get(char, char)

    def _read_class(self) -> str:
        is_negated = self._take("^")
        members = ""
        while not self._take("]"):
            char = self.pattern[self.at]
            self.at += 1
            found = self._read_escape() if char == "\\" else char
            rest = self.pattern[self.at : self.at + 2]
            is_range = len(found) == 1 and rest.startswith("-") and rest != "-]"
            if is_range:
                self.at += 1
                end = self.pattern[self.at]
                self.at += 1
                end = self._read_escape() if end == "\\" else end
                found = "".join(map(chr, range(ord(found), min(ord(end), ord(found) + 300) + 1)))
            members += found
        if is_negated:
            members = "".join(each for each in self._preferred if each not in members)
        return self._choose(members)

    def _choose(self, members: str) -> str:
        if not members:
            raise _NotUnderstoodError
        return next((each for each in self._preferred if each in members), members[0])

    def _take(self, char: str) -> bool:
        if self.pattern[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True

    def _read_until(self, end: str) -> str:
        stop = self.pattern.index(end, self.at)
        text, self.at = self.pattern[self.at : stop], stop + 1
        return text
