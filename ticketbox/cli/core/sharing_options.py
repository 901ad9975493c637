"""Options for how much callers share, and how long they wait (docs/operate/configuration.md)."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ticketbox.settings import (
    DEFAULT_CAPTURE_SECONDS,
    DEFAULT_DELIVERIES,
    DEFAULT_EVENT_STREAMS,
    DEFAULT_QUEUE_SECONDS,
    DEFAULT_UPLOAD_RATE,
    DEFAULT_UPLOADS,
)

F = TypeVar("F", bound=Callable[..., Any])

# Name, default, least, most, help; the name is also that of the setting.
_OPTIONS: list[tuple[str, int, int, int | None, str]] = [
    (
        "max-deliveries", DEFAULT_DELIVERIES, 1, 1000,
        "How many webhook deliveries are sent at a time; a company has a quarter of them at most.",
    ),
    (
        "max-event-streams", DEFAULT_EVENT_STREAMS, 1, 100_000,
        "How many event streams are open at a time; an account has a tenth of them at most, a company half.",
    ),
    ("max-uploads", DEFAULT_UPLOADS, 1, 64, "How many uploads are in memory at a time; each takes up to 32 MB."),
    ("min-upload-rate", DEFAULT_UPLOAD_RATE, 0, None, "The slowest upload, in bytes per second; 0 allows any."),
    (
        "max-capture-seconds", DEFAULT_CAPTURE_SECONDS, 1, 3600,
        "How many seconds of processor time a capture may take; longer ones are refused.",
    ),
    (
        "max-queue-seconds", DEFAULT_QUEUE_SECONDS, 1, 3600,
        "How many seconds a call waits for its turn; then it is refused with 503.",
    ),
]  # fmt: skip


def add_sharing_options(function: F) -> F:
    """Add the options; each is passed by the name of its setting."""
    for name, default, least, most, text in reversed(_OPTIONS):
        kind = click.IntRange(least, most)
        function = click.option(f"--{name}", default=default, show_default=True, type=kind, help=text)(function)
    return function
