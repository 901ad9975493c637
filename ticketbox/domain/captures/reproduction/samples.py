"""Samples of what a field accepts: texts of the same class as what was typed, which isn't recorded."""

import math
from collections.abc import Collection
from pathlib import PurePosixPath

from msgspec import UNSET

from ticketbox.domain.captures.actions import ActionEntry, FieldRules, Trait
from ticketbox.domain.captures.reproduction.patterns import write_match

LONG = "A longer sample text. "
LONG_TIMES = 10

_FIXED = {
    "color": "#336699", "email": "person@example.org", "empty": "", "private": "private-Value-1",
    "tel": "+1 555 0100", "url": "https://example.org/",
}  # fmt: skip
_TIMES = {
    "date": "2026-01-15", "datetime": "2026-01-15T10:00", "month": "2026-01", "time": "10:00", "week": "2026-W03",
}  # fmt: skip
_TEXTS = {
    "11–50": "A sample of a text",
    "51–200": "A sample of a text that is about as long as what was typed",
    "200+": LONG * LONG_TIMES,
}
_DIGITS = "1234567890"
_DIGIT_COUNTS = {"11–50": 12, "51–200": 60, "200+": 210}
_FILES = {"image": "png", "audio": "mp3", "video": "mp4", "text": "txt", "application": "pdf"}


def choose_sample(entry: ActionEntry) -> str:
    """Choose a text that the field accepts, of the class of the recorded one."""
    kind, _, length = (entry.value_kind or "text").partition(" ")
    rules = FieldRules() if entry.field is UNSET else entry.field
    traits = frozenset[Trait]() if entry.traits is UNSET else frozenset(entry.traits)
    if kind == "empty":
        return ""
    if kind in ("number", "range"):
        return _choose_number(rules, traits, is_range=kind == "range")
    if kind in _TIMES:
        return _clamp_text(_TIMES[kind], rules)
    if kind == "color":
        return _FIXED[kind]
    least = 0 if rules.min_length is UNSET else rules.min_length
    matching = None if rules.pattern is UNSET else write_match(rules.pattern, least, prefers_digits=_is_digits(traits))
    sample = matching if matching is not None else _choose_text(kind, length, rules, traits)
    return _fit(sample, rules)


def choose_file(entry: ActionEntry) -> str:
    """Choose the name of a sample file that the field accepts."""
    accept = "" if entry.field is UNSET or entry.field.accept is UNSET else entry.field.accept
    for each in (part.strip().lower() for part in accept.split(",")):
        if each.startswith(".") and each[1:].isascii() and each[1:].isalnum():
            return f"sample{each[:10]}"
        family, _, name = each.partition("/")
        if family in _FILES:
            return f"sample.{name if name.isascii() and name.isalnum() and family != 'text' else _FILES[family]}"
    return "sample.txt"


def get_extension(name: str) -> str:
    """Return the extension of a file's name, without the dot."""
    return PurePosixPath(name).suffix[1:]


def _is_digits(traits: Collection[Trait]) -> bool:
    return Trait.DIGIT in traits and Trait.LETTER not in traits


def _choose_text(kind: str, length: str, rules: FieldRules, traits: Collection[Trait]) -> str:
    if rules.input_mode in ("numeric", "decimal"):
        return _choose_number(rules, traits, is_range=False) if traits else _DIGITS[:6]
    if kind in _FIXED:
        return _FIXED[kind]
    if Trait.NEGATIVE in traits or Trait.ABOVE_100 in traits:
        return _choose_number(rules, traits, is_range=False)
    if _is_digits(traits):
        return _repeat(_DIGITS, _DIGIT_COUNTS.get(length, 4))
    text = _TEXTS.get(length, "Sample")
    if traits and Trait.SPACE not in traits:
        text = text.replace(" ", "-")
    elif Trait.SPACE in traits and " " not in text:
        text = f"{text} A"
    return f"{text}1" if Trait.DIGIT in traits else text


def _choose_number(rules: FieldRules, traits: Collection[Trait], *, is_range: bool) -> str:
    least, most = _read_number(rules.min), _read_number(rules.max)
    step = _read_number(rules.step) or 1.0
    if is_range:
        least, most = least or 0.0, 100.0 if most is None else most
    wanted = -1.0 if Trait.NEGATIVE in traits else 250.0 if Trait.ABOVE_100 in traits else 1.0
    if is_range and wanted == 1.0:
        wanted = (least or 0.0) + ((most or 0.0) - (least or 0.0)) * 0.75
    base = least or 0.0
    wanted = max(wanted, base) if least is not None else wanted
    wanted = min(wanted, most) if most is not None else wanted
    steps = (wanted - base) / step
    count = math.floor(steps) if most is not None and base + round(steps) * step > most else round(steps)
    return f"{round(base + count * step, 6):.15g}"


def _read_number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e12 else None


def _clamp_text(sample: str, rules: FieldRules) -> str:
    """Move a date or time, which compare as texts, into its bounds."""
    if isinstance(rules.min, str) and len(rules.min) == len(sample):
        sample = max(sample, rules.min)
    return min(sample, rules.max) if isinstance(rules.max, str) and len(rules.max) == len(sample) else sample


def _fit(sample: str, rules: FieldRules) -> str:
    if isinstance(rules.min_length, int) and 0 < len(sample) < rules.min_length <= 10_000:
        sample = _repeat(sample, rules.min_length)
    return sample[: rules.max_length] if isinstance(rules.max_length, int) else sample


def _repeat(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]
