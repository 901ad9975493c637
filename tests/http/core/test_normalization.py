"""Text is the same text in each of Unicode's forms, through every interface."""

import unicodedata

from tests.support.mcp_client import call_tool
from tests.support.server import Person, World, ok
from ticketbox.domain.accounts import passwords

HANGUL, ACCENT = "한글 파일", "défaut"


def decompose(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_texts_are_stored_and_found_in_one_form(world: World) -> None:
    body = {"project_id": world.project, "title": decompose(HANGUL), "labels": [decompose("버그")]}
    first = ok(world.api.post("/tickets", json=body))
    given = {"project_id": world.project, "title": HANGUL, "labels": ["버그"]}
    second = call_tool(world, world.owner.token("read", "tickets:write"), "create_ticket", given)["structuredContent"]
    assert first["title"] == HANGUL
    (label,) = ok(world.api.get(f"/companies/{world.company}/labels"))["items"]
    assert label["name"] == "버그"
    for word in ("한글", decompose("한글")):
        found = ok(world.api.get("/search", params={"q": word}))["items"]
        assert {each["id"] for each in found} == {first["id"], second["id"]}
        listed = ok(world.api.get("/tickets", params={"label": decompose("버그")}))["items"]
        assert len(listed) == 2
    assert ok(world.api.post(f"/tickets/{first['id']}/comments", json={"body": decompose(ACCENT)}))["body"] == ACCENT


def test_password_is_the_same_in_each_form(world: World) -> None:
    jose = Person(world.box, "José")
    new, old = "pässwörd ﬁne 12", "a good long password"
    stored = passwords.hash_password(new)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert passwords.verify_password(stored, unicodedata.normalize(form, new))
    assert not passwords.verify_password(stored, old)
    assert not passwords.verify_password(None, new)
    assert ok(jose.web.get("/me"))["user"]["name"] == "José"
