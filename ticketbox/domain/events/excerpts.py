"""The part of a text that a notification shows."""

MAX_CHARACTERS = 300
_LEAD = 60  # characters before a mention


def cut_excerpt(text: str, *, from_mention: bool = False) -> str:
    """Cut a text to one paragraph of at most 300 characters, from its start or from shortly before its first `@`.

    `…` marks where something is left out. The text stays Markdown.
    """
    words = " ".join(text.split())
    if len(words) <= MAX_CHARACTERS:
        return words
    start = max(0, words.find("@") - _LEAD) if from_mention else 0
    before = "…" if start > 0 else ""
    passage = words[start : start + MAX_CHARACTERS - 2]
    after = "…" if start + len(passage) < len(words) else ""
    return f"{before}{passage}{after}"
