"""Fonts for text that is drawn onto images.

DejaVu Sans is part of the package (docs/decisions/0015-a-font-for-annotations.md) and has Latin, Greek, Cyrillic and
more. Characters that it lacks are drawn with a system font, if one has them.
"""

import os
import sys
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

MAX_SYSTEM_FONTS = 300

_PROBE_SIZE = 16  # pixels
_SUFFIXES = {".ttf", ".otf", ".ttc"}
_UNASSIGNED = "\U0010fffe"  # a noncharacter, which no font has
_lock = threading.Lock()
_system_choice: dict[str, Path | None] = {}


def find_bundled_font() -> Path:
    """Return the path of the font that is part of the package."""
    return Path(str(resources.files("ticketbox") / "fonts" / "dejavu-sans.woff"))


def remove_unprintable(text: str) -> str:
    """Compose characters, expand tabs, and remove control characters except line breaks."""
    composed = unicodedata.normalize("NFC", text.expandtabs(4))
    return "".join(c for c in composed if c == "\n" or not unicodedata.category(c).startswith("C"))


def split_by_font(text: str) -> list[tuple[str, Path]]:
    """Split a line into runs, each with the font file that has its characters.

    A character that no font has is drawn as the bundled font's empty box.
    """
    default = find_bundled_font()
    missing = {c for c in text if not c.isspace() and not unicodedata.combining(c) and not _has_glyph(default, c)}
    fallback = _find_system_fonts(frozenset(missing)) if missing else {}
    runs: list[tuple[str, Path]] = []
    for character in text:
        if runs and (character.isspace() or unicodedata.combining(character)):
            path = runs[-1][1]
        else:
            path = fallback.get(character) or default
        if runs and runs[-1][1] == path:
            runs[-1] = runs[-1][0] + character, path
        else:
            runs.append((character, path))
    return runs


@lru_cache(maxsize=32)
def load_font(path: Path, size: float) -> "FreeTypeFont":
    """Open a font file at a size in pixels. Raises OSError for a file that isn't a scalable font."""
    from PIL import ImageFont

    return ImageFont.truetype(str(path), size)


@lru_cache(maxsize=10_000)
def _has_glyph(path: Path, character: str) -> bool:
    return _is_drawable(load_font(path, _PROBE_SIZE), character)


def _is_drawable(font: "FreeTypeFont", character: str) -> bool:
    """Whether a font draws a character as something other than its glyph for missing characters."""
    glyph, missing = cast(Any, font.getmask(character)), cast(Any, font.getmask(_UNASSIGNED))
    return bytes(glyph) != bytes(missing)


def _find_system_fonts(characters: frozenset[str]) -> dict[str, Path | None]:
    """Find a system font for each character. Each font file is opened at most once per call."""
    with _lock:
        wanted = {character for character in characters if character not in _system_choice}
        if wanted:
            _system_choice.update(dict.fromkeys(wanted))
            for path in _list_system_fonts():
                if not wanted:
                    break
                for character in _find_drawable_characters(path, wanted):
                    _system_choice[character] = path
                    wanted.discard(character)
        return {character: _system_choice[character] for character in characters}


def _find_drawable_characters(path: Path, characters: set[str]) -> set[str]:
    from PIL import ImageFont

    try:
        font = ImageFont.truetype(str(path), _PROBE_SIZE)
        return {character for character in characters if _is_drawable(font, character)}
    except (OSError, ValueError):  # damaged, or a bitmap font of other sizes
        return set()


@lru_cache(maxsize=1)
def _list_system_fonts() -> tuple[Path, ...]:
    """List the font files of the system, in a fixed order."""
    paths = (path for folder in _list_font_folders() for path in sorted(_list_font_files(folder)))
    return tuple(paths)[:MAX_SYSTEM_FONTS]


def _list_font_files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if Path(name).suffix.lower() in _SUFFIXES)


def _list_font_folders() -> list[Path]:
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", r"C:\Windows"), "Fonts")]
    if sys.platform == "darwin":
        return [Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    return [Path("/usr/local/share/fonts"), Path("/usr/share/fonts")]
