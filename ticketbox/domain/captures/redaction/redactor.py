"""Redaction at ingest: no recognisable secret is stored, whatever a browser sends.

The browser redacts too; the server repeats it for clients that don't (docs/operate/security.md). Removed secrets
are counted; what is already `[redacted]` stays.
"""

from collections.abc import Sequence

from ticketbox.domain.captures.capture import (
    BODY,
    LINE,
    TEXT,
    URL,
    ConsoleEntry,
    Environment,
    ErrorEntry,
    NetworkEntry,
    Page,
    Redaction,
)
from ticketbox.domain.captures.redaction.secret_names import REMOVED_HEADERS, is_harmless_header
from ticketbox.domain.captures.redaction.secret_scanner import REDACTED, SecretScanner

HEADER_VALUE = 16_384

_MAX_CLEAN_LENGTH = 512
_MAX_CLEAN_TEXTS = 10_000


class Redactor:
    """Removes secrets from one capture and counts them in `counts`.

    `extra` are the project's rules, as described in `SecretScanner`. Entries are changed in place.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.counts = Redaction()
        self._scrubber = SecretScanner(extra)
        self._clean: set[str] = set()

    def text(self, text: str, limit: int = TEXT) -> str:
        """Redact any text, and cut it to the limit."""
        if text in self._clean:
            return text
        clean = self._scrubber.scrub(text, self.counts)
        if clean is text and len(text) <= _MAX_CLEAN_LENGTH and len(self._clean) < _MAX_CLEAN_TEXTS:
            self._clean.add(text)
        return clean[:limit]

    def url(self, url: str) -> str:
        """Redact the login and the values of secret-looking parameters in a URL."""
        return self.text(url, URL)

    def body(self, body: str) -> str:
        """Redact the values of secret keys in a body (JSON, a form, XML or other text, whole or cut)."""
        return self.text(body, BODY)

    def headers(self, headers: dict[str, str]) -> dict[str, str]:
        """Remove headers that identify somebody; keep the values of harmless ones only."""
        return {
            self.text(name, 256): self._header(name.strip().lower(), value)
            for name, value in headers.items()
            if not self._removes(name)
        }

    def page(self, page: Page) -> None:
        """Redact the page's addresses and title."""
        page.url = self.url(page.url)
        page.title = self.text(page.title, LINE)
        page.referrer = self._maybe(page.referrer, URL)

    def environment(self, environment: Environment) -> None:
        """Redact the description of the client's browser."""
        environment.browser = self._maybe(environment.browser, LINE)
        environment.os = self._maybe(environment.os, LINE)
        environment.language = self._maybe(environment.language, LINE)
        environment.timezone = self._maybe(environment.timezone, LINE)

    def console(self, entries: Sequence[ConsoleEntry]) -> None:
        """Redact console lines."""
        for entry in entries:
            entry.args = [self.text(arg) for arg in entry.args]
            entry.stack = self._maybe(entry.stack, TEXT)
            entry.source = self._maybe(entry.source, URL)
            entry.frame = self._maybe(entry.frame, URL)

    def network(self, entries: Sequence[NetworkEntry]) -> None:
        """Redact requests and responses."""
        for entry in entries:
            entry.id = self.text(entry.id, 64)
            entry.url = self.url(entry.url)
            entry.method = self.text(entry.method, 32)
            entry.type = self.text(entry.type, 32)
            entry.status_text = self.text(entry.status_text, LINE)
            entry.initiator = self._maybe(entry.initiator, URL)
            entry.error = self._maybe(entry.error, LINE)
            entry.frame = self._maybe(entry.frame, URL)
            for part in (entry.request, entry.response):
                part.headers = self.headers(part.headers)
                part.body = self._maybe(part.body, BODY)
            entry.response.mime = self._maybe(entry.response.mime, LINE)

    def errors(self, entries: Sequence[ErrorEntry]) -> None:
        """Redact errors and their stacks."""
        for entry in entries:
            entry.name = self.text(entry.name, LINE)
            entry.message = self.text(entry.message)
            entry.stack = self._maybe(entry.stack, TEXT)
            entry.source = self._maybe(entry.source, URL)
            entry.fingerprint = self.text(entry.fingerprint, 128)
            entry.frame = self._maybe(entry.frame, URL)
            for frame in entry.frames:
                frame.url = self.url(frame.url)
                frame.function = self._maybe(frame.function, LINE)

    def _maybe(self, text: str | None, limit: int) -> str | None:
        return None if text is None else self.text(text, limit)

    def _removes(self, name: str) -> bool:
        removes = name.strip().lower() in REMOVED_HEADERS
        self.counts.headers += removes
        return removes

    def _header(self, name: str, value: str) -> str:
        if is_harmless_header(name):
            return self.text(value, HEADER_VALUE)
        self.counts.headers += value not in ("", REDACTED)
        return value and REDACTED


def redact_text(text: str) -> tuple[str, int]:
    """Redact a text; return it with the number of secrets removed."""
    counts = Redaction()
    return SecretScanner().scrub(text, counts), counts.total
