"""What redaction removes of a corpus of secrets, and what it keeps of harmless lines (docs/use/captures.md)."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from bench.uploads import streams
from tests.docs.pages import ROOT, tables
from tests.support.redaction_corpus import Sample, list_harmless_lines, list_secrets
from tests.support.streams import decode_stream
from tests.support.unseen import list_unseen_harmless_lines, list_unseen_secrets
from ticketbox.domain.captures.capture import Redaction, Stream
from ticketbox.domain.captures.redaction import gates
from ticketbox.domain.captures.redaction.redactor import Redactor, redact_text
from ticketbox.domain.captures.redaction.rules import RULES, lower_text
from ticketbox.domain.captures.redaction.secret_scanner import SecretScanner

SECRETS = list_secrets()
HARMLESS = list_harmless_lines()
UNSEEN = [sample for number in (1, 2, 3) for sample in list_unseen_secrets(number)]
UNSEEN_HARMLESS = list_unseen_harmless_lines()


def leaves_a_part(sample: Sample) -> bool:
    clean = redact_text(sample.text)[0]
    return any(sample.secret[n : n + 6] in clean for n in range(max(1, len(sample.secret) - 5)))


def test_98_percent_of_the_secrets_are_removed():
    missed = [sample for sample in SECRETS if leaves_a_part(sample)]
    assert len({sample.text for sample in SECRETS}) >= 400
    assert len(missed) <= 0.02 * len(SECRETS), missed


def test_at_most_one_percent_of_harmless_lines_is_cut():
    cut = [(line, redact_text(line)[0]) for line in HARMLESS if redact_text(line)[1]]
    assert len(set(HARMLESS)) == 1_000
    assert len(cut) <= 10, cut


def test_redacted_corpus_holds_no_further_secret():
    for sample in SECRETS:
        clean = redact_text(sample.text)[0]
        assert redact_text(clean) == (clean, 0)


def test_table_in_the_documentation_has_the_unseen_texts():
    rows: list[list[str]] = []
    for number, name in ((1, "first list"), (2, "second list"), (3, "third list")):
        samples = list_unseen_secrets(number)
        for group, count in Counter(sample.group for sample in samples).items():
            clean = sum(not each.leaves_a_part(redact_text(each.text)[0]) for each in samples if each.group == group)
            rows.append([f"{name}: {group}", str(count), str(clean)])
    cut = sum(bool(redact_text(line)[1]) for line in UNSEEN_HARMLESS)
    rows.append(["harmless lines", f"{len(set(UNSEEN_HARMLESS)):,}", str(cut)])
    assert [list(row) for row in tables(ROOT / "docs" / "use" / "captures.md", "Redaction")[1]] == rows
    assert cut <= 0.01 * len(UNSEEN_HARMLESS)


def test_email_addresses_are_removed_if_the_project_says_so():
    line = "mail to ann.miller+x@shop.example, not @ann"
    assert redact_text(line) == (line, 0)
    redactor = Redactor(["format:email"])
    assert redactor.redact_text(line) == "mail to [redacted], not @ann"
    assert redactor.counts == Redaction(extra=1)


class TestGates:
    """The quick look at a text holds no secret back."""

    @pytest.fixture
    def open_gates(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        cached = [gates.compile_name_gate, gates.compile_format_gate, gates.compile_rare_gate, gates.compile_rule_gate]
        monkeypatch.setattr(gates, "_compile", lambda pattern: lambda text: True)
        for each in cached:
            each.cache_clear()
        yield
        for each in cached:
            each.cache_clear()

    @pytest.mark.long
    def test_gates_change_no_result(self, request: pytest.FixtureRequest):
        from tests.extension.test_redaction import RULES as PROJECT_RULES
        from tests.extension.test_redaction import generate_texts

        texts = [*(sample.text for sample in (*SECRETS, *UNSEEN)), *HARMLESS, *UNSEEN_HARMLESS, *generate_texts(5_000)]

        def scrub() -> list[str]:
            return [SecretScanner(rules).scrub(text, Redaction()) for rules in ([], PROJECT_RULES) for text in texts]

        with_gates = scrub()
        request.getfixturevalue("open_gates")
        assert scrub() == with_gates

    def test_every_secret_name_contains_a_stem(self):
        names = RULES.names
        stem = re.compile(f"{names.stems}|{gates.WEAK}")
        every = [*names.contain, *names.last, *names.query, *names.random, *names.strong, *names.whole_line]
        assert [name for name in every if not stem.search(lower_text(name))] == []

    def test_gates_hold_back_most_of_a_long_capture(self):
        looks = gates.compile_name_gate(RULES.names.stems), gates.compile_format_gate(), gates.compile_rare_gate()
        entries = decode_stream(Stream.NETWORK, streams(500_000)["network"])
        assert sum(any(look(entry.url) for look in looks) for entry in entries) < 0.01 * len(entries)
