"""Reading the JSON that the recorder of Chrome's DevTools exports (https://github.com/puppeteer/replay)."""

import time

import msgspec

from ticketbox.cli.client.imports.keys import name_key
from ticketbox.cli.client.imports.recording import ImportProblem, Recording, classify_value, clip_text, clip_url
from ticketbox.cli.client.imports.selectors import describe_recorded
from ticketbox.domain.captures.actions import ActionEntry, ActionKind, ActionTarget
from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.environment import Size
from ticketbox.domain.captures.fields import LINE

STEP_MS = 10_000  # the file has no times; far enough apart that no step is taken for the effect of another
_MODIFIERS = ("Control", "Alt", "Shift", "Meta")


class _Event(msgspec.Struct):
    type: str = ""
    url: str = ""
    title: str = ""


class _Step(msgspec.Struct, rename={"events": "assertedEvents"}):
    type: str
    url: str = ""
    value: str = ""
    key: str = ""
    width: int = 0
    height: int = 0
    selectors: list[list[str] | str] = msgspec.field(default_factory=list[list[str] | str])
    events: list[_Event] = msgspec.field(default_factory=list[_Event])


class _File(msgspec.Struct):
    steps: list[_Step]
    title: str = ""


def read_recorder_file(data: bytes) -> Recording:
    """Read an exported recording. Its times are made up: the last step happens now. Raises ImportProblem."""
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ImportProblem(f"the file isn't a recording of Chrome's recorder: {error}") from None
    recording = Recording(Stream.ACTIONS)
    recording.title = clip_text(file.title, LINE)
    start = time.time() * 1_000 - len(file.steps) * STEP_MS
    held: list[str] = []
    for number, step in enumerate(file.steps):
        moment = start + number * STEP_MS
        if step.type == "setViewport" and 0 < step.width <= 1_000_000 and 0 < step.height <= 1_000_000:
            recording.environment.viewport = Size(step.width, step.height)
        action = _build_action(step, held, moment)
        if action is not None:
            recording.add(action)
        for event in step.events:
            if event.type == "navigation" and event.url:
                recording.page_url, recording.page_title = event.url, clip_text(event.title, LINE)
                if step.type != "navigate":
                    recording.add(ActionEntry(0, moment + 1, ActionKind.NAVIGATE, url=clip_url(event.url)))
        if step.type == "navigate":
            recording.page_url = recording.page_url if step.events else step.url
    if not recording.entries[Stream.ACTIONS].kept:
        raise ImportProblem("the recording has no steps")
    if not recording.page_url:
        raise ImportProblem("the recording opens no page")
    return recording


def _build_action(step: _Step, held: list[str], moment: float) -> ActionEntry | None:
    """Build the action of a step; None for one that a person doesn't do, such as a wait. `held` are the keys held."""
    target = _find_target(step)
    match step.type:
        case "navigate":
            return ActionEntry(0, moment, ActionKind.NAVIGATE, url=clip_url(step.url))
        case "click":
            return ActionEntry(0, moment, ActionKind.CLICK, target)
        case "doubleClick":
            return ActionEntry(0, moment, ActionKind.CLICK, target, repeat=2)
        case "change":
            return ActionEntry(0, moment, ActionKind.INPUT, target, classify_value(step.value))
        case "scroll":
            return ActionEntry(0, moment, ActionKind.SCROLL)
        case "keyDown" if step.key in _MODIFIERS:
            held.append(step.key)
        case "keyUp" if step.key in held:
            held.remove(step.key)
        case "keyDown":
            key = name_key("+".join([*held, step.key]))
            return None if key is None else ActionEntry(0, moment, ActionKind.KEY, key=key)
        case _:
            pass
    return None


def _find_target(step: _Step) -> ActionTarget | None:
    firsts = [each if isinstance(each, str) else each[-1] for each in step.selectors if each]
    return describe_recorded(firsts) if firsts else None
