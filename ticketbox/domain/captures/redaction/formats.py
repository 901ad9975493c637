"""Secrets that are recognised by their form, whatever surrounds them."""

import base64
import binascii
import re
from collections.abc import Callable

from ticketbox.domain.captures.redaction.rules import RULES, compile_rule
from ticketbox.domain.captures.redaction.secret_values import REDACTED

_FORMATS = [(each.marks, compile_rule(each.pattern), each.kept) for each in RULES.formats]
_JWT = re.compile(r"eyJ[\w-]{10,}(?:\.[\w-]*){0,4}", re.ASCII)
_SCHEMES = re.compile(r"([bB](?:earer|EARER|asic|ASIC)(?:\s|%20|\+){1,4})([A-Za-z0-9._~+/=%-]{4,})", re.ASCII)
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_LOGIN = re.compile(
    r"://(?P<plain>[^\s/?#\"'<>\\]{1,2048})@"
    r"|%(?:25)?3a%(?:25)?2f%(?:25)?2f(?P<quoted>(?:(?!%(?:25)?(?:2f|40))[a-z0-9._~%!$*+-]){1,2048})%(?:25)?40",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[a-z]{0,8}", re.IGNORECASE)
_WEB = ("http", "https", "ws", "wss", "ftp")
_CARD = compile_rule(RULES.card)
_IBAN = compile_rule(RULES.iban)


def redact_formats(text: str, lowered: str) -> tuple[str, int]:
    """Redact tokens, private keys, credentials after a scheme, card numbers and IBANs; return their number."""
    hits = 0

    def redact_if(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
        def redact(match: re.Match[str]) -> str:
            nonlocal hits
            if not is_secret(match[0]):
                return match[0]
            hits += 1
            return REDACTED

        return redact

    def redact_credential(match: re.Match[str]) -> str:
        nonlocal hits
        scheme, value = match[1], match[2]
        is_prose = value.lower().rstrip(".=") in RULES.values.scheme_prose
        if is_prose or (scheme[1] in "aA" and not _is_basic_credential(value)):
            return match[0]
        hits += 1
        return scheme + REDACTED

    if "-----begin" in lowered:
        text, hits = _redact_key_blocks(text)
    for marks, pattern, kept in _FORMATS:
        if any(mark in lowered for mark in marks):
            text, count = pattern.subn(rf"\g<1>{REDACTED}" if kept else REDACTED, text)
            hits += count
    # these may turn out harmless after they were read, so they come after those that they may contain
    if "eyj" in lowered:  # without a dot it is base64 of some JSON, as cursors are
        text = _JWT.sub(redact_if(lambda found: "." in found), text)
    if "bearer" in lowered or "basic" in lowered:
        text = _SCHEMES.sub(redact_credential, text)
    text = _CARD.sub(redact_if(is_card_number), text)
    text = _IBAN.sub(redact_if(is_iban), text)
    return text, hits


def redact_logins(text: str) -> tuple[str, int]:
    """Remove the names and passwords of addresses; return their number."""
    hits = 0

    def redact_login(match: re.Match[str]) -> str:
        nonlocal hits
        text, start = match.string, match.start()
        login = match["plain"] or match["quoted"]
        scheme = _SCHEME.match(text[max(0, start - 8) : start][::-1])
        web = scheme is not None and scheme[0][::-1].lower() in _WEB
        if not web and ":" not in login and "%3a" not in login.lower():
            return match[0]  # webpack://name@version/ and the like
        hits += 1
        return match[0][: match.start("plain" if match["plain"] else "quoted") - start]

    return _LOGIN.sub(redact_login, text), hits


def is_card_number(text: str) -> bool:
    """Whether the digits fulfil the checksum of card numbers (ISO/IEC 7812-1, Luhn)."""
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether this is an account number with a valid checksum (ISO 13616, modulo 97)."""
    bare = text.replace(" ", "")
    return 15 <= len(bare) <= 34 and int("".join(str(int(each, 36)) for each in bare[4:] + bare[:4])) % 97 == 1


def _redact_key_blocks(text: str) -> tuple[str, int]:
    parts: list[str] = []
    done = hits = 0
    while begin := _PEM.search(text, done):
        end = _PEM_END.search(text, begin.end())
        parts += text[done : begin.start()], REDACTED
        done = end.end() if end else len(text)
        hits += 1
    return "".join((*parts, text[done:])) if done else text, hits


def _is_basic_credential(value: str) -> bool:
    """Whether this is a value of `Basic`: base64 of a name, a colon and a password."""
    bare = value.replace("%3D", "=").replace("%3d", "=").rstrip("=.")
    bare = bare[:-1] if len(bare) % 4 == 1 else bare + "=" * (-len(bare) % 4)
    try:
        return b":" in base64.b64decode(bare, validate=True)
    except (binascii.Error, ValueError):
        return False
