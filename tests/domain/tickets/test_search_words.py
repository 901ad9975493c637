"""How texts are written in the search index, and restored."""

import unicodedata

import pytest

from ticketbox.domain.tickets.search_words import restore_text, separate_words, split_last_word, write_query

TEXTS = [
    "plain v1.2.3-rc.1 C++", "Überall", "Ελλάδα, Ἀρχὴ ᾧ", "ёлка и мой", "清空购物车 button", "カートとガス",
    "ชำระเงินกี่", "장바구니가 비어", "שָׁלוֹם", "كَتَبَ أ", "हिन्दी", "𠀀𠀁", "ສະບາຍດີ", "ភាសា", "မြန်မာ",
    "🐞 a🐞b ❤️ 👩\u200d💻 🇩🇪 🏽",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_restored_as_it_was(text: str) -> None:
    assert restore_text(separate_words(text)) == unicodedata.normalize("NFC", text)


def test_every_character_is_restored_as_it_was() -> None:
    for block in (*range(0x100, 0xD800, 0x100), *range(0xE000, 0x18000, 0x100), *range(0x1F000, 0x1FB00, 0x100)):
        text = unicodedata.normalize("NFC", "a".join(map(chr, range(block, block + 0x100))))
        assert restore_text(separate_words(text)) == text, hex(block)


def test_words_to_search_for_have_no_accents() -> None:
    pairs = [("Ελλάδα", "Ελλαδα"), ("ёлка", "елка"), ("שָׁלוֹם", "שלום"), ("كَتَبَ", "كتب"), ("ᾧ", "ω")]
    for accented, plain in pairs:
        assert write_query(accented) == write_query(plain) == plain
    assert write_query("ガ") != write_query("カ")
    assert write_query("กำ") != write_query("กิ")


def test_last_word_is_folded_like_the_index() -> None:
    assert split_last_word("the Ünder") == ("the ", "under")
    assert split_last_word("a.b-Cd") == ("a.b-", "cd")
    assert split_last_word("ÀÉ") == ("", "ae")
