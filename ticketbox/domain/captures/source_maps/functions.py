"""The functions of a JavaScript or TypeScript text, found by its tokens: enough to name the one around a position.

Not a parser: where a text is ambiguous, a function can stay without a name. A text is read up to the limits.
"""

import re
from typing import NamedTuple

MAX_TEXT = 1_000_000  # characters
MAX_TOKENS = 300_000
MAX_DEPTH = 1_000  # brackets that are open

_MAX_REGEX = 500

# Spaces and comments, then a word, a mark that can begin or end a function, or anything else.
_TOKEN = re.compile(
    r"(?>(?:\s++|//[^\n]*+|/\*.*?(?:\*/|\Z))*)"
    r"(?:([#@]?[\w$]++)"
    r"|([()\[\]{},;/]|=>)"
    r"|(\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?|\.\.\.|\?\.|.))?",
    re.DOTALL,
)
_MARK = 2  # its group
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

_Function = tuple[int, str | None]  # start, name


class _Scope(NamedTuple):
    start: int
    end: int
    name: str | None


class _Bracket(NamedTuple):
    """An open bracket, and the function or the class that it opens."""

    text: str
    start: int
    token: int
    function: _Function | None
    class_name: str | None


class FunctionScopes:
    """The functions of a text, which is read as far as they are asked for.

    It keeps what is open: brackets, and arrow functions without braces.
    """

    def __init__(self, text: str) -> None:
        self._text = text[:MAX_TEXT]
        self._position = 0  # up to which the text is read
        self._tokens_left = MAX_TOKENS
        self._tokens: list[str] = []  # since the last block that was read to its end
        self._starts: list[int] = []  # where each token starts
        self._match: dict[int, int] = {}  # a closing bracket's token -> its opening one's
        self._open: list[_Bracket] = []
        self._arrows: list[tuple[int, int, str | None]] = []  # depth, start, name
        self._scopes: list[_Scope] = []

    def find(self, offset: int) -> str | None:
        """Name the innermost function around an offset; None if it has no name, or at the top level."""
        if self._position <= offset:
            self._read_around(offset)
        found = [(scope.start, scope.name) for scope in self._scopes if scope.start <= offset < scope.end]
        found += [each.function for each in self._open if each.function and each.function[0] <= offset]
        found += [(start, name) for _, start, name in self._arrows if start <= offset]
        return max(found, key=lambda function: function[0])[1] if found else None

    def _read_around(self, offset: int) -> None:
        """Read on until all functions around an offset are known."""
        if not self._read_tokens(offset):
            while self._open:
                self._close(self._position)
            self._end_arrows(0, self._position)
            self._position = len(self._text)
        self._forget_tokens()

    def _read_tokens(self, offset: int) -> bool:
        """Read to the end of a block around an offset; False at the end of the text, or at a limit.

        Most of the time to resolve a stack is spent in this loop.
        """
        whole, tokens, starts = self._text, self._tokens, self._starts
        match = _TOKEN.match
        after_arrow = False
        while len(tokens) < self._tokens_left and len(self._open) < MAX_DEPTH:
            found = match(whole, self._position)
            assert found is not None
            kind = found.lastindex
            if kind is None:
                self._position = len(whole)
                return False
            text = found[kind]
            start, end = found.span(kind)
            if kind == _MARK:
                if text == "/" and (regex := self._match_regex(start)):
                    text, end = regex[0], regex.end()
                elif text in {",", ";"}:
                    self._end_arrows(len(self._open), start)
            elif self._arrows and text in _STATEMENTS and "\n" in whole[self._position : start]:
                self._end_arrows(len(self._open), start)
            if after_arrow and text != "{":
                self._arrows.append((len(self._open), start, self._name_arrow(len(tokens) - 1)))
            after_arrow = text == "=>"
            tokens.append(text)
            starts.append(start)
            self._position = end
            if kind == _MARK and self._read_bracket(text, start, offset):
                return True
        return False

    def _match_regex(self, start: int) -> re.Match[str] | None:
        """Match a regular expression, unless the token before can end an operand: then it is a division."""
        last = self._tokens[-1] if self._tokens else ""
        if last and last not in _BEFORE_REGEX and (last[-1].isalnum() or last[-1] in ")]}_$\"'`"):
            return None
        return _REGEX.match(self._text, start, start + _MAX_REGEX)

    def _read_bracket(self, text: str, start: int, offset: int) -> bool:
        """Open or close a bracket; return whether all functions around an offset are known after it.

        They are at the end of a block around it, unless that is inside parentheses: these can be parameters.
        """
        index = len(self._tokens) - 1
        if text in {"(", "[", "{"}:
            function, class_name = self._classify_brace(index) if text == "{" else (None, None)
            self._open.append(_Bracket(text, start, index, function, class_name))
        elif text in _PAIRS:
            self._end_arrows(len(self._open), start)
            if self._open and self._open[-1].text == _PAIRS[text]:
                opening = self._close(start + 1)
                self._match[index] = opening.token
                if text == "}" and opening.start <= offset < start:
                    return all(bracket.text != "(" for bracket in self._open)
        return False

    def _forget_tokens(self) -> None:
        """Keep only the end of a block: names aren't looked for beyond it, and tokens take much memory."""
        self._tokens_left -= len(self._tokens)
        del self._tokens[:-1], self._starts[:-1]
        self._match.clear()

    def _close(self, end: int) -> _Bracket:
        bracket = self._open.pop()
        if bracket.function is not None:
            start, name = bracket.function
            self._scopes.append(_Scope(start, end, name))
        return bracket

    def _end_arrows(self, depth: int, end: int) -> None:
        while self._arrows and self._arrows[-1][0] >= depth:
            _, start, name = self._arrows.pop()
            self._scopes.append(_Scope(start, end, name))

    def _get(self, index: int) -> str:
        return self._tokens[index] if 0 <= index < len(self._tokens) else ""

    def _classify_brace(self, brace: int) -> tuple[_Function | None, str | None]:
        """Return the function that a brace opens (its start and name), or the class."""
        before = brace - 1
        if self._get(before) == "=>":
            return (self._starts[brace], self._name_arrow(before)), None
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
        return None if name is None else (self._starts[opening], name or None), None

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
        owner = next((each.class_name for each in reversed(self._open) if each.class_name), None)
        if word == "constructor" and owner:
            return f"new {owner}"
        return f"{owner}.{word}" if owner and self._open and self._open[-1].class_name else word

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
