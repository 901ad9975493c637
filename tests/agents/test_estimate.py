"""The estimate of tokens beside a real tokenizer."""

import base64
import json
import string
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support.large_capture import build_streams
from tests.support.tokens import count_tokens
from ticketbox.domain.core.access.tokens import clip_text, estimate_tokens, fits

pytestmark = pytest.mark.long
TEXTS: dict[str, Callable[[], str]] = {
    "documentation": lambda: Path("docs/use/agents.md").read_text("utf-8"),
    "code": lambda: Path("ticketbox/mcp/handlers.py").read_text("utf-8"),
    "requests": lambda: json.dumps(build_streams()["network"][:20]),
    "stack": lambda: build_streams()["errors"][0]["stack"],
    "base64": lambda: base64.b64encode(Random(4).randbytes(6_000)).decode(),
    "hexadecimal": lambda: Random(5).randbytes(4_000).hex(),
    "letters": lambda: "".join(Random(6).choices(string.ascii_lowercase, k=5_000)),
    "Chinese": lambda: "購物車是空的，結帳時出現錯誤。请稍后再试" * 100,
    "German": lambda: "Der Warenkorb bleibt nach dem Neuladen leer, obwohl Gutscheine angewendet wurden. " * 30,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_estimate_is_rather_too_high_than_too_low(kind: str) -> None:
    text = TEXTS[kind]()
    assert 0.95 <= estimate_tokens(text) / count_tokens(text) <= 1.7


@pytest.mark.parametrize("kind", TEXTS)
def test_clipped_text_fits_and_says_how_much_is_missing(kind: str) -> None:
    text = TEXTS[kind]() * 3
    clipped = clip_text(text, 500, "see elsewhere")
    kept, _, mark = clipped.rpartition("… [")
    assert text.startswith(kept)
    assert mark == f"{len(text) - len(kept):,} more characters; see elsewhere]"
    assert 200 <= count_tokens(clipped) <= 540
    assert not fits(text, 500)
    assert clip_text(text, 1_000_000) is text
