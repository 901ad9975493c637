"""Request Tracker from Debian, on SQLite, served by Starman, over its REST API."""

import contextlib
import json
import shutil
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import httpx

from bench.launch import Server
from bench.peers.peer import (
    CREATE,
    LIST,
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    Requests,
    cookie_header,
    free_port,
    new_ticket_texts,
    request,
    run_command,
    start_server,
    ticket_texts,
)  # fmt: skip

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
    """A separate instance in the folder; Debian's instance isn't changed."""

    name = "Request Tracker"
    create_status = b"2"
    search_page_size = 50

    def missing_requirement(self, folder: Path) -> str | None:
        """Return the command that installs it from Debian, unless it is installed."""
        is_installed = (HOME / "libexec/rt-server").exists() and shutil.which("starman")
        packages = "request-tracker5 rt5-db-sqlite rt5-standalone starman msmtp-mta"
        return None if is_installed else f"apt-get install --no-install-recommends {packages}"

    def install(self, folder: Path) -> str:
        """Return its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run_command("dpkg-query", "--show", "--showformat", "${Version}", "request-tracker5")

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        home, port = folder.absolute() / f"rt-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        (home / "config.pm").write_text(CONFIG.format(port=port, folder=home))
        (home / "texts.json").write_text(json.dumps(list(ticket_texts(tickets))))
        (home / "fill.pl").write_text(FILL)
        environment = {"RT_SITE_CONFIG": str(home / "config.pm"), "RT_SITE_CONFIG_DIR": "/dev/null"}
        run_command("rt-setup-database-5", "--action", "init", cwd=home, **environment)
        run_command("perl", "fill.pl", "texts.json", cwd=home, **environment)
        command = ["perl", str(HOME / "libexec/rt-server"), "--server", "Starman", "--host", "127.0.0.1",
                   "--port", str(port), "--workers", "4", "--max-requests", "1000000"]  # fmt: skip
        with start_server(command, port, home, **environment) as server:
            yield server, _build_requests(server, tickets)


def _build_requests(server: Server, tickets: int) -> Requests:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.post("/NoAuth/Login.html", data={"user": "root", "pass": "password"}, headers={"Referer": server.url})
        headers, fresh = {**cookie_header(client), "Referer": server.url + "/"}, new_ticket_texts()

    def create() -> bytes:
        title, description = next(fresh)
        ticket = {"Queue": "General", "Subject": title, "Content": description, "ContentType": "text/plain"}
        json_headers = {**headers, "Content-Type": "application/json"}
        return request("POST", "/REST/2.0/ticket", server, json_headers, json.dumps(ticket).encode())

    fields = "fields=Subject,Status,Owner,Priority,LastUpdated&per_page=50"

    def list_tickets(query: str) -> bytes:
        path = f"/REST/2.0/tickets?query={quote(query)}&orderby=LastUpdated&order=DESC&{fields}"
        return request("GET", path, server, headers)

    return {
        READ: [
            request("GET", f"/REST/2.0/ticket/{number}", server, headers)
            for number in range(1, min(tickets, READ_COUNT))
        ],
        LIST: [list_tickets("Queue = 'General'")],
        SEARCH: [list_tickets(f"Content LIKE '{RARE}'")],
        CREATE: create,
    }
