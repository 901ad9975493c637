"""Jira's wiki markup as Markdown: headings, lists, code, quotes, links, tables and emphasis.

Everything else stays as it is. Each expression reads a text in linear time.
https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

import re

_BLOCK = re.compile(r"\{(code|noformat|quote)(?::([^{}\n]{0,200}))?\}")
_LANGUAGE = re.compile(r"[\w+#-]{1,30}")
_BACKTICKS = re.compile(r"`+")

_HEADING = re.compile(r"h([1-6])\. +")
_ITEM = re.compile(r"([*#-]{1,10}) +(?=\S)")
_RULE = re.compile(r"-{4,}\s*")
_ROW = re.compile(r"\|.*\|\s*")

_INLINE = re.compile(
    r"\{\{(?P<code>[^{}\n]{1,1000})\}\}"
    r"|\[(?:(?P<text>[^\[\]|\n]{1,1000})\|)?(?P<url>(?:https?|mailto|ftp):[^\[\]|\s]{1,2000})(?:\|[^\[\]\n]{0,200})?\]"
    r"|\[~(?:accountid:)?(?P<person>[^\[\]|\n]{1,200})\]"
    r"|(?<!\w)!(?P<image>[^!|\s][^!|\n]{0,1000})(?:\|[^!\n]{0,200})?!(?!\w)"
    r"|(?<![\w*])\*(?P<bold>[^*\s](?:[^*\n]{0,1000}[^*\s])?)\*(?![\w*])"
    r"|(?<![\w-])-(?P<deleted>[^-\s](?:[^-\n]{0,1000}[^-\s])?)-(?![\w-])"
    r"|(?P<color>\{color(?::[^{}\n]{0,50})?\})"
)
_IMAGE_NAME = re.compile(r"(?i).+\.(?:avif|bmp|gif|jpe?g|png|svg|webp)")


def convert_to_markdown(text: str) -> str:
    """Convert wiki markup to Markdown."""
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    unclosed: set[str] = set()
    start = 0
    while (opening := _BLOCK.search(text, start)) is not None:
        name = opening[1]
        closing = None if name in unclosed else text.find(f"{{{name}}}", opening.end())
        if closing is None or closing < 0:
            unclosed.add(name)
            parts.append(_convert_lines(text[start : opening.end()]))
            start = opening.end()
            continue
        content = text[opening.end() : closing].strip("\n")
        block = _quote(convert_to_markdown(content)) if name == "quote" else _fence(content, name, opening[2] or "")
        parts += [_convert_lines(text[start : opening.start()]).rstrip(), f"\n\n{block}\n\n"]
        start = closing + len(name) + 2
    parts.append(_convert_lines(text[start:].lstrip("\n") if parts else text[start:]))
    return "".join(parts).strip()


def _fence(content: str, name: str, options: str) -> str:
    """Return a block of code, whose fence is longer than any in it."""
    language = next((each for each in options.split("|") if _LANGUAGE.fullmatch(each)), "") if name == "code" else ""
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(content)), default=0))
    return f"{fence}{language}\n{content}\n{fence}"


def _quote(content: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in content.split("\n"))


def _convert_lines(text: str) -> str:
    lines: list[str] = []
    in_list = in_table = False
    for line in text.split("\n"):
        item, row = _ITEM.match(line), _ROW.fullmatch(line)
        if lines and lines[-1] and ((item is not None) > in_list or (row is not None) > in_table):
            lines.append("")  # a list or a table starts a block
        if item is not None:
            lines.append(_convert_item(item[1], line[item.end() :]))
        elif row is not None:
            lines += _convert_row(line.strip(), is_first=not in_table)
        else:
            lines.append(_convert_line(line))
        in_list, in_table = item is not None, row is not None
    return "\n".join(lines)


def _convert_item(marks: str, text: str) -> str:
    indent = "".join("   " if mark == "#" else "  " for mark in marks[:-1])
    return f"{indent}{'1.' if marks[-1] == '#' else '-'} {_convert_inline(text)}"


def _convert_row(line: str, *, is_first: bool) -> list[str]:
    is_head = line.startswith("||")
    cells = [_convert_inline(cell.strip()) for cell in line.strip("|").split("||" if is_head else "|")]
    rows = [f"| {' | '.join(cells)} |"]
    if is_first:
        rule = f"|{'---|' * len(cells)}"
        rows = [rows[0], rule] if is_head else [f"|{'  |' * len(cells)}", rule, rows[0]]
    return rows


def _convert_line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading is not None:
        return f"{'#' * int(heading[1])} {_convert_inline(line[heading.end() :])}"
    if line.startswith("bq. "):
        return f"> {_convert_inline(line[4:])}"
    return "***" if _RULE.fullmatch(line) else _convert_inline(line)


def _convert_inline(text: str) -> str:
    return _INLINE.sub(_convert_match, text)


def _convert_match(match: re.Match[str]) -> str:
    kind, value = match.lastgroup, match[0]
    if match["url"] is not None:
        return f"[{match['text']}]({match['url']})" if match["text"] else f"<{match['url']}>"
    if match["code"] is not None:
        return f"`{match['code']}`"
    if match["person"] is not None:
        return match["person"]
    if match["image"] is not None:
        name = match["image"]
        if name.startswith(("https://", "http://")):
            return f"<{name}>"
        return f"`{name}`" if _IMAGE_NAME.fullmatch(name) else value
    if match["bold"] is not None:
        return f"**{_convert_inline(match['bold'])}**"
    if match["deleted"] is not None:
        return f"~~{match['deleted']}~~"
    assert kind == "color"
    return ""
