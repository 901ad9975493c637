"""Tickets of other trackers: taken over whole, shown before, and refused where they aren't what they should be."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run
from tests.support.server import Box, World, ok

FILES = Path(__file__).parent / "trackers"
EXAMPLES = [("github", "github.json"), ("jira", "jira.csv"), ("linear", "linear.csv")]


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
    "jira": ["", "a,b\n1,2\n", "Issue key,Summary,Status\nX-1,only two\n", "Issue key,Summary,Status\n", '"open'],
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
