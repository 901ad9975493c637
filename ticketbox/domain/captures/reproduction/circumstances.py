"""The circumstances of a capture as options of Playwright: window, time zone, language and preferences."""

import json
import re

from ticketbox.domain.captures.environment import ColorScheme, Environment

# What a browser accepts; anything else would keep the test from running. BCP 47, and the names of the IANA database.
_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")
_TIME_ZONE = re.compile(r"(?!Etc/Unknown)[A-Za-z][A-Za-z_]*(/[A-Za-z0-9_+-]+){0,2}")
_MAX_WINDOW = 10_000
_MAX_RATIO = 5


def write_circumstances(environment: Environment) -> list[str]:
    """Write the lines of `test.use` with what the page ran in; none if the capture doesn't say it."""
    options: list[str] = []
    viewport, dpr = environment.viewport, environment.dpr
    if viewport and 0 < viewport.width <= _MAX_WINDOW and 0 < viewport.height <= _MAX_WINDOW:
        options.append(f"viewport: {{ width: {viewport.width}, height: {viewport.height} }}")
    if dpr and dpr != 1 and dpr <= _MAX_RATIO:
        options.append(f"deviceScaleFactor: {json.dumps(round(dpr, 4))}")
    if environment.touch:
        options.append("hasTouch: true")
    if environment.language and _LOCALE.fullmatch(environment.language):
        options.append(f"locale: '{environment.language}'")
    if environment.timezone and _TIME_ZONE.fullmatch(environment.timezone):
        options.append(f"timezoneId: '{environment.timezone}'")
    if environment.color_scheme is ColorScheme.DARK:
        options.append("colorScheme: 'dark'")
    if environment.reduced_motion:
        options.append("contextOptions: { reducedMotion: 'reduce' }")
    return ["test.use({", *(f"  {each}," for each in options), "});", ""] if options else []
