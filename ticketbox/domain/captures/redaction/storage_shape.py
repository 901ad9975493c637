"""What a page has stored, with stand-ins (docs/use/captures.md, "Storage").

The extension does the same (web/src/recorder/redaction/storage-shape.ts); one test compares both.
"""

import base64
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from ticketbox.domain.captures.environment import MAX_STORED_VALUE
from ticketbox.domain.captures.redaction.body_shape import BodyShaper
from ticketbox.domain.captures.redaction.secret_names import classify_key, normalize_name

_MAX_DEPTH = 6
_MAX_ITEMS = 200
_NEAR_MS = 30 * 86_400_000  # times so near to the capture say no more than the capture does
_FAR_MS = 4_102_444_800_000  # 2100-01-01, when stand-ins of tokens expire
_LITERALS = frozenset({"", "true", "false", "null", "undefined"})
_KEY = re.compile(r"(?!(?:[^0-9]*[0-9]){5})[A-Za-z_$@][A-Za-z0-9_$.:-]{0,39}")
_SMALL = re.compile(r"-?[0-9]{1,4}(?:\.[0-9]{1,2})?")
_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]+)?")
_WORD = re.compile(r"[a-z]{1,15}(?:[-_][a-z]{1,15}){0,3}|[A-Z]{1,15}(?:_[A-Z]{1,15}){0,3}|[a-z]{2,3}[-_][A-Z]{2}")
_TITLE = re.compile(r"[A-Z][a-z]{1,15}")
_PATH = re.compile(r"(?:/[a-z][a-z-]{0,30}){0,5}/?")
_VERSION = re.compile(r"v?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?")
_EXPIRY = re.compile(r"(?:^|[_-])exp$|expir|valid_?(?:until|to)$", re.IGNORECASE)
_STEERS = re.compile(
    r"(?:type|kind|code|status|roles?|state|scopes?|provider|locale|lang|language|theme|mode|plan|token_?type)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"(?:^|[._-])(?:user|login|nick|account|customer|owner|person)$|name$|mail|phone|mobile|address|street|city|zip"
    r"|post_?code|birth|iban|ssn|gender",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|JWT) +", re.IGNORECASE)
_JWT = re.compile(r"(eyJ[A-Za-z0-9_-]*)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)")


class StorageShaper:
    """Replaces the values that a page has stored.

    `captured_at`: the capture's time, in epoch milliseconds. `extra`: the project's rules of redaction.
    """

    def __init__(self, captured_at: int, extra: Sequence[str] = ()) -> None:
        self._shaper = BodyShaper()
        self._captured_at = captured_at
        rules = [each.strip().lower() for each in extra]
        self._rules = [each for each in rules if not each.startswith("format:")]

    def shape(self, name: str, value: str) -> str | None:
        """Return the stand-in of the value that is stored under a name; None if it can't be recorded."""
        if len(value) > MAX_STORED_VALUE:
            return None
        shaped = self._shape_text(name, value, 0, secret=_is_secret(name))
        return None if len(shaped) > MAX_STORED_VALUE or self._is_own(name, shaped) else shaped

    def _is_own(self, name: str, shaped: str) -> bool:
        """Whether a rule of the project applies to a name, or to what is left in a value."""
        own, text = normalize_name(name), shaped.lower()
        return any(
            rule[5:].strip() in text
            if rule.startswith("text:")
            else own == normalize_name(rule) or normalize_name(rule) in normalize_name(text)
            for rule in self._rules
        )

    def _shape_text(self, name: str, text: str, depth: int, *, secret: bool) -> str:
        if text in _LITERALS:
            return text
        if depth < _MAX_DEPTH and re.match(r'\s*[\[{"]', text) and (parsed := _parse_json(text)) is not None:
            shaped = self._shape_value(name, parsed, depth + 1, secret=secret)
            return json.dumps(shaped, separators=(",", ":"), ensure_ascii=False)
        if scheme := _SCHEME.match(text):
            return scheme[0] + self._shape_text("token", text[scheme.end() :], depth, secret=True)
        if jwt := _JWT.fullmatch(text):
            return self._shape_jwt(jwt, depth)
        if _STEERS.fullmatch(name) and (_WORD.fullmatch(text) or _TITLE.fullmatch(text)):
            return text
        if _NUMBER.fullmatch(text):
            return self._shape_number(name, text, secret=secret)
        is_personal = bool(_PERSONAL.search(name))
        if _DATE.fullmatch(text):
            if _EXPIRY.search(name):
                return f"2100-01-01{text[10:]}"
            if secret or is_personal:
                return f"2000-01-01{text[10:]}"
            if self._is_near(text[:10]):
                return text
        if secret or is_personal:
            return _mask(text)
        if _WORD.fullmatch(text) or _PATH.fullmatch(text) or _VERSION.fullmatch(text):
            return text
        return json.loads(self._shaper.shape(json.dumps(text, ensure_ascii=False)))

    def _is_near(self, day: str) -> bool:
        try:
            moment = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1_000
        except ValueError:
            return False
        return abs(moment - self._captured_at) <= _NEAR_MS

    def _shape_number(self, name: str, text: str, *, secret: bool) -> str:
        number = float(text)
        if _EXPIRY.search(name):
            return str(_FAR_MS if number > 1e11 else _FAR_MS // 1_000) if number > 1e9 else text
        if number > 1e9 and any(abs(number * unit - self._captured_at) <= _NEAR_MS for unit in (1, 1_000)):
            return text
        if (secret or _PERSONAL.search(name)) and len(text) > 1:
            return re.sub("[0-9]", "1", text)
        return text if _SMALL.fullmatch(text) else self._shaper.shape(text)

    def _shape_value(self, name: str, value: Any, depth: int, *, secret: bool) -> Any:
        match value:
            case str():
                return self._shape_text(name, value, depth, secret=secret)
            case bool() | None:
                return value
            case int() | float():
                text = str(int(value) if float(value).is_integer() and abs(value) < 1e17 else value)
                if not _NUMBER.fullmatch(text):
                    return 1
                shaped = self._shape_number(name, text, secret=secret)
                return float(shaped) if "." in shaped else int(shaped)
            case list() if depth < _MAX_DEPTH:
                items = cast("list[Any]", value)[:_MAX_ITEMS]
                return [self._shape_value(name, each, depth + 1, secret=secret) for each in items]
            case dict() if depth < _MAX_DEPTH:
                members = [*cast("dict[str, Any]", value).items()][:_MAX_ITEMS]
                return {
                    self._shape_key(key): self._shape_value(key, each, depth + 1, secret=secret or _is_secret(key))
                    for key, each in members
                }
            case list():
                return []
            case _:
                return {}

    def _shape_key(self, key: str) -> str:
        if _KEY.fullmatch(key) or _SMALL.fullmatch(key):
            return key
        return self._shape_text("", key, _MAX_DEPTH, secret=False)

    def _shape_jwt(self, parts: re.Match[str], depth: int) -> str:
        """Return a token of the same structure that expires in the far future. Its signature is nonsense."""
        header, claims = _decode_part(parts[1]), _decode_part(parts[2])
        if header is None or claims is None or depth >= _MAX_DEPTH:
            return _mask(parts[0])
        kept = {"alg": _keep_word(header.get("alg", "HS256"))}
        if "typ" in header:
            kept["typ"] = _keep_word(header["typ"])
        shaped = self._shape_value("claims", claims, depth + 1, secret=False)
        if isinstance(shaped.get("exp"), int | float):
            shaped["exp"] = _FAR_MS // 1_000
        return f"{_encode_part(kept)}.{_encode_part(shaped)}.{'A' * len(parts[3])}"


def _is_secret(name: str) -> bool:
    return classify_key(name, in_query=False) is not None


def _mask(text: str) -> str:
    """Replace letters and digits; what is hexadecimal or in base64 stays so."""
    return "".join(
        "0" if each in "0123456789" else "A" if each.isupper() else "a" if each.isalpha() else each for each in text
    )


def _keep_word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9+]{1,8}", value) else "JWT"


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _decode_part(part: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else None


def _encode_part(value: dict[str, Any]) -> str:
    text = re.sub(r"[^\x00-\x7f]", "x", json.dumps(value, separators=(",", ":"), ensure_ascii=False))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
