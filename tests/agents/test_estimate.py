"""The estimate of tokens beside a real tokenizer."""

import base64
import json
import random
import string
from pathlib import Path

import pytest

from tests.support.large_capture import build_streams
from tests.support.tokens import count_tokens
from ticketbox.domain.core.access.tokens import clip_text, estimate_tokens, fits

pytestmark = pytest.mark.long
CHANCE = random.Random(4)
TEXTS = {
    "documentation": Path("docs/use/agents.md").read_text("utf-8"),
    "code": Path("ticketbox/mcp/handlers.py").read_text("utf-8"),
    "requests": json.dumps(build_streams()["network"][:20]),
    "stack": build_streams()["errors"][0]["stack"],
    "base64": base64.b64encode(CHANCE.randbytes(6_000)).decode(),
    "hexadecimal": CHANCE.randbytes(4_000).hex(),
    "letters": "".join(CHANCE.choices(string.ascii_lowercase, k=5_000)),
    "Chinese": "購物車是空的，結帳時出現錯誤。请稍后再试" * 100,
    "German": "Der Warenkorb bleibt nach dem Neuladen leer, obwohl Gutscheine angewendet wurden. " * 30,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_estimate_is_rather_too_high_than_too_low(kind: str) -> None:
    assert 0.95 <= estimate_tokens(TEXTS[kind]) / count_tokens(TEXTS[kind]) <= 1.7


@pytest.mark.parametrize("kind", TEXTS)
def test_clipped_text_fits_and_says_how_much_is_missing(kind: str) -> None:
    text = TEXTS[kind] * 3
    clipped = clip_text(text, 500, "see elsewhere")
    kept, _, mark = clipped.rpartition("… [")
    assert text.startswith(kept)
    assert mark == f"{len(text) - len(kept):,} more characters; see elsewhere]"
    assert 200 <= count_tokens(clipped) <= 540
    assert not fits(text, 500)
    assert clip_text(text, 1_000_000) is text
