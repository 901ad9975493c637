"""Bodies without their values: each becomes a stand-in of the same type and format (docs/use/captures.md, "Bodies").

Works on the text of JSON, so that spelling and order stay. The extension does the same
(web/src/recorder/redaction/body-shape.ts); one test compares both.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator

from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.redaction.secret_values import REDACTED
from ticketbox.domain.captures.redaction.steering import is_code, keep_steering
from ticketbox.domain.captures.streams import list_payloads, shorten_bodies

MAX_ITEMS = 200
_ATTEMPTS = 10  # a pattern of one digit has no more stand-ins


_TOKEN = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?'
    r"|true|false|null|[{}\[\]:,]|[ \t\r\n]+"
)
_FORM = re.compile(r"[^=&\s]{1,200}=(?:[^=&\s][^&\s]*)?(?:&[^=&\s]{1,200}=(?:[^=&\s][^&\s]*)?)*")
_EVENTS = re.compile("(?:data|event|id|retry)?:")
_LINE = re.compile(r"((?:(?:data|event|id|retry)?: ?)?)([^\r\n]*)(\r\n|\r|\n|\Z)")
_KEY = re.compile(r"(?!(?:[^0-9]*[0-9]){5})[A-Za-z_$@][A-Za-z0-9_$\[\]-]{0,39}")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}")
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]+)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,128}|(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{8,128}")
_DATE = re.compile(
    r"([0-9]{4})-[0-9]{2}-[0-9]{2}(?:([T ])[0-9]{2}:[0-9]{2}(:[0-9]{2})?(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# of a quantity, a price or a total, rather than an id
_FIGURE = re.compile(r"-?[0-9]{1,7}(?:\.[0-9]{1,4})?")
_ID = re.compile(r"[0-9]{2,20}|(?=[A-Za-z_-]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{3,63}")
# of an address: its path without ids, or the name of a field in its query
_PATH = re.compile(r"(?:/[A-Za-z][A-Za-z_.-]{0,39}){1,8}/?")
# words with signs between them, such as `orders.children`
_WORDS = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}(?:[.:/][A-Za-z][A-Za-z_-]{0,23}){1,7}")
# what Socket.IO has before the JSON of a message
_PACKET = re.compile(r"[0-9]{1,3}(?:/[A-Za-z0-9_-]{1,40},)?[0-9]{0,4}(?=[\[{])")
_LITERALS = frozenset({"", "true", "false", "null"})
_KEPT = frozenset(" .,:;-_/@+#()&=?!%'*~|<>{}[]$^`")
_PLAIN = re.compile(r"[A-Za-z0-9_.~*-]")


class BodyShaper:
    """Replaces the values in the bodies of one capture: the same value has the same stand-in.

    First `count` each body, then `shape` each one: short words that occur repeatedly stay, and so do values that route
    a call or steer a page, wherever they are, and texts of nothing but keys and such words. So does what the addresses
    of the capture contain anyway, after `keep_address`, and the numbers of a body, after `keep_numbers`.
    """

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._stand_ins: dict[str, str] = {}
        self._numbers = defaultdict[str, int](int)
        self._keys = set[str]()
        self._addressed = set[str]()

    def keep_address(self, url: str) -> None:
        """Keep the path of a URL if it is of words, the ids in it and in the query, and the names of the query."""
        rest = url.partition("://")[2].partition("/")[2]
        path, _, query = rest.partition("#")[0].partition("?")
        names = [field.partition("=")[0] for field in query.split("&")]
        self._addressed.update(part for part in re.split("[/?&=#]", rest) if _ID.fullmatch(part))
        self._addressed.update(name for name in names if _WORD.fullmatch(name))
        if _PATH.fullmatch(f"/{path}"):
            self._addressed.add(f"/{path}")

    def count(self, body: str) -> None:
        """Count the words in a body, and note what stays of its values because of their keys."""
        if _EVENTS.match(body):
            for _, value, _ in _LINE.findall(body):
                self.count(value)
            return
        if packet := _PACKET.match(body):
            self._count_packet(body[packet.end() :])
            return
        if (tokens := _split_tokens(body)) is not None:
            self._keys.update(key for token, is_key in tokens if is_key and _WORD.fullmatch(key := _decode(token)))
            pairs = list(_list_values(tokens))
            for key, token in pairs:
                value = _decode(token) if token[0] == '"' else token
                if (kept := keep_steering(key, value)) is not None:
                    self._stand_ins[value] = kept
            values = [_decode(token) for _, token in pairs if token[0] == '"']
        elif _is_form(body):
            values = [_decode_form(field.partition("=")[2]) for field in body.split("&")]
        else:
            values = []
        self._counts.update(value for value in values if _WORD.fullmatch(value))

    def _count_packet(self, payload: str) -> None:
        """Count the payload of a message, and note the name of its event, which comes first."""
        self.count(payload)
        tokens = [token for token, _ in _split_tokens(payload) or [] if not token.isspace()]
        if [token[0] for token in tokens[:2]] == ["[", '"']:
            name = _decode(tokens[1])
            if keep_steering("event", name) is not None:
                self._stand_ins[name] = name

    def keep_numbers(self, body: str) -> None:
        """Keep the figures in JSON, such as quantities and prices, wherever they are."""
        for _, token in _list_values(_split_tokens(body) or []):
            value = _decode(token) if token[0] == '"' else token
            if _FIGURE.fullmatch(value):
                self._stand_ins[value] = value

    def shape(self, body: str) -> str:
        """Return a body with stand-ins. Of a longer array, only the first 200 items stay."""
        if _EVENTS.match(body):
            return "".join(f"{head}{self._shape_line(head, value)}{end}" for head, value, end in _LINE.findall(body))
        if packet := _PACKET.match(body):
            return packet[0] + self.shape(body[packet.end() :])
        if (tokens := _split_tokens(body)) is not None:
            return self._shape_json(tokens)
        if _is_form(body):
            fields = (field.partition("=") for field in body.split("&"))
            return "&".join(f"{self._shape_key(name)}={self._shape_field(value)}" for name, _, value in fields)
        return self._replace(body)

    def _shape_line(self, head: str, value: str) -> str:
        """Return the value of a line of an event stream; names of events, and times to wait, stay."""
        is_name = head.startswith(("event", "retry")) and keep_steering("event", value) is not None
        return value if is_name or not value else self.shape(value)

    def _shape_json(self, tokens: list[tuple[str, bool]]) -> str:
        parts: list[str] = []
        places: list[tuple[bool, int, bool]] = []  # is it an array, how many commas, is it beyond the limit
        for token, is_key in tokens:
            first = token[0]
            beyond = bool(places) and places[-1][2]
            if first in "[{":
                places.append((first == "[", 0, beyond))
            elif first in "]}" and places:
                places.pop()
                beyond = bool(places) and places[-1][2]
            elif first == "," and places:
                is_array, commas, beyond = places[-1]
                beyond = beyond or (is_array and commas + 1 >= MAX_ITEMS)
                places[-1] = is_array, commas + 1, beyond
            if not beyond:
                parts.append(self._shape_token(token, is_key=is_key))
        return "".join(parts)

    def _shape_token(self, token: str, *, is_key: bool) -> str:
        if token[0] != '"':
            return self._replace(token) if token[0] in "-0123456789" else token
        value = _decode(token)
        stand_in = self._shape_key(value) if is_key else self._replace(value)
        return token if stand_in == value else json.dumps(stand_in, ensure_ascii=False)

    def _shape_key(self, key: str) -> str:
        return key if _KEY.fullmatch(key) else self._replace(key)

    def _shape_field(self, field: str) -> str:
        value = _decode_form(field)
        stand_in = self._replace(value)
        return field if stand_in == value else _encode_form(stand_in)

    def _replace(self, value: str) -> str:
        """Return the stand-in of a text; what is redacted stays."""
        known = self._stand_ins.get(value)
        if known is None and REDACTED in value:
            return REDACTED.join(map(self._replace, value.split(REDACTED)))
        if known is None:
            known = self._stand_ins[value] = self._create_stand_in(value)
        return known

    def _create_stand_in(self, value: str) -> str:
        if (
            value in _LITERALS
            or value in self._addressed
            or is_code(value)
            or (self._counts[value] > 1 and _WORD.fullmatch(value))
            or (_WORDS.fullmatch(value) and all(map(self._is_known, re.split("[.:/]", value))))
        ):
            return value
        if _NUMBER.fullmatch(value):
            return self._shape_number(value)
        if _UUID.fullmatch(value):
            return self._number(value, "uuid", lambda number: f"00000000-0000-4000-8000-{number:012x}")
        if match := _DATE.fullmatch(value):
            return self._shape_date(value, match)
        if _HEX.fullmatch(value):
            return self._number(value, f"hex{len(value)}", lambda number: f"{number:0{len(value)}x}")
        scheme = re.match("https?://", value)
        start = scheme.end() if scheme else 0
        pattern = value[:start] + "".join(map(_classify, value[start:]))
        return self._number(value, pattern, lambda number: pattern[:start] + _fill(pattern[start:], number))

    def _is_known(self, word: str) -> bool:
        return word in self._keys or self._counts[word] > 1

    def _shape_number(self, text: str) -> str:
        match = _NUMBER.fullmatch(text)
        assert match is not None
        sign, whole, decimals, exponent = match[1], match[2], match[3] or "", match[4] or ""
        head = whole if len(whole) == 1 else "1"
        tail = "0" * (len(whole) - 1)
        if decimals.strip("0"):
            tail += "." + "0" * len(decimals)
            rest = ""
        else:
            rest = "." + decimals if decimals else ""
        if not tail:
            return text
        pattern = f"{sign}{head}{tail}{rest}{exponent}"
        return self._number(text, pattern, lambda number: f"{sign}{head}{_fill(tail, number)}{rest}{exponent}")

    def _shape_date(self, value: str, match: re.Match[str]) -> str:
        year, separator, seconds, fraction, zone = match.groups("")

        def build(number: int) -> str:
            date = f"{year}-01-{1 + number % 28:02d}"
            if not separator:
                return date
            time = f"{number // 28 % 24:02d}:{number // 672 % 60:02d}"
            return (
                f"{date}{separator}{time}{seconds and ':00'}{'.'.ljust(len(fraction), '0') if fraction else ''}{zone}"
            )

        return self._number(value, f"date{year}{separator}{len(fraction)}{zone}", build)

    def _number(self, value: str, pattern: str, build: Callable[[int], str]) -> str:
        """Build the next stand-in of a pattern, which is neither the value itself nor an id that is kept."""
        built = value
        for _ in range(_ATTEMPTS):
            self._numbers[pattern] += 1
            built = build(self._numbers[pattern])
            if built != value and built not in self._addressed:
                break
        return built


def shape_bodies(
    entries: EntrySequence[NetworkEntry], check_time: Callable[[int], None], kept: Collection[str] = ()
) -> None:
    """Shape the bodies of a capture's requests, and keep the numbers in the answers to those with the ids in `kept`.

    `check_time` raises when it has taken too long.
    """
    shaper = BodyShaper()
    for entry in entries:
        shaper.keep_address(entry.url)
        for part in list_payloads(entry):
            if part.body is not None:
                check_time(len(part.body))
                shaper.count(part.body)
        if entry.id in kept and entry.response.body is not None:
            shaper.keep_numbers(entry.response.body)

    def shape(entry: NetworkEntry) -> None:
        for part in list_payloads(entry):
            if part.body is not None:
                check_time(len(part.body))
                part.body = shaper.shape(part.body)
        shorten_bodies(entry)

    entries.change(shape)


def _split_tokens(body: str) -> list[tuple[str, bool]] | None:
    """Split JSON into tokens, each with whether it is a key; None for another format. A cut text is completed."""
    tokens: list[str] = []
    position = 0
    while position < len(body):
        match = _TOKEN.match(body, position)
        if match is None:
            if body[position] != '"' or not tokens:
                return None
            tokens.append(json.dumps(body[position + 1 :]))
            break
        tokens.append(match[0])
        position = match.end()
    significant = [token for token in tokens if not token.isspace()]
    following = iter([*significant[1:], ""])
    return [(token, not token.isspace() and next(following) == ":" and token[0] == '"') for token in tokens] or None


def _list_values(tokens: list[tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    """List the texts and numbers of JSON, each with the key that it is under; those of an array are under its key."""
    outer: list[str] = []
    key = ""
    for token, is_key in tokens:
        first = token[0]
        if is_key:
            key = _decode(token)
        elif first in "[{":
            outer.append(key)
            key = key if first == "[" else ""
        elif first in "]}":
            key = outer.pop() if outer else ""
        elif first in '"-0123456789':
            yield key, token


def _decode(token: str) -> str:
    return json.loads(token)


def _is_form(body: str) -> bool:
    return bool(_FORM.fullmatch(body)) and ("&" in body or not body.endswith("="))


def _decode_form(text: str) -> str:
    def decode(match: re.Match[str]) -> str:
        code = int(match[1], 16)
        return chr(code) if 0x20 <= code <= 0x7E else "x"

    return re.sub("%([0-9a-fA-F]{2})", decode, text.replace("+", " "))


def _encode_form(text: str) -> str:
    return "".join(c if _PLAIN.match(c) else "+" if c == " " else f"%{ord(c):02X}" for c in text)


def _classify(character: str) -> str:
    if "0" <= character <= "9":
        return "0"
    if "A" <= character <= "Z":
        return "X"
    if character in _KEPT:
        return character
    return " " if character in "\t\r\n" else "x"


def _fill(pattern: str, number: int) -> str:
    """Write a number into the letters and digits of a pattern, from its end."""
    characters = list(pattern)
    for index in range(len(characters) - 1, -1, -1):
        if not number:
            break
        match characters[index]:
            case "0":
                number, digit = divmod(number, 10)
                characters[index] = str(digit)
            case "x":
                number, digit = divmod(number, 26)
                characters[index] = chr(ord("a") + digit)
            case "X":
                number, digit = divmod(number, 26)
                characters[index] = chr(ord("A") + digit)
            case _:
                pass
    return "".join(characters)
