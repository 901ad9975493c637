"""Fossil, which is C and answers each request with a process of its own; the list comes as JSON, the rest as pages."""

import contextlib
import hashlib
import random
import shutil
from collections.abc import Generator
from pathlib import Path

import httpx

from bench.peers.peer import (
    CREATE,
    LIST,
    PASSWORD,
    RARE,
    READ,
    READABLE,
    SEARCH,
    USER,
    Asked,
    cookies,
    form,
    free_port,
    hidden,
    new_texts,
    request,
    run,
    served,
    texts,
)  # fmt: skip
from bench.serving import Server


class Fossil:
    """Tickets are written as the artifacts that a Fossil keeps of them, and the repository is made of those."""

    name = "Fossil"
    created = b"3"
    hits = 50

    def missing(self, folder: Path) -> str | None:
        """It comes from Debian."""
        return None if shutil.which("fossil") else "apt-get install fossil"

    def install(self, folder: Path) -> str:
        """Its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run("fossil", "version", HOME=str(folder)).split()[4]

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        repository, artifacts, port = folder / f"{tickets}.fossil", folder / f"artifacts-{tickets}", free_port()
        environment = {"HOME": str(folder), "USER": USER}

        def fossil(*arguments: str) -> None:
            run("fossil", *arguments, HOME=str(folder), USER=USER)

        repository.unlink(missing_ok=True)
        shutil.rmtree(artifacts, ignore_errors=True)
        artifacts.mkdir()
        keys = _write(artifacts, tickets)
        fossil("reconstruct", str(repository), str(artifacts))
        here = ["-R", str(repository)]
        with contextlib.suppress(RuntimeError):  # it may be there already
            fossil("user", "new", USER, "", PASSWORD, *here)
        fossil("user", "password", USER, PASSWORD, *here)
        fossil("user", "capabilities", USER, "s", *here)
        fossil("fts-config", "enable", "t", *here)
        fossil("fts-config", "index", "on", *here)
        command = ["fossil", "server", "--localhost", "--port", str(port), str(repository)]
        with served(command, port, folder, **environment) as server:
            yield server, _asked(server, keys)


def _write(artifacts: Path, tickets: int) -> list[str]:
    """One artifact for each ticket; their keys."""
    chance, keys = random.Random(2), list[str]()
    for number, (title, description) in enumerate(texts(tickets)):
        keys.append(f"{chance.getrandbits(160):040x}")
        moment = f"2026-{1 + number % 10:02}-{1 + number % 28:02}T10:00:{number % 60:02}.{number % 1000:03}"
        said = {"comment": description, "status": "Open", "title": title, "type": "Code_Defect"}
        lines = [f"D {moment}", *(f"J {name} " + text.replace(" ", "\\s") for name, text in said.items())]
        text = "\n".join([*lines, f"K {keys[-1]}", f"U {USER}", ""])
        text += f"Z {hashlib.md5(text.encode()).hexdigest()}\n"
        (artifacts / f"{number}").write_text(text)
    return keys


def _asked(server: Server, keys: list[str]) -> Asked:
    with httpx.Client(base_url=server.url) as client:
        client.post("/login", data={"u": USER, "p": PASSWORD, "in": "Login"})
        page = client.get("/tktnew").text
        csrf, known, fresh = hidden(page, "csrf"), cookies(client), new_texts()

    def create() -> bytes:
        title, description = next(fresh)
        given = {"csrf": csrf, "title": title, "icomment": description, "type": "Code_Defect", "mutype": "Plain Text"}
        return form("/tktnew", server, known, {**given, "submit": "Submit"})

    return {
        READ: [request("GET", f"/tktview/{key}", server, known) for key in keys[:READABLE]],
        LIST: [request("GET", "/json/report/run?report=1&limit=50&format=o", server, known)],
        SEARCH: [request("GET", f"/search?s={RARE}&y=t", server, known)],
        CREATE: create,
    }
