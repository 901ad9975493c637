"""A replay in words: what changed on the screen, second by second."""

from collections import Counter

import msgspec

from ticketbox.domain.captures.replay.events import FULL_SNAPSHOT, INCREMENT
from ticketbox.domain.captures.replay.page import Json, ReplayedPage

SECOND_MS = 1_000
MAX_FIRST = 400  # characters of the page that the replay begins with
MAX_CHANGES = 6  # of each second
MAX_LISTED = 3  # of equal changes

_MUTATION, _RESIZE = 0, 4
# Attributes that change what a person can see or do: the words for true and false.
_STATES = {
    "disabled": ("disabled", "enabled"), "aria-disabled": ("disabled", "enabled"),
    "aria-expanded": ("opened", "closed"), "open": ("opened", "closed"),
    "aria-invalid": ("marked as invalid", "no longer marked as invalid"),
    "aria-busy": ("busy", "no longer busy"), "aria-selected": ("selected", "no longer selected"),
    "aria-checked": ("checked", "unchecked"),
}  # fmt: skip


class ScreenChange(msgspec.Struct, frozen=True):
    """What changed within a second."""

    ts: float
    text: str


def describe_replay(events: list[Json]) -> list[ScreenChange]:
    """Describe a replay as it is stored, oldest first. The first description is that of the page it begins with."""
    writer = _Writer(events[0]["timestamp"] if events else 0.0)
    for event in events:
        writer.apply(event)
    return writer.finish()


class _Writer:
    def __init__(self, start: float) -> None:
        self._page = ReplayedPage()
        self._start = start
        self._changes: list[ScreenChange] = []
        self._begin(start)

    def _begin(self, ts: float) -> None:
        """Begin a second."""
        self._ts = ts
        self._removed: dict[int, list[str]] = {}
        self._added: dict[int, int] = {}  # node -> the element that it was added to
        self._texts: dict[int, str] = {}  # text node -> its text before
        self._states: dict[tuple[int, str], None] = {}
        self._size = ""

    def apply(self, event: Json) -> None:
        ts: float = event["timestamp"]
        if not self._changes and self._page.is_loaded() and ts > self._start:
            self._describe_first()
        if self._changes and (ts - self._start) // SECOND_MS != (self._ts - self._start) // SECOND_MS:
            self._flush()
            self._begin(ts)
        data = event["data"]
        if event["type"] == FULL_SNAPSHOT:
            if self._changes:
                self._flush()
                self._begin(ts)
            self._page.load(data["node"])
        elif event["type"] == INCREMENT and data["source"] == _MUTATION:
            self._mutate(data)
        elif event["type"] == INCREMENT and data["source"] == _RESIZE:
            self._size = f"window resized to {data['width']}×{data['height']}"

    def finish(self) -> list[ScreenChange]:
        if self._changes:
            self._flush()
        else:
            self._describe_first()
        if self._page.is_exhausted:
            self._changes.append(ScreenChange(self._ts, "more changes than can be described"))
        return self._changes

    def _describe_first(self) -> None:
        self._changes.append(ScreenChange(self._start, self._page.read_text(limit=MAX_FIRST) or "An empty page"))
        self._begin(self._start)

    def _mutate(self, data: Json) -> None:
        page = self._page
        for each in data["removes"]:
            key = each["id"]
            if key in self._added:
                del self._added[key]
            elif page.is_shown(key) and (text := page.read_text(key)):
                self._removed.setdefault(each["parentId"], []).append(text)
            page.remove(key)
        for each in data["adds"]:
            page.add(each["parentId"], each["nextId"], each["node"])
            self._added[each["node"]["id"]] = each["parentId"]
        for each in data["texts"]:
            self._texts.setdefault(each["id"], page.read_text(each["id"]))
            page.set_text(each["id"], each["value"])
        for each in data["attributes"]:
            self._change_attributes(each["id"], each["attributes"])

    def _change_attributes(self, key: int, attributes: Json) -> None:
        page = self._page
        if not page.has(key):
            return
        was_shown, text, parent = page.is_shown(key), page.read_text(key), page.find_parent(key)
        page.set_attributes(key, attributes)
        if was_shown and not page.is_shown(key) and text:
            self._removed.setdefault(parent, []).append(text)
        elif not was_shown and page.is_shown(key):
            self._added.setdefault(key, parent)
        self._states |= {(key, name): None for name in attributes if name in _STATES}

    def _flush(self) -> None:
        """Describe the second that ends."""
        words = [*self._list_text_changes(), *self._list_replacements(), *self._list_state_changes()]
        if self._size:
            words.append(self._size)
        if len(words) > MAX_CHANGES:
            words = [*words[:MAX_CHANGES], f"{len(words) - MAX_CHANGES:,} more changes"]
        if words:
            self._changes.append(ScreenChange(self._ts, "; ".join(words)))

    def _list_text_changes(self) -> list[str]:
        found: list[str] = []
        for key, before in self._texts.items():
            after = self._page.read_text(key)
            if after != before and self._page.is_shown(key) and not self._is_added(key) and self._page.has(key):
                found.append(_replace(self._page.name_kind(key), before, after))
        return found

    def _list_replacements(self) -> list[str]:
        added: dict[int, list[str]] = {}
        kinds: dict[int, str] = {}
        for key, parent in self._added.items():
            if self._is_inside_added(key) or not self._page.is_shown(key) or not (text := self._page.read_text(key)):
                continue
            added.setdefault(parent, []).append(text)
            kinds[parent] = self._page.name_kind(key)
        found: list[str] = []
        for parent in dict.fromkeys((*self._removed, *added)):
            before, after = _drop_equal(self._removed.get(parent, []), added.get(parent, []))
            if len(before) == len(after) == 1:
                found.append(_replace(kinds.get(parent, ""), before[0], after[0]))
                continue
            found += [_list_texts("appeared", kinds.get(parent, ""), after)] if after else []
            found += [_list_texts("gone", "", before)] if before else []
        return found

    def _list_state_changes(self) -> list[str]:
        found: list[str] = []
        for key, name in self._states:
            if self._is_added(key) or not self._page.is_shown(key):
                continue
            words = _STATES[name][0 if self._page.has_state(key, name) else 1]
            kind = self._page.name_kind(key) or "element"
            text = self._page.read_text(key)
            found.append(f"{kind} {_quote(text)} {words}" if text else f"{kind} {words}")
        return found

    def _is_added(self, key: int) -> bool:
        return any(each in self._added for each in self._page.list_ancestors(key))

    def _is_inside_added(self, key: int) -> bool:
        return any(each in self._added for each in self._page.list_ancestors(key) if each != key)


def _drop_equal(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Drop what was only moved, or built a second time."""
    gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return _keep(before, gone), _keep(after, new)


def _keep(texts: list[str], counts: Counter[str]) -> list[str]:
    """Keep the last of equal texts, as many as are counted."""
    kept: list[str] = []
    for text in reversed(texts):
        if counts[text]:
            counts[text] -= 1
            kept.append(text)
    return kept[::-1]


def _replace(kind: str, before: str, after: str) -> str:
    change = f"{_quote(before)} → {_quote(after)}"
    return f"{kind} {change}" if kind else change


def _list_texts(verb: str, kind: str, texts: list[str]) -> str:
    listed = ", ".join(map(_quote, texts[:MAX_LISTED]))
    more = f" and {len(texts) - MAX_LISTED:,} more" if len(texts) > MAX_LISTED else ""
    return f"{verb}: {kind + ' ' if kind else ''}{listed}{more}"


def _quote(text: str) -> str:
    return f"“{text}”"
