"""Text on pictures: real glyphs for Latin, Greek and Cyrillic, the system's fonts for what the bundled one lacks."""

from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image, ImageFont

from tests.support import pictures
from ticketbox.domain.captures.images import fonts, processing
from ticketbox.domain.captures.images.annotations import AnnotationInput

WORDS = {"Größe": "Grose", "Łódź": "Lodz", "Ελληνικά": "????????", "Русский": "???????", "✓ → ½": "? ? ?"}


@pytest.fixture
def without_system_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_list_system_fonts", lambda: ())
    monkeypatch.setattr(fonts, "_system_choice", {})


def draw_text(text: str) -> bytes:
    """The pixels of a picture with a text on it."""
    mark = {"kind": "text", "geometry": {"x": 10, "y": 10, "size": 24}, "text": text}
    picture = processing.draw_annotations(pictures.png(300, 60), [msgspec.convert(mark, type=AnnotationInput)])
    return Image.open(BytesIO(picture.data)).tobytes()


@pytest.mark.parametrize("text", WORDS)
def test_the_bundled_font_has_a_glyph_for_each_character(text: str) -> None:
    font: Any = ImageFont.truetype(str(fonts.find_bundled_font()), 24)
    missing = bytes(font.getmask("\U0010fffe"))
    assert any(missing)
    for character in text.replace(" ", ""):
        assert bytes(font.getmask(character)) != missing, character


@pytest.mark.parametrize(("text", "reduced"), WORDS.items())
def test_text_is_not_reduced_to_ascii(text: str, reduced: str) -> None:
    assert draw_text(text) != draw_text(reduced)


def test_letters_with_a_separate_accent_are_composed() -> None:
    assert draw_text("e\u0301a\u0308") == draw_text("éä")


def test_control_characters_are_not_draw_text() -> None:
    assert draw_text("a\u202e\x07b\u200e") == draw_text("ab")
    assert draw_text("a\tb") == draw_text("a   b")


@pytest.mark.usefixtures("without_system_fonts")
def test_a_character_that_no_font_has_is_an_empty_box() -> None:
    assert fonts.split_by_font("Größe 日本") == [("Größe 日本", fonts.find_bundled_font())]
    assert draw_text("日") == draw_text("本") != draw_text("")


def test_a_character_that_the_bundled_font_lacks_uses_a_system_font(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged, other = tmp_path / "a.ttf", tmp_path / "b.ttf"
    damaged.write_bytes(b"no font")
    other.write_bytes(fonts.find_bundled_font().read_bytes())
    monkeypatch.setattr(fonts, "_system_choice", {})
    monkeypatch.setattr(fonts, "_list_font_folders", lambda: [tmp_path / "missing", tmp_path])
    monkeypatch.setattr(fonts, "_has_glyph", lambda path, character: character.isascii())
    fonts._list_system_fonts.cache_clear()
    try:
        bundled = fonts.find_bundled_font()
        assert fonts.split_by_font("a жé b") == [("a ", bundled), ("жé ", other), ("b", bundled)]
        assert fonts.split_by_font("a\u0338") == [("a\u0338", bundled)]
    finally:
        fonts._list_system_fonts.cache_clear()


def test_each_system_font_is_opened_once_for_new_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Path]()
    monkeypatch.setattr(fonts, "_system_choice", {})
    monkeypatch.setattr(fonts, "_list_system_fonts", lambda: (Path("one"), Path("two")))
    monkeypatch.setattr(fonts, "_find_drawable_characters", lambda path, characters: opened.append(path) or set())
    for _ in range(2):
        fonts.split_by_font("日本語")
    assert opened == [Path("one"), Path("two")]
