"""What people can't see in a text and programs read: some characters, and Markdown that renders to nothing.

Somebody can hide instructions for an agent in it, in a report for example.
"""

import re

from markdown_it import MarkdownIt

# Tags, which also hide text, and variation selectors; bidirectional controls; deprecated and invisible operators
_HIDDEN = r"\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e0fff"
# Only the flags of England, Scotland and Wales are drawn from tags (Unicode Technical Standard 51, C.1).
_FLAG = "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in nation) for nation in ("eng", "sct", "wls"))
)
HIDDEN_CHARACTERS = re.compile(rf"({_FLAG})|[{_HIDDEN}]")
# Characters, which take up to 0.1 s to parse. From longer texts, what looks like a definition or a title is removed.
MAX_PARSED = 5_000

_ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b\ufeff]")
_MAY_HIDE = re.compile(r"\]:|\]\(|```|~~~")
_PARAGRAPH = r"(?:[^\n]|\n(?![ \t>]*\n))*"
_DEFINITION = re.compile(
    r"^[ \t>*+-]*\[(?:\\.|[^\]\[\\]){1,999}\]:[ \t]*\n?[ \t>]*\S+[ \t]*" + rf"(?:$|\n?[ \t>]*[\"'(]{_PARAGRAPH})",
    re.MULTILINE,
)
_LONG_TITLE = re.compile(rf"(\]\(\s{{0,9}}\S{{0,300}})\s{{1,9}}[\"'(]{_PARAGRAPH}")
_TITLE = re.compile(
    r"(\]\(\s*(?:<[^<>\n]*>|[^\s<]\S*))\s+(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\))\s*\)"
)

_markdown = MarkdownIt("commonmark", {"html": False, "inline_definitions": True, "store_labels": True})
_markdown.enable(["table", "strikethrough"])


def remove_hidden_characters(text: str) -> tuple[str, int]:
    """Remove the characters that aren't shown, and count them."""
    found = 0

    def keep_flag(match: re.Match[str]) -> str:
        nonlocal found
        found += match[1] is None
        return match[1] or ""

    return HIDDEN_CHARACTERS.sub(keep_flag, text), found


def clean_title(title: str) -> str:
    """Remove from a title what isn't shown, zero-width spaces included; one that has nothing else becomes U+FFFD."""
    return _ZERO_WIDTH.sub("", remove_hidden_characters(title)[0]).strip() or "\ufffd"


def may_hide(text: str) -> bool:
    """Whether a text can have Markdown that isn't shown."""
    return _MAY_HIDE.search(text) is not None


def remove_hidden_markdown(text: str, max_parsed: int = MAX_PARSED) -> tuple[str, int]:
    """Remove what Markdown doesn't show, and count it: unused definitions of links, titles, words after a language."""
    if not may_hide(text):
        return text, 0
    if len(text) > min(max_parsed, MAX_PARSED):
        text, definitions = _DEFINITION.subn("", text)
        text, titles = _LONG_TITLE.subn(r"\1)", text)
        return text, definitions + titles
    tokens = _markdown.parse(text)
    links = [child for token in tokens for child in token.children or [] if child.type in {"link_open", "image"}]
    used = {child.meta.get("label") for child in links}
    lines: list[str | None] = list(text.split("\n"))
    found = 0
    for token in tokens:
        if token.map is None:
            continue
        first, end = token.map
        if token.type == "definition" and (token.meta["id"] not in used or token.meta["title"]):
            found += 1
            shown = None if token.meta["id"] not in used else f"[{token.meta['label']}]: <{token.meta['url']}>"
            lines[first:end] = [shown, *[None] * (end - first - 1)]
        elif token.type == "fence" and len(token.info.split()) > 1:
            found += 1
            lines[first] = _cut_info(lines[first] or "", token.info.strip())
        elif token.type == "inline" and any(child.attrs.get("title") for child in token.children or []):
            code = "\n".join(child.content for child in token.children or [] if child.type == "code_inline")
            kept = "\n".join(line for line in lines[first:end] if line is not None)
            shorter = _TITLE.sub(lambda match, code=code: match[0] if match[0] in code else f"{match[1]})", kept)
            found += shorter != kept
            lines[first:end] = [shorter, *[None] * (end - first - 1)]
    return "\n".join(line for line in lines if line is not None), found


def _cut_info(line: str, info: str) -> str:
    """Cut what follows the language on the first line of a code block."""
    before, found, _ = line.rpartition(info)
    return before + info.split(maxsplit=1)[0] if found else line
