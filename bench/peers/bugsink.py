"""Bugsink, an error tracker, served by gunicorn.

A ticket is an issue with one event. Search and sign-in are web pages.
"""

import contextlib
import json
import shutil
import time
import uuid
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
    Requests,
    TicketText,
    cookie_header,
    form_field,
    free_port,
    gunicorn,
    make_venv,
    new_ticket_texts,
    request,
    run_command,
    start_server,
    ticket_texts,
)  # fmt: skip

VERSION = "2.6.1"
EMAIL = "bench@example.org"
SETTINGS = """
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = False
SECURE_PROXY_SSL_HEADER = None
USE_X_REAL_IP = False
SNAPPEA["TASK_ALWAYS_EAGER"] = True  # the issue exists when the response arrives
ALLOWED_HOSTS = ["127.0.0.1"]
BUGSINK.update({{"BASE_URL": "http://127.0.0.1:{port}", "PHONEHOME": False}})
for name in ("MAX_EVENTS_PER_PROJECT_PER_5_MINUTES", "MAX_EVENTS_PER_PROJECT_PER_HOUR", "MAX_EVENTS_PER_5_MINUTES",
             "MAX_EVENTS_PER_PROJECT_PER_MONTH", "MAX_EVENTS_PER_HOUR", "MAX_EVENTS_PER_MONTH"):
    BUGSINK[name] = 1_000_000_000
"""
FILL = f"""
import json
from bsmain.models import AuthToken
from django.contrib.auth import get_user_model
from projects.models import Project, ProjectMembership
from teams.models import Team

user = get_user_model().objects.create_superuser(username={EMAIL!r}, email={EMAIL!r}, password={PASSWORD!r})
project = Project.objects.create(name="Bench", team=Team.objects.create(name="Bench"), retention_max_event_count=10**9)
ProjectMembership.objects.create(project=project, user=user, role=1, accepted=True)
print(json.dumps([project.id, project.sentry_key.hex, AuthToken.create_full_access().token]))
"""
APPLICATION = """
from bugsink.wsgi import application
from issues.api_views import IssuesCursorPagination

IssuesCursorPagination.page_size = 50  # 250 otherwise
"""


class Bugsink:
    """Receives its tickets as events, like errors, because it also counts them."""

    name = "Bugsink"
    create_status = b"2"
    search_page_size = 50

    def missing_requirement(self, folder: Path) -> str | None:
        """Return None: `install` gets it from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it; return its version."""
        make_venv(folder, f"bugsink=={VERSION}", "gunicorn")
        return VERSION

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        programs, home, port = make_venv(folder), folder.absolute() / f"bugsink-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        settings = home / "bugsink_conf.py"
        options = ["--template=singleserver", f"--port={port}", f"--base-dir={home}", "-o", str(settings)]
        run_command(str(programs / "bugsink-create-conf"), *options)
        settings.write_text(settings.read_text() + SETTINGS.format(port=port))
        (home / "application.py").write_text(APPLICATION)
        environment = {"PYTHONPATH": str(home), "DJANGO_SETTINGS_MODULE": "bugsink_conf"}
        manage = str(programs / "bugsink-manage")
        run_command(manage, "migrate", cwd=home, **environment)
        run_command(manage, "migrate", "--database=snappea", cwd=home, **environment)
        project, key, token = json.loads(
            run_command(manage, "shell", "-c", FILL, cwd=home, **environment).splitlines()[-1]
        )
        with start_server(gunicorn(programs, "application:application", port), port, home, **environment) as server:
            yield server, _build_requests(server, project, key, token, tickets)


def _build_requests(server: Server, project: int, key: str, token: str, tickets: int) -> Requests:
    """Create the tickets, and build the requests for them."""
    fresh, bearer = new_ticket_texts(), {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=server.url, timeout=60, headers={"Referer": server.url + "/accounts/login/"}) as client:
        for text in ticket_texts(tickets):
            client.post(**_event(project, key, text)).raise_for_status()
        listing = f"/api/canonical/0/issues/?project={project}&sort=last_seen&order=desc"
        result = client.get(listing, headers=bearer).raise_for_status().json()["results"]
        credentials = {"username": EMAIL, "password": PASSWORD}
        field = form_field(client.get("/accounts/login/").text, "csrfmiddlewaretoken")
        client.post("/accounts/login/", data={**credentials, "csrfmiddlewaretoken": field})
        headers = cookie_header(client)

    def create() -> bytes:
        sent = _event(project, key, next(fresh))
        return request("POST", sent["url"], server, sent["headers"], sent["content"])

    return {
        READ: [
            request("GET", f"/api/canonical/0/issues/{each['id']}/", server, bearer) for each in result[:READ_COUNT]
        ],
        LIST: [request("GET", listing, server, bearer)],
        SEARCH: [request("GET", f"/issues/{project}/?q={RARE}", server, headers)],
        CREATE: create,
    }


def _event(project: int, key: str, text: TicketText) -> dict:
    """Build a distinct error, as an SDK sends it."""
    number, now = uuid.uuid4().hex, time.time()
    error = {"type": f"{text.title.replace(' ', '')}{number[:8]}", "value": text.description}
    event = {"event_id": number, "timestamp": now, "platform": "javascript", "exception": {"values": [error]}}
    body = json.dumps(event).encode()
    lines = [
        json.dumps({"event_id": number}).encode(),
        json.dumps({"type": "event", "length": len(body)}).encode(),
        body,
    ]
    sent = {
        "X-Sentry-Auth": f"Sentry sentry_version=7, sentry_client=bench/1, sentry_key={key}",
        "Content-Type": "application/x-sentry-envelope",
    }
    return {"url": f"/api/{project}/envelope/", "headers": sent, "content": b"\n".join(lines) + b"\n"}
