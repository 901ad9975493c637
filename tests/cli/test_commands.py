"""The command line as a person or a script meets it: what is printed, where, and with which status."""

import contextlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result

from tests.support.cli import run
from tests.support.server import PASSWORD, Box, expect_error, find_free_port, ok
from ticketbox import __version__
from ticketbox.cli import main

OWNER = ["--email", "ann@example.org", "--name", "Ann", "--company", "Acme", "--project", "Shop"]


def init(db: Path, *arguments: str, password: str = PASSWORD) -> Result:
    """Set a file up."""
    return run("init", "--db", db, *(arguments or OWNER), "--password-stdin", stdin=f"{password}\n")


@pytest.fixture
def db(tmp_path: Path, original: Path) -> Path:
    """A file that is set up."""
    path = tmp_path / "ticketbox.db"
    path.write_bytes(original.read_bytes())
    return path


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that tests copy."""
    path = tmp_path_factory.mktemp("cli") / "original.db"
    assert init(path).exit_code == 0
    return path


@pytest.fixture(scope="module")
def served(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server on a copy, for commands beside it."""
    path = tmp_path_factory.mktemp("served") / "ticketbox.db"
    path.write_bytes(original.read_bytes())
    with Box(path) as box:
        yield box


def test_redirected_output_is_utf_8_whatever_the_system_says(db: Path, tmp_path: Path) -> None:
    issues = tmp_path / "issues.json"
    issues.write_text(json.dumps([{"number": 1, "title": "x", "labels": ["🐞 測試"]}]))
    command = [sys.executable, "-m", "ticketbox", "import", issues, "--db", db, "--from", "github", "--dry-run",
               "--project", "Shop", "--user", "ann@example.org"]  # fmt: skip
    for encoding in ("cp1252", "ascii", "utf-8"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "→" in done.stdout.decode()
        assert "🐞 測試" in done.stdout.decode()


def test_init_prints_ids_and_creates_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "ticketbox.db"
    done = init(path)
    assert (done.exit_code, done.stderr) == (0, "")
    output = json.loads(done.stdout)
    assert list(output) == ["user_id", "company_id", "project_id", "columns"]
    assert [output[name].partition("_")[0] for name in ("user_id", "company_id", "project_id")] == ["usr", "co", "proj"]
    assert [column["name"] for column in output["columns"]] == ["To do", "In progress", "Done"]
    assert all(set(column) == {"id", "name"} and column["id"].startswith("col_") for column in output["columns"])
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_init_rejects_a_file_that_is_already_set_up(db: Path) -> None:
    before = db.read_bytes()
    done = init(db)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "ticketbox: this file is already set up\n")
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "password", "words"),
    [
        ({"--email": "nobody"}, PASSWORD, "email"),
        ({"--email": ""}, PASSWORD, "email"),
        ({"--name": " "}, PASSWORD, "name"),
        ({"--company": "x" * 300}, PASSWORD, "company"),
        ({}, "short", "password"),
        ({}, "", "password"),
    ],
)
def test_init_names_invalid_input_and_leaves_the_file_empty(
    tmp_path: Path, change: dict[str, str], password: str, words: str
) -> None:
    flags = {**dict(zip(OWNER[::2], OWNER[1::2], strict=True)), **change}
    done = init(tmp_path / "a.db", *[part for pair in flags.items() for part in pair], password=password)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"ticketbox: {words}: ")
    assert init(tmp_path / "a.db").exit_code == 0


def test_password_is_never_an_argument_and_prompted_only_at_a_terminal(tmp_path: Path) -> None:
    assert run("init", "--db", tmp_path / "a.db", *OWNER, "--password", "x").exit_code == 2
    done = run("init", "--db", tmp_path / "a.db", *OWNER, stdin=PASSWORD)
    assert (done.exit_code, "--password-stdin" in done.stderr) == (1, True)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("command", ["mcp {}", "ticket list {}", "mcp --token {}", "{}"])
def test_token_in_the_arguments_is_rejected_and_not_repeated(command: str) -> None:
    secret = "tok_4k7m2q9x0123456789"
    done = run(*command.format(secret).split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: " in done.stderr
    assert secret[4:] not in done.stderr


def test_accounts_are_added_listed_disabled_and_enabled(db: Path) -> None:
    company = rows(db, "SELECT public_id FROM company")[0][0]
    flags = ["--email", "Bob@Example.org", "--name", "Bob", "--company", company, "--role", "viewer"]
    added = run("user", "add", "--db", db, *flags, "--password-stdin", stdin=PASSWORD)
    assert (added.exit_code, added.stdout[:4], added.stderr) == (0, "usr_", "")
    again = run("user", "add", "--db", db, *flags, "--password-stdin", stdin=PASSWORD)
    assert again.exit_code == 1
    assert again.stderr == "ticketbox: an account with the address bob@example.org already exists\n"
    as_json = run(
        "user", "add", "--db", db, "--email", "c@d.org", "--name", "Cy", "--password-stdin", "--json", stdin=PASSWORD
    )
    assert json.loads(as_json.stdout)["email"] == "c@d.org"
    assert "Disabled" in run("user", "disable", "--db", db, "bob@example.org").stdout
    listed = json.loads(run("user", "list", "--db", db, "--json").stdout)
    assert [(each["email"], each["disabled"]) for each in listed] == [
        ("ann@example.org", False), ("bob@example.org", True), ("c@d.org", False),
    ]  # fmt: skip
    assert (
        f"{added.stdout.strip()}  bob@example.org  Bob  (disabled)  (no second factor)"
        in run("user", "list", "--db", db).stdout
    )
    assert "Enabled" in run("user", "disable", "--db", db, "--undo", added.stdout.strip()).stdout
    assert "(disabled)" not in run("user", "list", "--db", db).stdout
    nobody = run("user", "disable", "--db", db, "zoe@example.org")
    assert (nobody.exit_code, nobody.stderr) == (1, "ticketbox: user not found\n")


def test_new_token_is_printed_alone_and_stored_as_a_hash(db: Path) -> None:
    new_token = token(db, "--scope", "comments")
    assert new_token.stdout.startswith("tok_")
    assert new_token.stdout.count("\n") == 1
    assert new_token.stderr == ""
    secret = new_token.stdout.strip()
    assert secret.encode() not in db.read_bytes()
    assert secret not in run("token", "list", "--db", db).stdout
    (listed,) = json.loads(run("token", "list", "--db", db, "--json").stdout)
    assert (listed["label"], listed["scopes"], listed["prefix"]) == ("agent", ["comments"], secret[:10])
    whole = json.loads(token(db, "--scope", "read", "--expires-days", "30", "--json").stdout)
    assert whole["secret"].startswith("tok_")
    assert whole["expires_at"] is not None
    assert "expires" in run("token", "list", "--db", db, "--user", "ann@example.org").stdout
    revoked = run("token", "revoke", "--db", db, listed["id"])
    assert (revoked.exit_code, revoked.stdout) == (0, f"Revoked {listed['id']}\n")
    again = run("token", "revoke", "--db", db, listed["id"])
    assert (again.exit_code, again.stderr) == (1, "ticketbox: token not found\n")
    assert listed["id"] not in run("token", "list", "--db", db).stdout


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        (["--user", "zoe@example.org", "--scope", "read"], 1, "user not found"),
        (["--scope", "admin"], 2, "'admin' is not one of 'read', 'comments', 'tickets:write', 'tickets:assign'"),
        ([], 2, "Missing option '--scope'"),
        (["--scope", "read", "--expires-days", "0"], 1, "expires_days"),
        (["--scope", "read", "--company", "co_000000000000"], 1, "company not found"),
        (["--scope", "read", "--project", "proj_000000000000"], 1, "project not found"),
    ],
)
def test_invalid_token_request_is_explained(db: Path, flags: list[str], status: int, words: str) -> None:
    done = token(db, *flags)
    assert (done.exit_code, done.stdout) == (status, "")
    assert words in done.stderr


def test_commands_beside_a_server_apply_from_the_next_request(served: Box) -> None:
    db = served.db
    new_token = json.loads(token(db, "--scope", "tickets:write", "--json").stdout)
    client, web = served.client(new_token["secret"]), served.client()
    ok(client.get("/me"))
    run("token", "revoke", "--db", db, new_token["id"])
    expect_error(client.get("/me"), 401, "unauthorized")

    added = run(
        "user", "add", "--db", db, "--email", "b@example.org", "--name", "B", "--password-stdin", stdin=PASSWORD
    )
    signed_in = web.post("/session", json={"email": "b@example.org", "password": PASSWORD})
    assert signed_in.status_code == 201
    ok(web.get("/profile"))
    run("user", "set-password", "--db", db, "b@example.org", "--password-stdin", stdin="another good password")
    expect_error(web.get("/profile"), 401, "unauthorized")
    ok(web.post("/session", json={"email": "b@example.org", "password": "another good password"}))
    assert run("user", "disable", "--db", db, added.stdout.strip()).exit_code == 0
    expect_error(web.get("/profile"), 401, "unauthorized")
    expect_error(
        web.post("/session", json={"email": "b@example.org", "password": "another good password"}), 401, "unauthorized"
    )
    run("user", "disable", "--db", db, "--undo", "b@example.org")
    expect_error(web.get("/profile"), 401, "unauthorized")  # what ended stays ended
    served.close_clients()


def test_tokens_of_a_disabled_user_stop_until_the_user_is_enabled(served: Box) -> None:
    secret = token(served.db, "--scope", "read").stdout.strip()
    client = served.client(secret)
    run("user", "disable", "--db", served.db, "ann@example.org")
    expect_error(client.get("/me"), 401, "unauthorized")
    run("user", "disable", "--db", served.db, "--undo", "ann@example.org")
    ok(client.get("/me"))
    served.close_clients()


def test_second_server_on_the_same_file_is_rejected(served: Box) -> None:
    done = run("serve", "--db", served.db, "--port", "0", "--no-open")
    assert done.exit_code == 1
    assert "another ticketbox server is using this file" in done.stderr
    ok(served.client(token(served.db, "--scope", "read").stdout.strip()).get("/me"))
    served.close_clients()


@pytest.mark.parametrize("command", [["check"], ["user", "list"], ["token", "list"], ["token", "revoke", "key_x"]])
def test_command_on_a_missing_file_reports_it_and_creates_none(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "none.db"
    done = run(*command, "--db", path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"ticketbox: {path}: no such file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["serve", "--port", "0"], ["check"], ["init", *OWNER, "--password-stdin"], ["user", "list"]]
)
def test_directory_is_not_a_file(tmp_path: Path, command: list[str]) -> None:
    done = run(*command, "--db", tmp_path, stdin=PASSWORD)
    assert done.exit_code == 2
    assert "is a directory" in done.stderr


@pytest.mark.parametrize("command", [["serve", "--port", "0", "--no-open"], ["init", *OWNER, "--password-stdin"]])
@pytest.mark.parametrize("place", ["file/ticketbox.db", "/proc/ticketbox.db"])
def test_path_where_no_file_can_be_created_is_named(tmp_path: Path, command: list[str], place: str) -> None:
    if place.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("there is no /proc here")
    (tmp_path / "file").touch()
    path = tmp_path / place
    done = run(*command, "--db", path, stdin=PASSWORD)
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.match(rf"ticketbox: {path}: can.t create (or open the file|the lock file)", done.stderr)


def test_port_in_use_is_named(db: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--db", db, "--port", str(port), "--no-open")
    assert (done.exit_code, done.stderr) == (
        1,
        f"ticketbox: can't listen on 127.0.0.1 port {port}: Address already in use\n",
    )


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        (["--public-url", "tickets.example.org"], 1, "public-url: use a URL such as https://"),
        (["--public-url", "ftp://tickets.example.org"], 1, "public-url: use a URL such as https://"),
        (["--public-url", "https://tickets.example.org/a box"], 1, "the path may have letters"),
        (["--public-url", "https://ann:secret@tickets.example.org"], 1, "public-url"),
        (["--public-url", "https://[::1"], 1, "public-url"),
        (["--public-url", "https://tickets.example.org:99999"], 1, "public-url"),
        (["--trusted-proxy", "proxy.example.org"], 1, "trusted-proxy: proxy.example.org is not a CIDR"),
        (["--port", "70000"], 2, "70000 is not in the range"),
        (["--port", "http"], 2, "'http' is not a valid integer"),
        (["--host", "no.such.host.invalid"], 1, "can't listen on no.such.host.invalid port 0"),
        (["--host", "203.0.113.1"], 1, "can't listen on 203.0.113.1 port 0"),
        (["--tls-cert", "/no/cert.pem"], 2, "'/no/cert.pem' does not exist"),
        (["--tls-cert", __file__], 1, "--tls-cert and --tls-key must be used together"),
        (["--tls-cert", __file__, "--tls-key", __file__], 1, "--tls-cert"),
        (["--log-format", "xml"], 2, "'xml' is not one of 'text', 'json'"),
        (["--colour"], 2, "No such option"),
        (["more"], 2, "unexpected extra argument"),
    ],
)
def test_serve_rejects_invalid_flags(db: Path, flags: list[str], status: int, words: str) -> None:
    done = run("serve", "--db", db, "--port", "0", "--no-open", *flags)
    assert done.exit_code == status
    assert words in done.stderr
    assert "secret" not in done.stderr


FLAGS_OF_SERVE = {
    "TICKETBOX_PORT": ("http", "'--port'"),
    "TICKETBOX_HOST": ("no.such.host.invalid", "can't listen on no.such.host.invalid"),
    "TICKETBOX_PUBLIC_URL": ("nonsense", "public-url"),
    "TICKETBOX_TLS_CERT": ("/no/cert.pem", "'--tls-cert'"),
    "TICKETBOX_TLS_KEY": ("/no/key.pem", "'--tls-key'"),
    "TICKETBOX_TRUSTED_PROXY": ("10.0.0.0/8 nonsense", "nonsense is not a CIDR"),
    "TICKETBOX_LOG_FORMAT": ("xml", "'--log-format'"),
    "TICKETBOX_OPEN": ("perhaps", "'--open'"),
    "TICKETBOX_DB": ("/", "is a directory"),
}


@pytest.mark.parametrize("variable", FLAGS_OF_SERVE)
def test_every_flag_of_serve_is_also_an_environment_variable(tmp_path: Path, variable: str) -> None:
    value, words = FLAGS_OF_SERVE[variable]
    done = run("serve", **{"TICKETBOX_DB": str(tmp_path / "a.db"), variable: value})
    assert done.exit_code in {1, 2}
    assert words in done.stderr


def options() -> Iterator[tuple[str, Any]]:
    """Every flag of every command."""
    import click

    def of(command: click.Command, name: str) -> Iterator[tuple[str, Any]]:
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_eager:
                yield name, option
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                subcommand = command.get_command(context, part)
                assert subcommand is not None
                yield from of(subcommand, f"{name} {part}")

    yield from of(main, "ticketbox")


def test_every_flag_has_its_own_environment_variable() -> None:
    variables = {(name, option.opts[0]): option.envvar for name, option in options()}
    assert variables[("ticketbox token create", "--expires-days")] == "TICKETBOX_EXPIRES_DAYS"
    assert len(variables) > 30
    for (_, flag), variable in variables.items():
        assert variable == "TICKETBOX_" + flag.lstrip("-").upper().replace("-", "_")


def test_flags_on_the_command_line_override_the_environment(db: Path, tmp_path: Path) -> None:
    environment = {"TICKETBOX_DB": str(db), "TICKETBOX_USER": "ann@example.org", "TICKETBOX_LABEL": "from outside"}
    done = run("token", "create", **environment, TICKETBOX_SCOPE="read tickets:assign", TICKETBOX_JSON="1")
    output = json.loads(done.stdout)
    assert (output["label"], output["scopes"]) == ("from outside", ["read", "tickets:assign"])
    lost = run("token", "list", "--db", tmp_path / "none.db", **environment)
    assert "none.db: no such file" in lost.stderr


def test_server_reads_flags_from_the_environment(original: Path, tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    db.write_bytes(original.read_bytes())
    port = find_free_port()
    environment = {
        "DB": str(db),
        "PORT": str(port),
        "HOST": "127.0.0.1",
        "OPEN": "0",
        "PUBLIC_URL": "https://tickets.example.org",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "ticketbox", "serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            **{f"TICKETBOX_{name}": text for name, text in environment.items()},
        },
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"ticketbox serves {db} at https://tickets.example.org\n"
        assert httpx.get(f"http://127.0.0.1:{port}/api/v1/me", timeout=60).status_code == 401
        process.terminate()
        assert process.wait(60) == 0


def list_loaded_modules(*arguments: str) -> set[str]:
    """The top-level modules that a command loads."""
    code = (
        "import sys\nfrom ticketbox.cli import main\n"
        f"try:\n    main({list(arguments)!r})\n"
        "finally:\n    print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


def test_version_and_help_load_no_heavy_modules() -> None:
    heavy = {"litestar", "mcp", "sqlite3", "aiosqlite", "PIL", "uvicorn", "jinja2", "argon2", "httptools", "filelock"}
    for arguments in (["--help"], ["serve", "--help"], ["token", "--help"], ["demo", "--help"]):
        assert list_loaded_modules(*arguments) & (heavy | {"asyncio", "webbrowser"}) == set(), arguments
    for arguments in (["version"], ["--version"]):
        assert list_loaded_modules(*arguments) & (heavy | {"asyncio", "ssl", "json", "logging"}) == set(), arguments
    assert run("version").stdout == f"{__version__}\n"


def test_openapi_prints_the_document_without_loading_the_server() -> None:
    assert list_loaded_modules("openapi") & {"litestar", "mcp", "PIL", "uvicorn", "jinja2"} == set()
    document = json.loads(run("openapi", "--public-url", "https://tickets.example.org/").stdout)
    assert document["openapi"].startswith("3.1")
    assert document["servers"][0]["url"].startswith("https://tickets.example.org")
    assert not document["servers"][0]["url"].startswith("https://tickets.example.org//")
    assert "/tickets/{ticket_id}" in "".join(document["paths"])


def test_help_lists_every_command_and_unknown_ones_are_rejected() -> None:
    shown = run("--help").stdout
    for name in ("serve", "init", "demo", "user", "token", "check", "openapi", "version"):
        assert f"  {name} " in shown
        assert run(name, "--help").exit_code == 0
    assert run("sevre").exit_code == 2


def token(db: Path, *flags: str) -> Result:
    """A new token of Ann's."""
    named = () if "--user" in flags else ("--user", "ann@example.org")
    return run("token", "create", "--db", db, *named, "--label", "agent", *flags)


def rows(db: Path, sql: str) -> list[Any]:
    """What a query finds in a file."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql).fetchall()
