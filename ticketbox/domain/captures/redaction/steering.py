"""Values that route a call or steer a page, which stay in shaped bodies (docs/use/captures.md, "Bodies").

The extension does the same (web/src/recorder/redaction/steering.ts); one test compares both.
"""

import re

_LONGEST_KEY = 40
# Compared without case, underscores and hyphens.
_STEERS = re.compile(
    r"[a-z0-9$@]*(?:type|typename|kind|status|role|mode|variant|plugin|component|severity|element|elementname|tagname)"
    r"(?:e?s)?"
    r"|(?:state|level|action|event|op|operation|operationname|method|namespace|locale|lang|language|currency|unit"
    r"|format|layout|theme|view|permission|scope|feature|flag)s?|in"
)
_CODE_KEY = re.compile("(?:error|status)?codes?")
_DOCUMENT_IDS = frozenset({"sha256hash", "documentid", "docid", "queryid", "queryhash", "persistedqueryid"})
_IDENTIFIER = re.compile(r"(?!(?:[^0-9]*[0-9]){4})[A-Za-z][A-Za-z0-9_.:/-]{0,63}")
_NUMBER = re.compile("[0-9]{1,3}")
_CODE = re.compile("(?!(?:[^0-9]*[0-9]){4})(?=.{3,64}$)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# Under `code`, a single word can be that of a coupon.
_NAMED_CODE = re.compile(
    "(?:OK|ERROR|SUCCESS|FAILED|FORBIDDEN|UNAUTHENTICATED|UNAUTHORIZED)"
    "|[A-Za-z]+(?:[_.:/-][A-Za-z]+)+|[a-z]+(?:[A-Z][a-z]+)+"
)
_DOCUMENT_ID = re.compile("[A-Za-z0-9_-]{1,128}")
_DOCUMENT = re.compile(r"[ \t\r\n]*(?:\{|(?:query|mutation|subscription|fragment)(?![A-Za-z0-9_]))")
_LITERAL = re.compile(
    r'#[^\n]*|"""[^"]*(?:"{1,2}[^"]+)*(?:""")?|"(?:[^"\\\n]|\\[^\n])*"?|(?<![A-Za-z0-9_$.])-?[0-9]+(?:\.[0-9]+)?'
)
_CLOSED = re.compile(r'"""[\s\S]*"""|"(?!"")[\s\S]*"')


def is_code(value: str) -> bool:
    """Whether a text is a code wherever it is, such as `READY_STATE`."""
    return _CODE.fullmatch(value) is not None


def keep_steering(key: str, value: str) -> str | None:
    """Return what stays of a value under a key: all of it, or a GraphQL document without literals; None for others."""
    if len(key) > _LONGEST_KEY:
        return None
    name = re.sub("[_-]", "", key).lower()
    if name == "query" and _DOCUMENT.match(value) and value.rstrip(" \t\r\n").endswith("}"):
        document = _LITERAL.sub(_blank_literal, value)
        return None if '"' in document.replace('""', "") else document
    if name in _DOCUMENT_IDS:
        return value if _DOCUMENT_ID.fullmatch(value) else None
    if _CODE_KEY.fullmatch(name):
        return value if _NAMED_CODE.fullmatch(value) or _NUMBER.fullmatch(value) else None
    if not _STEERS.fullmatch(name):
        return None
    return value if _IDENTIFIER.fullmatch(value) or _NUMBER.fullmatch(value) else None


def _blank_literal(match: re.Match[str]) -> str:
    literal = match[0]
    if literal[0] == '"':
        return '""' if _CLOSED.fullmatch(literal) else '"'
    return "" if literal[0] == "#" else "0"
