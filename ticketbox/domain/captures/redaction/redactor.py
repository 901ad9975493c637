"""Redaction of captures before they are stored, so that they contain no recognizable secret.

The extension redacts too; the server repeats it for clients that don't (docs/operate/security.md). Removed secrets
are counted; what is already `[redacted]` stays.
"""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from ticketbox.domain.captures.actions import RULE, ActionEntry, ActionTarget
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Page, Redaction
from ticketbox.domain.captures.environment import SCRIPT_URL, VALUE, Environment
from ticketbox.domain.captures.expectations import SHOWN, SentExpectation
from ticketbox.domain.captures.fields import BODY, LINE, TEXT, URL
from ticketbox.domain.captures.redaction.pairs import is_secret_argument
from ticketbox.domain.captures.redaction.rules import RULES
from ticketbox.domain.captures.redaction.secret_names import is_harmless_header
from ticketbox.domain.captures.redaction.secret_scanner import SecretScanner
from ticketbox.domain.captures.redaction.secret_values import REDACTED
from ticketbox.domain.captures.source_maps.frames import Frame

HEADER_VALUE = 16_384

_LONG = 4_096
_MAX_LABEL = 100
_PLACEHOLDER = re.compile("%[sdifoOj]")
_LAST_WORDS = re.compile(r"(?:[A-Za-z0-9_.-]{2,40} )?[A-Za-z0-9_.-]{2,40} ?[=:]?[ \"']{0,2}$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.?)*)(?:"|\Z)', re.DOTALL)
# Clean texts and names of headers are remembered, in at most 4 MB: other than ASCII takes up to four times as much.
_MAX_CLEAN_LENGTH = 256
_MAX_CLEAN_TEXTS = 10_000
_MAX_HEADERS = 1_000


class Redactor:
    """Removes secrets from one capture and counts them in `counts`.

    `extra` are the project's rules, as described in `SecretScanner`. Entries are changed in place.
    `check_time` is called with the length of each long text, and raises if it has taken too long.
    """

    def __init__(self, extra: Sequence[str] = (), check_time: Callable[[int], None] = lambda _: None) -> None:
        self._check_time = check_time
        self.counts = Redaction()
        self._scanner = SecretScanner(extra)
        self._clean: set[str] = set()
        self._headers: dict[str, tuple[str, bool]] = {}

    def redact_text(self, text: str, limit: int = TEXT) -> str:
        """Redact any text, and cut it to the limit."""
        if text in self._clean:
            return text
        if len(text) > _LONG:
            self._check_time(len(text))
        clean = self._scanner.scrub(text, self.counts)
        if clean is text and len(text) <= _MAX_CLEAN_LENGTH and text.isascii():
            if len(self._clean) == _MAX_CLEAN_TEXTS:
                self._clean.clear()
            self._clean.add(text)
        return clean[:limit]

    def redact_url(self, url: str) -> str:
        """Redact the login and the values of secret-looking parameters in a URL."""
        return self.redact_text(url, URL)

    def redact_body(self, body: str) -> str:
        """Redact the values of secret keys in a body (JSON, a form, XML or other text, whole or cut)."""
        return self.redact_text(body, BODY)

    def redact_after(self, labels: Sequence[str], text: str, limit: int = TEXT) -> str:
        """Redact a text that others may name: the text before it on a page, or among the arguments of a call."""
        clean = self.redact_text(text, limit)
        if not any(is_secret_argument(label, clean.strip()) for label in labels):
            return clean
        self.counts.keys += 1
        return REDACTED

    def redact_locator(self, locator: str) -> str:
        """Redact the texts in a locator; the rest is structure, in which only known formats are secrets."""
        parts = _QUOTED.split(locator)
        parts[::2] = [self._scanner.scrub(part, self.counts, names=False) for part in parts[::2]]
        parts[1::2] = [f'"{self.redact_text(part, LINE)}"' for part in parts[1::2]]
        return "".join(parts)[:LINE]

    def redact_headers(self, headers: dict[str, str]) -> dict[str, str]:
        """Remove headers that identify somebody; keep the values of harmless ones only."""
        clean: dict[str, str] = {}
        known, known_values = self._headers, self._clean
        for name, value in headers.items():
            kept_as, is_harmless = known.get(name) or self._classify_header(name)
            if kept_as is None:
                self.counts.headers += 1
            elif is_harmless:
                clean[kept_as] = value if value in known_values else self.redact_text(value, HEADER_VALUE)
            else:
                self.counts.headers += value not in ("", REDACTED)
                clean[kept_as] = value and REDACTED
        return clean

    def redact_page(self, page: Page) -> None:
        """Redact the page's addresses and title."""
        page.url = self.redact_url(page.url)
        page.title = self.redact_text(page.title, LINE)
        page.referrer = self._redact_optional(page.referrer, URL)

    def redact_environment(self, environment: Environment) -> None:
        """Redact the description of the client's browser."""
        environment.browser = self._redact_optional(environment.browser, LINE)
        environment.os = self._redact_optional(environment.os, LINE)
        environment.language = self._redact_optional(environment.language, LINE)
        environment.timezone = self._redact_optional(environment.timezone, LINE)
        environment.release = self._redact_optional(environment.release, LINE)
        if environment.extension is not UNSET:
            environment.extension = self.redact_text(environment.extension, VALUE)
        for frame in environment.long_frames or ():
            for script in frame.scripts:
                script.url = self.redact_url(script.url)[:SCRIPT_URL]
                script.function = self.redact_text(script.function, VALUE)
                script.invoker = self.redact_text(script.invoker, VALUE)
        if environment.declared is not UNSET:
            environment.declared = dict(self._redact_declared(*each) for each in environment.declared.items())
        if (storage := environment.storage) is not UNSET:
            storage.local = [self.redact_text(name, VALUE) for name in storage.local]
            storage.session = [self.redact_text(name, VALUE) for name in storage.session]
            storage.cookies = [self.redact_text(name, VALUE) for name in storage.cookies]
            for start in storage.start or ():  # its values are replaced as the project's policy says
                start.local = {self.redact_text(name, VALUE): value for name, value in start.local.items()}
                start.session = {self.redact_text(name, VALUE): value for name, value in start.session.items()}
                start.cookies = [self.redact_text(name, VALUE) for name in start.cookies]

    def redact_console(self, entries: Sequence[ConsoleEntry]) -> None:
        """Redact console lines."""
        for entry in entries:
            entry.args = self._redact_arguments(entry.args)
            if entry.stack is not None:
                entry.stack = self.redact_text(entry.stack)
            if entry.source is not None:
                entry.source = self.redact_text(entry.source, URL)
            if entry.frame is not None:
                entry.frame = self.redact_text(entry.frame, URL)
            self._redact_frames(entry.frames)

    def redact_network(self, entries: Sequence[NetworkEntry]) -> None:
        """Redact requests and responses."""
        known = self._clean
        for entry in entries:
            entry.id = self.redact_text(entry.id, 64)
            entry.url = self.redact_url(entry.url)
            # most are missing or known, and a call takes longer than a look
            if entry.method not in known:
                entry.method = self.redact_text(entry.method, 32)
            if entry.type not in known:
                entry.type = self.redact_text(entry.type, 32)
            if entry.status_text not in known:
                entry.status_text = self.redact_text(entry.status_text, LINE)
            if entry.initiator is not None:
                entry.initiator = self.redact_text(entry.initiator, URL)
            if entry.error is not None:
                entry.error = self.redact_text(entry.error, LINE)
            entry.frame = self._redact_optional(entry.frame, URL)
            for redirect in entry.redirects:
                redirect.url = self.redact_url(redirect.url)
            for part in (entry.request, entry.response):
                if part.headers:
                    part.headers = self.redact_headers(part.headers)
                part.body = self._redact_optional(part.body, BODY)
            for message in entry.messages or ():
                message.body = self._redact_optional(message.body, BODY)
                if message.event is not UNSET:
                    message.event = self.redact_text(message.event, VALUE)
            entry.response.mime = self._redact_optional(entry.response.mime, LINE)

    def redact_errors(self, entries: Sequence[ErrorEntry]) -> None:
        """Redact errors and their stacks."""
        for entry in entries:
            entry.name = self.redact_text(entry.name, LINE)
            entry.message = self.redact_text(entry.message)
            entry.stack = self._redact_optional(entry.stack, TEXT)
            entry.source = self._redact_optional(entry.source, URL)
            entry.fingerprint = self.redact_text(entry.fingerprint, 128)
            entry.frame = self._redact_optional(entry.frame, URL)
            self._redact_frames(entry.frames)

    def redact_actions(self, entries: Sequence[ActionEntry]) -> None:
        """Redact what a person did: the names and texts of elements, their locators, and addresses."""
        for entry in entries:
            entry.url = self._redact_optional(entry.url, URL)
            entry.frame = self._redact_optional(entry.frame, URL)
            for target in (entry.target, entry.to):
                if isinstance(target, ActionTarget):
                    self._redact_target(target)
            if entry.frame_path is not UNSET:
                entry.frame_path = [self.redact_locator(each) for each in entry.frame_path]
            if (rules := entry.field) is not UNSET:
                for name in ("pattern", "min", "max", "step", "accept", "input_mode"):
                    if (rule := getattr(rules, name)) is not UNSET:
                        setattr(rules, name, self.redact_text(rule, RULE))

    def redact_expectation(self, sent: SentExpectation) -> None:
        """Redact what is wrong on a page, in place: texts, locators and addresses."""
        for target in (sent.target, sent.other):
            if target is not None:
                self._redact_target(target)
        sent.frame = self._redact_optional(sent.frame, URL)
        sent.frame_path = [self.redact_locator(each) for each in sent.frame_path]
        sent.name = self._redact_optional(sent.name, VALUE)
        for texts in (sent, sent.shown):
            if texts is not None:
                texts.seen, texts.right = (self._redact_optional(each, SHOWN) for each in (texts.seen, texts.right))

    def _redact_target(self, target: ActionTarget) -> None:
        target.role = self._redact_optional(target.role, LINE)
        target.name = self._redact_optional(target.name, LINE)
        target.test_id = self._redact_optional(target.test_id, LINE)
        target.text = self._redact_optional(target.text, LINE)
        target.selectors = [self.redact_locator(each) for each in target.selectors]

    def _redact_frames(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            frame.url = self.redact_url(frame.url)
            frame.function = self._redact_optional(frame.function, LINE)
            if frame.debug_id is not UNSET:
                frame.debug_id = self.redact_text(frame.debug_id, 64)
            if (original := frame.original) is not UNSET:
                frame.original = replace(
                    original,
                    file=self.redact_text(original.file, LINE),
                    context=[self.redact_text(line, LINE) for line in original.context],
                )

    def _redact_arguments(self, arguments: list[str]) -> list[str]:
        """Redact what a console call printed: `console.log("token: %s", value)` names its secret before it."""
        labels = [[each] for each in ("", *arguments)]
        for index, part in enumerate(_PLACEHOLDER.split(arguments[0])[:-1] if arguments else (), 1):
            if (words := _LAST_WORDS.search(part[-_MAX_LABEL:])) and index < len(arguments):
                labels[index].append(words[0])
        return [self.redact_after(*each) for each in zip(labels, arguments, strict=False)]

    def _redact_declared(self, name: str, value: str) -> tuple[str, str]:
        """Redact a name and its value as a member of a JSON object, which the rules for keys recognise."""
        member = self.redact_text(msgspec.json.encode({name: value}).decode())
        try:
            ((clean_name, clean),) = msgspec.json.decode(member, type=dict[str, str]).items()
        except (msgspec.DecodeError, ValueError):  # a rule cut more than the value
            return self.redact_text(name, VALUE), REDACTED
        return clean_name[:VALUE], clean[:VALUE]

    def _redact_optional(self, text: str | None, limit: int) -> str | None:
        return None if text is None else self.redact_text(text, limit)

    def _classify_header(self, name: str) -> tuple[str | None, bool]:
        """Return the redacted name of a header, None to remove it, and whether its value is harmless."""
        key = name.strip().lower()
        if key in RULES.headers.removed:
            return None, False
        found = self.redact_text(name, 256), is_harmless_header(key)
        if found[0] == name and len(self._headers) < _MAX_HEADERS:  # a redacted name is counted each time
            self._headers[name] = found
        return found


def redact_text(text: str) -> tuple[str, int]:
    """Redact a text; return it with the number of secrets removed."""
    counts = Redaction()
    return SecretScanner().scrub(text, counts), counts.total
