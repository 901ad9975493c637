"""Bugsink, which takes errors and makes issues of them, served by gunicorn.

A ticket here is one issue with one event. Its search and its sign-in are web pages.
"""

import contextlib
import json
import shutil
import time
import uuid
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
    Asked,
    Text,
    cookies,
    free_port,
    gunicorn,
    hidden,
    new_texts,
    request,
    run,
    served,
    texts,
    venv,
)  # fmt: skip
from bench.serving import Server

VERSION = "2.6.1"
EMAIL = "bench@example.org"
SETTINGS = """
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = False
SECURE_PROXY_SSL_HEADER = None
USE_X_REAL_IP = False
SNAPPEA["TASK_ALWAYS_EAGER"] = True  # an issue is there when the answer is
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
    """Tickets are filled in over the same road as errors come, because it keeps counts of its own."""

    name = "Bugsink"
    created = b"2"
    hits = 50

    def missing(self, folder: Path) -> str | None:
        """It comes from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it."""
        venv(folder, f"bugsink=={VERSION}", "gunicorn")
        return VERSION

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        found, home, port = venv(folder), folder.absolute() / f"bugsink-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        settings = home / "bugsink_conf.py"
        run(str(found / "bugsink-create-conf"), "--template=singleserver", f"--port={port}", f"--base-dir={home}",
            "-o", str(settings))  # fmt: skip
        settings.write_text(settings.read_text() + SETTINGS.format(port=port))
        (home / "application.py").write_text(APPLICATION)
        environment = {"PYTHONPATH": str(home), "DJANGO_SETTINGS_MODULE": "bugsink_conf"}
        manage = str(found / "bugsink-manage")
        run(manage, "migrate", cwd=home, **environment)
        run(manage, "migrate", "--database=snappea", cwd=home, **environment)
        project, key, token = json.loads(run(manage, "shell", "-c", FILL, cwd=home, **environment).splitlines()[-1])
        with served(gunicorn(found, "application:application", port), port, home, **environment) as server:
            yield server, _asked(server, project, key, token, tickets)


def _asked(server: Server, project: int, key: str, token: str, tickets: int) -> Asked:
    """Fill it first, and read what there is then."""
    fresh, bearer = new_texts(), {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=server.url, timeout=60, headers={"Referer": server.url + "/accounts/login/"}) as client:
        for text in texts(tickets):
            client.post(**_event(project, key, text)).raise_for_status()
        listing = f"/api/canonical/0/issues/?project={project}&sort=last_seen&order=desc"
        found = client.get(listing, headers=bearer).raise_for_status().json()["results"]
        given = {"username": EMAIL, "password": PASSWORD}
        field = hidden(client.get("/accounts/login/").text, "csrfmiddlewaretoken")
        client.post("/accounts/login/", data={**given, "csrfmiddlewaretoken": field})
        known = cookies(client)

    def create() -> bytes:
        sent = _event(project, key, next(fresh))
        return request("POST", sent["url"], server, sent["headers"], sent["content"])

    return {
        READ: [request("GET", f"/api/canonical/0/issues/{each['id']}/", server, bearer) for each in found[:READABLE]],
        LIST: [request("GET", listing, server, bearer)],
        SEARCH: [request("GET", f"/issues/{project}/?q={RARE}", server, known)],
        CREATE: create,
    }


def _event(project: int, key: str, text: Text) -> dict:
    """An error of its own kind, as an SDK sends it."""
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
