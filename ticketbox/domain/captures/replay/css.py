"""Removing from CSS what would load something."""

import re

# CSS Syntax Level 3, "Consume an escaped code point": escapes can hide the letters of a function's name.
_ESCAPE = re.compile(r"(?s)\\(?:([0-9a-fA-F]{1,6})\s?|(.))")
_IMPORT = re.compile(r"(?is)@import[^;{}]*+;?")
_URL = re.compile(r"(?i)url\(\s*+")
_ENDS = {quote: re.compile(rf"(?s){quote}(?:[^{quote}\\]|\\.)*+{quote}\s*+\)") for quote in "\"'"}
# A gradient or a mask of the same page.
_OWN_ELEMENT = re.compile(r"(?P<quote>[\"']?)#[\w.-]++(?P=quote)\s*+\)")
_LOADING_FUNCTION = re.compile(
    rf"(?i)(?<![\w-])(url\((?!\s*+{_OWN_ELEMENT.pattern})|(?:-\w+-)?(?:src|image-set|cross-fade|image|element|paint)\()"
)


def remove_loads(css: str) -> str:
    """Remove imports, and addresses other than those of the page's own elements, even pictures in `data:` addresses."""
    if "\\" in css:
        css = _ESCAPE.sub(_unescape_letter, css)
    if "@" in css:
        css = _IMPORT.sub(" ", css)
    if "(" in css:
        css = _LOADING_FUNCTION.sub(r"no-\1", _replace_addresses(css))
    return css


def _unescape_letter(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else ord(match[2])
    return chr(code) if code < 128 and (chr(code).isalpha() or code == ord("-")) else match[0]


def _replace_addresses(css: str) -> str:
    """Replace `url(…)` by `none`. One that doesn't end stays as it is."""
    parts: list[str] = []
    done = position = 0
    while match := _URL.search(css, position):
        position = match.end()
        if _OWN_ELEMENT.match(css, position):
            continue
        string = _ENDS[css[position]].match(css, position) if css[position : position + 1] in _ENDS else None
        end = string.end() if string else css.find(")", position) + 1
        if not end:
            break
        parts += css[done : match.start()], "none"
        done = position = end
    return "".join((*parts, css[done:]))
