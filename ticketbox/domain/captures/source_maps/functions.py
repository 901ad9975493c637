"""The functions of a JavaScript or TypeScript text, found by its tokens: enough to name the one around a position.

Not a parser: where a text is ambiguous, a function can stay without a name. A text is read up to the limits.
"""

import re
from typing import NamedTuple

MAX_TEXT = 1_000_000  # characters
MAX_TOKENS = 300_000
MAX_DEPTH = 1_000  # brackets that are open

_MAX_REGEX = 500

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)"
    r"|(?P<word>[#@]?[\w$]+)"
    r"|(?P<sign>=>|\.\.\.|\?\.|.)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*")
_NO_FUNCTION = {"if", "for", "while", "switch", "catch", "with", "await"}
_BEFORE_REGEX = {
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "do",
    "else",
    "void",
    "delete",
    "throw",
    "new",
    "await",
    "yield",
}
_STATEMENTS = {"const", "let", "var", "function", "class", "export", "return", "if", "for", "throw", "import"}
_PAIRS = {")": "(", "]": "[", "}": "{"}


class _Token(NamedTuple):
    text: str
    start: int
    after_newline: bool


class _Scope(NamedTuple):
    start: int
    end: int
    name: str | None


class FunctionScopes:
    """The functions of a text."""

    def __init__(self, text: str) -> None:
        self._scopes = _Reader(text[:MAX_TEXT]).read_scopes()

    def find(self, offset: int) -> str | None:
        """Name the innermost function around an offset; None if it has no name, or at the top level."""
        found = [scope for scope in self._scopes if scope.start <= offset < scope.end]
        return max(found, key=lambda scope: scope.start).name if found else None


class _Reader:
    """Reads tokens, and keeps what is open: brackets, and arrow functions without braces."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[_Token] = []
        self._match: dict[int, int] = {}  # a closing bracket's token -> its opening one's
        self._open: list[tuple[int, tuple[int, str | None] | None, str | None]] = []  # token, function, class
        self._arrows: list[tuple[int, int, str | None]] = []  # depth, start, name
        self._scopes: list[_Scope] = []

    def read_scopes(self) -> list[_Scope]:
        position, newline = 0, False
        while position < len(self._text) and len(self._open) < MAX_DEPTH and len(self._tokens) < MAX_TOKENS:
            match = self._match_token(position)
            token, kind = match[0], match.lastgroup
            if kind == "space":
                newline = newline or "\n" in token
            else:
                self._read_token(_Token(token, position, newline))
                newline = False
            position = match.end()
        while self._open:
            self._close(position)
        self._end_arrows(0, position)
        return self._scopes

    def _match_token(self, position: int) -> re.Match[str]:
        if self._text[position] == "/" and self._text[position + 1 : position + 2] not in ("/", "*"):
            last = self._tokens[-1].text if self._tokens else ""
            if not last or last in _BEFORE_REGEX or not (last[-1].isalnum() or last[-1] in ")]}_$\"'`"):
                match = _REGEX.match(self._text, position, position + _MAX_REGEX)
                if match:
                    return match
        match = _TOKEN.match(self._text, position)
        assert match is not None
        return match

    def _read_token(self, token: _Token) -> None:
        depth = len(self._open)
        text = token.text
        if text in (",", ";") or (token.after_newline and text in _STATEMENTS):
            self._end_arrows(depth, token.start)
        if self._tokens and self._tokens[-1].text == "=>" and text != "{":
            self._arrows.append((depth, token.start, self._name_arrow(len(self._tokens) - 1)))
        self._tokens.append(token)
        index = len(self._tokens) - 1
        if text in _PAIRS.values():
            function, class_name = self._classify_brace(index) if text == "{" else (None, None)
            self._open.append((index, function, class_name))
        elif text in _PAIRS:
            self._end_arrows(depth, token.start)
            if self._open and self._tokens[self._open[-1][0]].text == _PAIRS[text]:
                self._match[index] = self._open[-1][0]
                self._close(token.start + 1)

    def _close(self, end: int) -> None:
        _, function, _ = self._open.pop()
        if function is not None:
            self._scopes.append(_Scope(function[0], end, function[1]))

    def _end_arrows(self, depth: int, end: int) -> None:
        while self._arrows and self._arrows[-1][0] >= depth:
            _, start, name = self._arrows.pop()
            self._scopes.append(_Scope(start, end, name))

    def _get(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _classify_brace(self, brace: int) -> tuple[tuple[int, str | None] | None, str | None]:
        """Return the function that a brace opens (its start and name), or the class."""
        before = brace - 1
        if self._get(before) == "=>":
            return (self._tokens[brace].start, self._name_arrow(before)), None
        for back in range(before, max(-1, before - 8), -1):
            word = self._get(back)
            if word == "class" and self._get(back - 1) != ".":
                name = self._get(back + 1)
                return None, name if name not in ("{", "extends") else self._name_assignment(back)
            if word in ("{", "}", ";", ")", "=>"):
                break
        closing = self._find_parameters_end(before)
        if closing is None:
            return None, None
        opening = self._match[closing]
        name = self._name_function(opening - 1)
        return None if name is None else (self._tokens[opening].start, name or None), None

    def _find_parameters_end(self, before: int) -> int | None:
        """Find the `)` of the parameters before a brace, over a type such as `: Promise<void>`."""
        if self._get(before) == ")":
            return before if before in self._match else None
        for back in range(before, max(0, before - 12), -1):
            if self._get(back) in ("{", "}", ";", "=", "=>", ","):
                return None
            if self._get(back) == ":" and self._get(back - 1) == ")" and back - 1 in self._match:
                return back - 1
        return None

    def _name_function(self, head: int) -> str | None:
        """Name the function whose parameters follow a token: "" without a name, None if it is no function."""
        word = self._get(head)
        if word == "*":
            head, word = head - 1, self._get(head - 1)
        if word == "function":
            return self._name_assignment(head) or ""
        if word in _NO_FUNCTION or not re.fullmatch(r"#?[\w$]+", word):
            return None
        before = self._get(head - 1)
        if before == "function" or (before == "*" and self._get(head - 2) == "function"):
            return word
        owner = next((name for _, _, name in reversed(self._open) if name), None)
        if word == "constructor" and owner:
            return f"new {owner}"
        return f"{owner}.{word}" if owner and self._open and self._open[-1][2] else word

    def _name_arrow(self, arrow: int) -> str | None:
        head = arrow - 1
        if head not in self._match:
            for back in range(head, max(0, head - 12), -1):  # a type of the result
                if self._get(back) == ":" and back - 1 in self._match:
                    head = back - 1
                    break
                if self._get(back) in (",", ";", "=", "{", "}"):
                    break
        return self._name_assignment(self._match.get(head, head))

    def _name_assignment(self, start: int) -> str | None:
        """Name a function or class by what it is assigned to: `name = …`, `name: …`."""
        index = start - 1
        if self._get(index) == "async":
            index -= 1
        if self._get(index) not in ("=", ":"):
            return None
        name = self._get(index - 1)
        if self._get(index) == ":" and name == ")":
            return None
        if self._get(index) == "=" and self._get(index - 2) == ":":  # `name: Type = …`
            name = self._get(index - 3)
        name = name.strip("\"'")
        return name if re.fullmatch(r"#?[\w$]+", name) else None
