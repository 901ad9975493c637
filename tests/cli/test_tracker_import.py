"""Tickets of other trackers: taken over whole, shown before, and refused where they aren't what they should be."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run
from tests.support.server import Box, World, eventually, ok, run_server
from tests.support.webhook_receiver import run_receiver

FILES = Path(__file__).parent / "trackers"
EXAMPLES = [("github", "github.json"), ("jira", "jira.csv"), ("linear", "linear.csv")]


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Box]:
    """A server that may call this machine."""
    with run_server(tmp_path, "--allow-private-addresses") as running:
        yield running


def take(world: World, tracker: str, file: Path, *more: str) -> Any:
    """The result of the command on a world's project."""
    given = ["--from", tracker, "--project", world.project, "--user", world.owner.email]
    return run("import", file, "--db", world.box.db, *given, *more)


def tickets(world: World) -> dict[str, dict[str, Any]]:
    return {each["title"]: each for each in ok(world.api.get("/tickets", params={"limit": 100}))["items"]}


@pytest.mark.parametrize(("tracker", "name"), EXAMPLES)
def test_dry_run_shows_the_mapping_and_changes_nothing(world: World, tracker: str, name: str) -> None:
    done = take(world, tracker, FILES / name, "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert "2 tickets" in done.stdout
    assert "→ Done, resolved" in done.stdout
    assert "Dry run: nothing was created" in done.stdout
    assert done.stderr == ""
    assert tickets(world) == {}
    output = json.loads(take(world, tracker, FILES / name, "--dry-run", "--json").stdout)
    assert (output["tickets"], output["done"]) == (2, False)


@pytest.mark.parametrize(("tracker", "name"), EXAMPLES)
def test_tickets_are_created_from_the_file(world: World, tracker: str, name: str) -> None:
    done = take(world, tracker, FILES / name)
    assert done.exit_code == 0, done.stderr
    contents = tickets(world)
    cart, old = contents["Cart stays empty"], contents["Old one"]
    assert len(contents) == 2
    assert (cart["resolved"], old["resolved"], old["column_id"]) == (False, True, world.columns[2])
    key = {"github": "#12", "jira": "SHOP-12", "linear": "SHO-12"}[tracker]
    assert cart["description"].endswith(f"*Imported from {key}*")
    assert cart["created"]["user"]["id"] == world.owner.id
    match tracker:
        case "github":
            assert ok(world.api.get(f"/tickets/{cart['id']}/comments"))["items"][0]["body"].startswith(
                "octocat, 2026-01-02T03:04:05Z:\n\n"
            )
            assert (cart["labels"], cart["source_url"]) == (["Bug"], "https://github.com/acme/shop/issues/12")
        case "jira":
            assert (cart["labels"], cart["priority"], cart["column_id"]) == (
                ["checkout", "cart"],
                "urgent",
                world.columns[1],
            )
            assert 'Line one\nline "two"' in cart["description"]
            assert old["priority"] == "low"
        case _:
            assert (cart["labels"], cart["priority"]) == (["Bug", "Checkout"], "urgent")
    said = ok(world.api.get(f"/tickets/{cart['id']}/comments"))["items"]
    assert ["Seen as well" in each["body"] for each in said] == ([] if tracker == "linear" else [True])
    assert cart["comment_count"] == len(said)
    hits = ok(world.api.get("/search", params={"q": "cart"}))["items"]
    assert [each["id"] for each in hits] == [cart["id"]]


BAD = {
    "github": ["", "{}", "[{}]", '[{"number": "x", "title": "y"}]', "[]", "[" * 100_000, '[{"number": 1, "title": 2}]'],
    "jira": ["", "a,b\n1,2\n", "Issue key,Summary,Status\nX-1,a,b,c\n", "Issue key,Summary,Status\n", '"open'],
    "linear": ["", "ID,Title\n1,2\n", "ID,Title,Status\n1,2,3,4\n"],
}


@pytest.mark.parametrize(("tracker", "text"), [(tracker, text) for tracker, texts in BAD.items() for text in texts])
def test_file_in_another_format_is_rejected_completely(world: World, tmp_path: Path, tracker: str, text: str) -> None:
    (tmp_path / "bad").write_text(text)
    done = take(world, tracker, tmp_path / "bad")
    assert done.exit_code == 1
    assert done.stderr.startswith("ticketbox: ")
    assert tickets(world) == {}


def test_binary_file_is_rejected(world: World, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe\x00")
    assert "must be UTF-8" in take(world, "jira", tmp_path / "bad").stderr


def test_open_tickets_of_jira_stay_open_whatever_it_calls_no_resolution(world: World, tmp_path: Path) -> None:
    file = tmp_path / "jira.csv"
    rows = ["Open,To Do,Unresolved", "Empty,To Do,", "Fixed,To Do,Fixed", "Done,Done,Unresolved"]
    file.write_text("Issue key,Summary,Status,Resolution\n" + "".join(f"AB-{n},{row}\n" for n, row in enumerate(rows)))
    assert take(world, "jira", file).exit_code == 0
    resolved = {title: each["resolved"] for title, each in tickets(world).items()}
    assert resolved == {"Open": False, "Empty": False, "Fixed": True, "Done": True}


def test_import_notifies_nobody_and_nobody_watches(world: World, tmp_path: Path) -> None:
    ben = world.join("Ben", "member")
    issue = {"number": 1, "title": "Old", "body": "@ben and @Ben", "comments": [{"body": "@ben"}],
             "assignees": [{"login": ben.email}]}  # fmt: skip
    (tmp_path / "issues.json").write_text(json.dumps([issue]))
    assert take(world, "github", tmp_path / "issues.json").exit_code == 0
    assert ok(ben.web.get("/notifications"))["items"] == []
    (ticket,) = tickets(world).values()
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["watchers"] == []


def test_import_calls_no_webhook_and_loses_no_message_of_before_or_after(private: Box, tmp_path: Path) -> None:
    world = World(private)
    with run_receiver() as receiver:
        hook = {"name": "Hook", "url": receiver.url, "types": ["ticket.created", "comment.created"]}
        ok(world.owner.web.post(f"/companies/{world.company}/webhooks", json=hook))
        before = world.ticket("Before")["id"]
        (tmp_path / "issues.json").write_text(
            json.dumps([{"number": n, "title": "Old", "body": "", "comments": [{"body": "Said"}]} for n in range(3)])
        )
        assert take(world, "github", tmp_path / "issues.json").exit_code == 0
        after = world.ticket("After")["id"]
        eventually(lambda: len(receiver.got) >= 2)
        eventually(lambda: ok(world.owner.web.get(f"/companies/{world.company}/webhooks"))["items"][0]["pending"] == 0)
        assert {each.event["ticket_id"] for each in receiver.got} == {before, after}  # in any order


JIRA = "Issue Key;Summary;Status;Description;Due Date;Assignee;Comment"
SAVED_BY_EXCEL = [
    ("sep=;\n" + JIRA, "utf-8"),
    (JIRA, "utf-8-sig"),
    (JIRA, "utf-16"),
    (JIRA.replace(";", "\t"), "utf-16"),
]


@pytest.mark.parametrize(("head", "encoding"), SAVED_BY_EXCEL)
def test_file_that_excel_or_powershell_saved_is_read(world: World, tmp_path: Path, head: str, encoding: str) -> None:
    rows = ["AB-1;Größe 測試;To Do", "AB-2;Short", "AB-3;Long;To Do;;;;;;"]
    separator = "\t" if "\t" in head else ";"
    text = "\r\n".join([head, *(row.replace(";", separator) for row in rows)])
    (tmp_path / "jira.csv").write_bytes(text.encode(encoding))
    done = take(world, "jira", tmp_path / "jira.csv")
    assert done.exit_code == 0, done.stderr
    assert set(tickets(world)) == {"Größe 測試", "Short", "Long"}


def test_refusal_names_the_missing_column_and_the_separator(world: World, tmp_path: Path) -> None:
    (tmp_path / "jira.csv").write_text("Key;Summary;Status\nAB-1;One;To Do\n")
    error = take(world, "jira", tmp_path / "jira.csv").stderr
    assert "there is no column Issue key, with a semicolon between the columns" in error


def test_markup_due_dates_assignees_and_bylines_are_taken_over(world: World, tmp_path: Path) -> None:
    dates = ["2026-02-01", "01/Feb/26 9:30 AM", "Sun Feb 01 2026 00:00:00 GMT+0000 (GMT)", "soon"]
    said = "26/Nov/26 9:30 AM;5f1e:abc-def;first; *second*"
    people = [world.owner.email, "zed@example.org", "", ""]
    rows = [f'AB-{n};{n};To Do;h2. *a*;{dates[n]};{people[n]};"{said}"' for n in range(4)]
    (tmp_path / "jira.csv").write_text("\n".join([JIRA, *rows]))
    output = json.loads(take(world, "jira", tmp_path / "jira.csv", "--dry-run", "--json").stdout)
    assert (output["due_dates"], output["unread_due_dates"], output["assigned"]) == (3, 1, 1)
    assert output["unknown_assignees"] == ["zed@example.org"]
    shown = take(world, "jira", tmp_path / "jira.csv").stdout
    assert "due dates: 3 (1 can't be read)" in shown
    assert "assigned: 1 (no members: zed@example.org)" in shown
    found = tickets(world)
    assert [each["due_on"] for _, each in sorted(found.items())] == ["2026-02-01"] * 3 + [None]
    assert [person["id"] for person in found["0"]["assignees"]] == [world.owner.id]
    assert found["0"]["description"].startswith("## **a**\n")
    (comment,) = ok(world.api.get(f"/tickets/{found['0']['id']}/comments"))["items"]
    assert comment["body"] == "5f1e:abc-def, 26/Nov/26 9:30 AM:\n\nfirst; **second**"


def test_hostile_values_are_cleaned_and_inert(world: World, tmp_path: Path) -> None:
    issue = {
        "number": 1,
        "title": "a\u0000b\n<script>" + "x" * 1000,
        "body": "nul\u0000 " + "y" * 200_000,
        "labels": [f"label {n}" for n in range(100)] + ["", "\n"],
        "url": "javascript:alert(1)",
    }
    (tmp_path / "hostile.json").write_text(json.dumps([issue]))
    done = take(world, "github", tmp_path / "hostile.json")
    assert done.exit_code == 0, done.stderr
    (contents,) = tickets(world).values()
    assert (len(contents["title"]), len(contents["labels"]), contents["source_url"]) == (300, 20, None)
    assert len(contents["description"]) <= 100_000
    assert "\x00" not in contents["title"] + contents["description"]


def test_only_a_permitted_account_can_import(world: World, other: World) -> None:
    viewer = world.join("Vic", "viewer")
    for email, words in (("nobody@example.org", "account not found"), (other.owner.email, "project not found"),
                         (viewer.email, "requires the role")):  # fmt: skip
        done = run("import", FILES / "jira.csv", "--db", world.box.db, "--from", "jira", "--project", world.project,
                   "--user", email)  # fmt: skip
        assert (done.exit_code, words in done.stderr) == (1, True), done.stderr
    assert tickets(world) == {}


def test_flags_must_be_combined(box: Box) -> None:
    for flags in (["--from", "jira"], ["--dry-run"], ["--project", "x"], ["--from", "trello"]):
        assert run("import", FILES / "jira.csv", "--db", box.db, *flags).exit_code != 0


def test_key_as_title_is_one_line_and_empty_comment_is_skipped(world: World, tmp_path: Path) -> None:
    file = tmp_path / "jira.csv"
    file.write_text('Issue key,Summary,Status,Comment\n"SHOP-1\nX",,Open,\n', "utf-8")
    assert take(world, "jira", file).exit_code == 0
    file.write_text(json.dumps([{"number": 2, "title": "", "comments": [{"body": "\0"}]}]), "utf-8")
    assert take(world, "github", file).exit_code == 0
    assert {title: each["comment_count"] for title, each in tickets(world).items()} == {"SHOP-1 X": 0, "#2": 0}
