"""Email and kill -9: every notification is mailed."""

import contextlib
import random
import re
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.support.long_runs import choose_rounds
from tests.support.mail_server import run_mail_server
from tests.support.seed import EMAIL, PatchedServer, Seed
from tests.support.server import PASSWORD, Person, eventually, ok

QUICK = """
from ticketbox.domain.events import retry_schedule as retries
from ticketbox.store.events import email_outbox as mails
retries.FIRST_MS = 100
mails.DELAY_MS = 150
mails.MAX_NOTIFICATIONS = 1000  # on a slow machine more wait for an email than it lists
from ticketbox.cli import main
main()
"""

ROUNDS = choose_rounds(8, 25)


@pytest.mark.long
def test_every_acknowledged_notification_is_mailed(seed: Seed, tmp_path: Path) -> None:
    chance = random.Random(1)
    acknowledged: list[str] = []
    with run_mail_server() as mail_server:
        mail_server.refuse = lambda _: "451 later" if chance.random() < 0.2 else None
        flags = ["--smtp-url", f"smtp://{mail_server.host}", "--smtp-from", "box@tickets.example"]
        with PatchedServer(QUICK, seed.copy(tmp_path), *flags) as box:
            web = box.client()
            ok(web.post("/session", json={"email": EMAIL, "password": PASSWORD}))
            bob = Person(box, "Bob")
            invited = ok(web.post(f"/companies/{seed.company}/invitations", json={"role": "member"}))["secret"]
            ok(bob.web.post(f"/invitations/accept/{invited}", json={}))
            ok(bob.web.patch("/profile", json={"mail": True}))
            question = eventually(lambda: mail_server.to(bob.email))[0].as_string().replace("=\n", "")
            key = re.findall(r"mbx_\w+", question)[0]
            assert httpx.post(f"{box.url}/mail/{key}", data={"wanted": "yes"}).is_success

            def write(client: httpx.Client, tickets: list[str]) -> None:
                with contextlib.suppress(httpx.TransportError):
                    while True:
                        said = f"said-{random.getrandbits(60):x}-"
                        path = f"/tickets/{random.choice(tickets)}/comments"
                        ok(client.post(path, json={"body": f"@Bob {said}"}))
                        acknowledged.append(said)
                        time.sleep(0.02)  # a pace at which the mailer keeps up

            api = box.client(seed.token)
            given = {"project_id": seed.project, "title": "T"}
            tickets = [ok(api.post("/tickets", json=given))["id"] for _ in range(5)]
            for _ in range(ROUNDS):
                thread = threading.Thread(target=write, args=(box.client(seed.token), tickets))
                thread.start()
                enough = len(acknowledged) + chance.randint(1, 20)
                eventually(lambda enough=enough: len(acknowledged) >= enough)
                time.sleep(chance.uniform(0, 0.3))  # killed at any moment
                box.stop(signal.SIGKILL)
                thread.join(10)
                box.close_clients()
                box.start()

            def missing() -> list[str]:
                result = "".join(str(each.get_body(("plain",)).get_content()) for each in mail_server.to(bob.email))  # type: ignore[union-attr]
                return [said for said in acknowledged if said not in result]

            eventually(lambda: not missing(), 60 + ROUNDS)
            assert len(acknowledged) > ROUNDS
            assert "Traceback" not in box.log.read_text()
