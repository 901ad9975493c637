"""Fossil, a C program with a process for each request. Its list is JSON; everything else is HTML."""

import contextlib
import hashlib
import random
import shutil
from collections.abc import Generator
from pathlib import Path

import httpx

from bench.launch import Server
from bench.peers.peer import (
    CREATE,
    LIST,
    PASSWORD,
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    USER,
    Requests,
    cookie_header,
    form_field,
    form_request,
    free_port,
    new_ticket_texts,
    request,
    run_command,
    start_server,
    ticket_texts,
)  # fmt: skip


class Fossil:
    """Writes tickets as Fossil's artifacts and reconstructs the repository from them."""

    name = "Fossil"
    create_status = b"3"
    search_page_size = 50

    def missing_requirement(self, folder: Path) -> str | None:
        """Return the command that installs it from Debian, unless it is installed."""
        return None if shutil.which("fossil") else "apt-get install fossil"

    def install(self, folder: Path) -> str:
        """Return its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run_command("fossil", "version", HOME=str(folder)).split()[4]

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        repository, artifacts, port = folder / f"{tickets}.fossil", folder / f"artifacts-{tickets}", free_port()
        environment = {"HOME": str(folder), "USER": USER}

        def fossil(*arguments: str) -> None:
            run_command("fossil", *arguments, HOME=str(folder), USER=USER)

        repository.unlink(missing_ok=True)
        shutil.rmtree(artifacts, ignore_errors=True)
        artifacts.mkdir()
        keys = _write_artifacts(artifacts, tickets)
        fossil("reconstruct", str(repository), str(artifacts))
        option = ["-R", str(repository)]
        with contextlib.suppress(RuntimeError):  # the user may exist
            fossil("user", "new", USER, "", PASSWORD, *option)
        fossil("user", "password", USER, PASSWORD, *option)
        fossil("user", "capabilities", USER, "s", *option)
        fossil("fts-config", "enable", "t", *option)
        fossil("fts-config", "index", "on", *option)
        command = ["fossil", "server", "--localhost", "--port", str(port), str(repository)]
        with start_server(command, port, folder, **environment) as server:
            yield server, _build_requests(server, keys)


def _write_artifacts(artifacts: Path, tickets: int) -> list[str]:
    """Write an artifact for each ticket; return their keys."""
    chance, keys = random.Random(2), list[str]()
    for number, (title, description) in enumerate(ticket_texts(tickets)):
        keys.append(f"{chance.getrandbits(160):040x}")
        moment = f"2026-{1 + number % 10:02}-{1 + number % 28:02}T10:00:{number % 60:02}.{number % 1000:03}"
        fields = {"comment": description, "status": "Open", "title": title, "type": "Code_Defect"}
        lines = [f"D {moment}", *(f"J {name} " + text.replace(" ", "\\s") for name, text in fields.items())]
        text = "\n".join([*lines, f"K {keys[-1]}", f"U {USER}", ""])
        text += f"Z {hashlib.md5(text.encode()).hexdigest()}\n"
        (artifacts / f"{number}").write_text(text)
    return keys


def _build_requests(server: Server, keys: list[str]) -> Requests:
    with httpx.Client(base_url=server.url) as client:
        client.post("/login", data={"u": USER, "p": PASSWORD, "in": "Login"})
        page = client.get("/tktnew").text
        csrf, headers, fresh = form_field(page, "csrf"), cookie_header(client), new_ticket_texts()

    def create() -> bytes:
        title, description = next(fresh)
        fields = {
            "csrf": csrf, "title": title, "icomment": description, "type": "Code_Defect", "mutype": "Plain Text",
            "submit": "Submit",
        }  # fmt: skip
        return form_request("/tktnew", server, headers, fields)

    return {
        READ: [request("GET", f"/tktview/{key}", server, headers) for key in keys[:READ_COUNT]],
        LIST: [request("GET", "/json/report/run?report=1&limit=50&format=o", server, headers)],
        SEARCH: [request("GET", f"/search?s={RARE}&y=t", server, headers)],
        CREATE: create,
    }
