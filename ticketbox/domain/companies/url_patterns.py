"""URL patterns: globs on page URLs that choose the project of a capture."""


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether a glob matches the whole text; `*` matches any characters. Linear in the text's length."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        start = text.find(part, at)
        if start < 0:
            return False
        at = start + len(part)
    return len(text) - len(rest[-1]) >= at and text.endswith(rest[-1])


def choose_best_match(candidates: list[tuple[str, list[str]]], text: str) -> str | None:
    """Choose the name whose matching pattern has the most literal characters; the first of equals."""
    best, most = None, -1
    for name, patterns in candidates:
        for pattern in patterns:
            literal = len(pattern) - pattern.count("*")
            if literal > most and matches_pattern(pattern, text):
                best, most = name, literal
    return best
