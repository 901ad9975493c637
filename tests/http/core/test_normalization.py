"""Text is the same text in each of Unicode's forms, through every interface."""

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

from tests.support.mcp_client import call_tool
from tests.support.server import Person, World, ok
from ticketbox.domain.accounts import passwords
from ticketbox.store.file.migrate import list_migrations, prepare_file
from ticketbox.store.file.migrations.functions import register_functions

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
    for form in ("NFC", "NFD"):  # as earlier versions stored it
        earlier = passwords._get_hasher().hash(unicodedata.normalize(form, new))
        assert passwords.verify_password(earlier, new)
    assert not passwords.verify_password(stored, old)
    assert not passwords.verify_password(None, new)
    assert ok(jose.web.get("/me"))["user"]["name"] == "José"


def test_upgrade_normalizes_what_was_stored_before(tmp_path: Path) -> None:
    prepare_file(tmp_path / "old.db")
    (sql,) = (each.sql for each in list_migrations() if each.name == "normalized_texts")
    with closing(sqlite3.connect(tmp_path / "old.db")) as file:
        register_functions(file, lambda _: None)
        insert = file.execute
        user = "INSERT INTO user (id, public_id, email, name, created_at) VALUES (1, 'u', 'a@example.org', ?, 0)"
        insert(user, [decompose("José")])
        for number, name in enumerate([decompose("버그"), "버그", decompose(ACCENT)], 1):
            insert("INSERT INTO label VALUES (?, ?, 1, ?, 'red', '')", [number, f"l{number}", name])
            insert("INSERT INTO ticket_label (label, ticket_id) VALUES (?, 1)", [name])
        ticket = """
        INSERT INTO ticket (id, public_id, project_id, position, title, description, labels, created_at, created_by,
          updated_at, updated_by) VALUES (1, 't', 1, 0, ?, ?, ?, 0, 1, 0, 1)
        """
        labels = f'["{decompose("버그")}","버그","{decompose(ACCENT)}"]'
        insert(ticket, [decompose(HANGUL), decompose(ACCENT), labels])
        insert("INSERT INTO comment VALUES (1, 'c', 1, ?, 0, 1, NULL)", [decompose(ACCENT)])
        file.commit()
        file.executescript(sql)

        def read(query: str) -> list[tuple[object, ...]]:
            return file.execute(query).fetchall()

        assert read("SELECT name FROM user") == [("José",)]
        assert read("SELECT name FROM label ORDER BY id") == [("버그",), (ACCENT,)]
        assert set(read("SELECT label FROM ticket_label")) == {("버그",), (ACCENT,)}
        assert read("SELECT title, description, labels FROM ticket") == [(HANGUL, ACCENT, f'["버그","{ACCENT}"]')]
        assert read("SELECT body FROM comment") == [(ACCENT,)]
