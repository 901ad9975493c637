"""A quick look at a text that decides whether redaction must examine it: most texts hold nothing like a secret.

Python's regular expressions need 40 ns for each character, and most of a capture needs none of that. The Rust engine
of pydantic-core, which the MCP SDK brings along, needs about 1 ns. A gate may pass a text without a secret, but must
never hold one back (tests/domain/captures/test_redaction_corpus.py).
"""

import re
from collections.abc import Callable
from functools import cache

from ticketbox.domain.captures.redaction.rules import RULES

Gate = Callable[[str], bool]

_LOOKAROUND = re.compile(
    r"\(\?(?:<?[=!])(?:[^()\\\[]|\\.|\[(?:[^\]\\]|\\.)*\]|\((?:[^()\\\[]|\\.|\[(?:[^\]\\]|\\.)*\])*\))*\)"
)
_QUOTE = r"(?:\\*[\"'`]|\\*u002[27]|%(?:25)*2[27]|&quot;|&#3[49];)"
_SIGN = r"(?:\r?\n\r?\n|[\x01-\x08\x0e-\x1f\x80-\xbf\ufffd]|\s*(?:-*~?[=:>：＝→⇒➜⟶↦]|\\+u003d|%(?:25)*3[ad]))"
_NAMING = r"(?:name|key|id|field|header|header_name|k|param|property|label|variable|itemprop|http-equiv|type)"
_ANNOUNCED = r"(?:pass|pwd|kennwort|contrase|clave|senha|wachtw|key|token|secret|pin|otp|code)[a-z\u00f1]*"
_SAID = r"(?:is|was|are|to|set|ist|lautet|est|es|\u00e9|value|provided|given|entered|received|used|key)"
WEAK = r"state|nonce|salt|hash|ticket|remember|api|[?&;#](?:tk?|k|st)"
# letters of keys, Latin and Cyrillic: \w, the letters of every script, takes twice the memory
_WORD = r"0-9A-Za-z_\u00c0-\u024f\u0400-\u04ff"
_REPEAT = re.compile(r"\{([0-9]+)(,?)[0-9]*\}")
_MAX_REPEAT = 4


@cache
def compile_name_gate(stems: str) -> Gate:
    """Compile the gate for texts with a key that contains one of the stems."""
    return _compile(_build_name_pattern(stems))


@cache
def compile_format_gate() -> Gate:
    """Compile the gate for texts with a secret of a known format, or a login in an address."""
    return _compile(_build_format_pattern())


@cache
def compile_rare_gate() -> Gate:
    """Compile the gate for texts that the two others don't know: one for all would be too large to be fast."""
    formats = "|".join(each.gate for each in RULES.formats if each.gate)
    return _compile(f"(?-i:{formats})|{'|'.join(RULES.pairs.gates.rare)}")


def _build_name_pattern(stems: str) -> str:
    key = rf"(?:{stems})[{_WORD}.\-\[\]%]*"
    return (
        rf"{key}(?: [{_WORD}]+)?{_QUOTE}?\]?{_SIGN}"
        rf"|{key}(?:[ {_WORD}.\-]*)\\*[\"']\s*,"
        rf"|{_NAMING}\\*[\"']?\s*[=:]\s*\\*[\"']?[^\"'<>=:]*(?:{stems})"
        rf"|<[^<>]*(?:{stems})"
        r"|--(?:pass|token|secret|api-key)|密码|密碼|口令|パスワード|비밀 ?번호|암호|пароль"
        rf"|(?:{WEAK})[{_WORD}.\-\]]*{_QUOTE}?{_SIGN}\s*{_QUOTE}?[0-9A-Za-z+/_-]{{20}}"
        rf"|{'|'.join(RULES.pairs.gates.labels)}"
        rf"|{_ANNOUNCED}:? (?:{_SAID}:? ){{0,3}}[^ \t\r\n0-9]*[0-9]"
    )


def _build_format_pattern() -> str:
    exact = [
        *(_loosen(each.pattern) for each in RULES.formats if not each.gate),
        rf"eyJ[{_WORD}-]{{10}}",
        "-----BEGIN [A-Z0-9 ]*PRIVATE",
        "://[^/ ]*@",
        r"(?:^|[^0-9A-Za-z_.\-])(?:[2-6][0-9]{3}(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})",
        r"(?:^|[^0-9A-Za-z_])[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2}",
    ]
    return rf"(?-i:{'|'.join(exact)})|(?:bearer|basic)(?:\s|%20|\+)|%2f[^/ ]*%(?:25)?40"


@cache
def compile_rule_gate(pattern: str) -> Gate:
    """Compile the gate for lower-case texts with a match of a pattern of the rules."""
    return _compile(_loosen(pattern))


def _loosen(pattern: str) -> str:
    """Return a pattern of the rules that matches more, in Rust: without looking around, and with short repeats.

    Long repeats need so many states that the engine would fall back to a slow algorithm.
    """

    def shorten(match: re.Match[str]) -> str:
        least = int(match[1])
        return match[0] if least <= _MAX_REPEAT and not match[2] else f"{{{min(least, _MAX_REPEAT)},}}"

    without = _LOOKAROUND.sub("", _LOOKAROUND.sub("", pattern))  # one may be in another
    return _REPEAT.sub(shorten, without).replace(r"\1", r"\\*[\"']")


def _compile(pattern: str) -> Gate:
    # loaded with the first capture: a server without captures doesn't need it
    from pydantic_core import SchemaValidator, core_schema

    schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex", strict=True)
    return SchemaValidator(schema).isinstance_python
