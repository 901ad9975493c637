"""What the Markdown of a message says, as GitHub and GitLab read it: no code, quotes, HTML and comments."""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

ITEM = "\n- "

_markdown = MarkdownIt("commonmark")


def read_prose(text: str) -> str:
    """Return a text without markup: its paragraphs, its list items after `ITEM`, and the addresses of its links."""
    parts: list[str] = []
    addresses: list[str] = []
    quotes = 0
    separator = "\n\n"
    for token in _markdown.parse(text):
        if token.type in {"blockquote_open", "blockquote_close"}:
            quotes += token.nesting
        elif token.type == "list_item_open":
            separator = ITEM
        elif token.type == "inline" and quotes == 0:
            children = token.children or []
            parts += [separator, *_list_texts(children)]
            separator = "\n\n"
            addresses += [str(child.attrs["href"]) for child in children if child.type == "link_open"]
    return "".join(parts + [f"\n\n{address}" for address in addresses]).lstrip("\n")


def _list_texts(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        if child.type == "text":
            yield child.content
        elif child.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif child.type in {"code_inline", "image"}:
            yield "\N{OBJECT REPLACEMENT CHARACTER}"
