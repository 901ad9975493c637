"""Request Tracker from Debian, on SQLite, served by Starman; all over its REST API."""

import contextlib
import json
import shutil
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import httpx

from bench.peers.peer import (
    CREATE,
    LIST,
    RARE,
    READ,
    READABLE,
    SEARCH,
    Asked,
    cookies,
    free_port,
    new_texts,
    request,
    run,
    served,
    texts,
)  # fmt: skip
from bench.serving import Server

HOME = Path("/usr/share/request-tracker5")
CONFIG = """
Set($rtname, "bench");
Set($Organization, "bench");
Set($WebDomain, "127.0.0.1");
Set($WebPort, {port});
Set($WebPath, "");
Set($DatabaseType, "SQLite");
Set($DatabaseName, "{folder}/rt.db");
Set($MailCommand, "mbox");
Set($LogToSyslog, undef);
Set($LogToSTDERR, "error");
Set($WebSessionClass, "Apache::Session::File");
Set(%FullTextSearch, Enable => 1, Indexed => 0);
Set($Timezone, "UTC");
1;
"""
FILL = """
use strict; use warnings;
use lib "/usr/share/request-tracker5/lib";
use RT -init;
use JSON; use MIME::Entity;
open my $file, "<", $ARGV[0] or die; local $/; my $texts = decode_json(<$file>);
my $user = RT::CurrentUser->new("root");
$RT::Handle->BeginTransaction;
for my $text (@$texts) {
    my $mime = MIME::Entity->build(Type => "text/plain", Charset => "UTF-8", Data => $text->[1]);
    my $ticket = RT::Ticket->new($user);
    my ($id, undef, $why) = $ticket->Create(Queue => "General", Subject => $text->[0], MIMEObj => $mime);
    die $why unless $id;
}
$RT::Handle->Commit;
"""


class RequestTracker:
    """An instance of its own, in the folder; what Debian set up isn't touched."""

    name = "Request Tracker"
    created = b"2"
    hits = 50

    def missing(self, folder: Path) -> str | None:
        """It comes from Debian."""
        there = (HOME / "libexec/rt-server").exists() and shutil.which("starman")
        packages = "request-tracker5 rt5-db-sqlite rt5-standalone starman msmtp-mta"
        return None if there else f"apt-get install --no-install-recommends {packages}"

    def install(self, folder: Path) -> str:
        """Its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run("dpkg-query", "--show", "--showformat", "${Version}", "request-tracker5")

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        home, port = folder.absolute() / f"rt-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        (home / "config.pm").write_text(CONFIG.format(port=port, folder=home))
        (home / "texts.json").write_text(json.dumps(list(texts(tickets))))
        (home / "fill.pl").write_text(FILL)
        environment = {"RT_SITE_CONFIG": str(home / "config.pm"), "RT_SITE_CONFIG_DIR": "/dev/null"}
        run("rt-setup-database-5", "--action", "init", cwd=home, **environment)
        run("perl", "fill.pl", "texts.json", cwd=home, **environment)
        command = ["perl", str(HOME / "libexec/rt-server"), "--server", "Starman", "--host", "127.0.0.1",
                   "--port", str(port), "--workers", "4", "--max-requests", "1000000"]  # fmt: skip
        with served(command, port, home, **environment) as server:
            yield server, _asked(server, tickets)


def _asked(server: Server, tickets: int) -> Asked:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.post("/NoAuth/Login.html", data={"user": "root", "pass": "password"}, headers={"Referer": server.url})
        known, fresh = {**cookies(client), "Referer": server.url + "/"}, new_texts()

    def create() -> bytes:
        title, description = next(fresh)
        given = {"Queue": "General", "Subject": title, "Content": description, "ContentType": "text/plain"}
        sent = {**known, "Content-Type": "application/json"}
        return request("POST", "/REST/2.0/ticket", server, sent, json.dumps(given).encode())

    fields = "fields=Subject,Status,Owner,Priority,LastUpdated&per_page=50"

    def found(query: str) -> bytes:
        path = f"/REST/2.0/tickets?query={quote(query)}&orderby=LastUpdated&order=DESC&{fields}"
        return request("GET", path, server, known)

    return {
        READ: [
            request("GET", f"/REST/2.0/ticket/{number}", server, known) for number in range(1, min(tickets, READABLE))
        ],
        LIST: [found("Queue = 'General'")],
        SEARCH: [found(f"Content LIKE '{RARE}'")],
        CREATE: create,
    }
