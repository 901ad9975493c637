"""What a page has stored keeps its form; secrets and people's data become stand-ins."""

import base64
import json
from pathlib import Path

import pytest

from tests.support.redaction_corpus import list_secrets
from ticketbox.domain.captures.environment import MAX_STORED_VALUE
from ticketbox.domain.captures.redaction.storage_shape import StorageShaper

# the extension's code is tested with the same examples (web/tests/recorder/storage-shape.test.ts)
EXAMPLES = json.loads(Path(__file__).with_name("stored_values.json").read_text("utf-8"))


@pytest.mark.parametrize(("name", "value", "stand_in"), EXAMPLES["cases"])
def test_values_become_stand_ins(name: str, value: str, stand_in: str) -> None:
    assert StorageShaper(EXAMPLES["captured_at"]).shape(name, value) == stand_in


def test_token_keeps_its_structure_and_expires_in_the_far_future() -> None:
    token = next(value for name, value, _ in EXAMPLES["cases"] if name == "token")
    stand_in = StorageShaper(EXAMPLES["captured_at"]).shape("token", token) or ""
    head, body, signature = stand_in.split(".")
    assert set(signature) == {"A"}
    assert len(signature) == len(token.split(".")[2])
    assert json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "RS256", "typ": "JWT"}
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    assert (claims["exp"], claims["role"], claims["name"]) == (4_102_444_800, "admin", "Aaa Aaaaaaaa")


def test_stand_ins_keep_their_form_when_the_server_replaces_them_again() -> None:
    for name, value, stand_in in EXAMPLES["cases"]:
        again = StorageShaper(EXAMPLES["captured_at"]).shape(name, stand_in) or ""
        assert (len(again), again[:1]) == (len(stand_in), stand_in[:1]), (name, value)


def test_no_secret_of_the_corpus_survives() -> None:
    survivors = list[str]()
    for sample in list_secrets():
        for stored in (sample.text, json.dumps({"state": {"value": sample.text}}), f"Bearer {sample.secret}"):
            shaped = [StorageShaper(EXAMPLES["captured_at"]).shape(name, stored) or "" for name in ("token", "value")]
            survivors += [sample.secret for each in shaped if sample.secret in each]
    assert survivors == []


def test_what_a_rule_of_the_project_names_and_what_is_too_long_is_not_recorded() -> None:
    shaper = StorageShaper(0, ["text:acme", "customerRef"])
    assert [shaper.shape(*each) for each in (("tenant", "acme"), ("customer_ref", "open"))] == [None, None]
    assert shaper.shape("view", '{"customerRef":"open"}') is None
    assert shaper.shape("view", "open") == "open"
    assert shaper.shape("view", "o" * (MAX_STORED_VALUE + 1)) is None
