"""Inputs that are nearly right: kept samples, cut, doubled, spliced and filled with what parsers stumble over."""

from pathlib import Path

from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "corpus"
AWKWARD = [
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\n", b"\r\n",
    b"[" * 300, b'{"a":' * 300, b"{}", b"[]", b"null", b"true", b"-1", b"9223372036854775808", b"1e999", b"1e-999",
    b"NaN", b"Infinity", b"0.1", b"%00", b"%ff", b"../", b"=cmd()", b",", b";", b":", b"//", b"[::1]", b"[::", b"@",
    b"\xe2\x80\xae", b"\xc4\xb0", b"\xf0\x9f\x92\xa9", b"<script>", b"A" * 5000, b"tok_", b"\x1f\x8b", b"PK\x03\x04",
]  # fmt: skip


def samples(kind: str) -> list[bytes]:
    """The kept inputs of a kind."""
    return [path.read_bytes() for path in sorted((CORPUS / kind).iterdir())]


@st.composite
def _mutate(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 8, 64, 10_000])))
        other = draw(st.sampled_from(seeds))
        put = draw(st.sampled_from([*AWKWARD, data[start:end] * 2, other[start:end], other]))
        data = data[:start] + put + data[end:]
        if len(data) > 200_000:
            break
    return data


def mutate_samples(kind: str) -> st.SearchStrategy[bytes]:
    """Kept inputs of a kind with up to six changes; now and then bytes of no kind."""
    return st.one_of(_mutate(samples(kind)), _mutate(samples(kind)), st.binary(max_size=200))


def mutate_text_samples(kind: str) -> st.SearchStrategy[str]:
    """The same as text, for what never sees bytes."""
    return mutate_samples(kind).map(lambda data: data.decode("utf-8", "replace"))
