"""A secret in any text of a capture is gone before anything is stored, and counted."""

import json
from typing import Any

import msgspec

from tests.fault.test_secrets import texts_of
from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, ok
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.operations.captures.processing.intake import Envelope


def test_no_field_of_an_upload_stores_a_secret(world: World) -> None:
    secret = generate_secret()
    texts: dict[str, Any] = {
        "title": f"Cart {secret}",
        "description": f"My token is {secret}.",
        "labels": [secret],
        "page": {"url": f"https://shop.example/?x={secret}", "title": secret, "referrer": f"https://{secret}/"},
        "environment": dict.fromkeys(("browser", "os", "language", "timezone"), f"it {secret}"),
    }
    plain = {"id", "health", "captured_at", "redaction", "keep_trace", "priority"}
    plain |= {"ticket_id", "project_id", "column_id", "bug", "expectations", "kept_numbers"}
    assert texts.keys() | plain == {field.name for field in msgspec.structs.fields(Envelope)}
    capture = ok(world.api.post("/captures", files=build_parts(capture_arguments(world.project, **texts))))
    ticket = ok(world.api.get(f"/tickets/{capture['ticket_id']}"))
    assert (ticket["title"], ticket["description"]) == ("Cart [redacted]", "My token is [redacted].")
    assert ticket["labels"] == ["[redacted]"]
    assert sum(ticket["capture"]["redaction"].values()) == 10
    assert secret not in json.dumps(ticket)
    assert secret not in repr(texts_of(world.box.db))


def test_new_project_stores_bodies_with_stand_ins(world: World) -> None:
    project = f"/projects/{world.project}"

    def store_body() -> str | None:
        """Capture a response, and return what is stored of its body."""
        arguments = capture_arguments(world.project)
        (request,) = json.loads(arguments["network"])
        request["response"] = {"body": '{"name": "Ann Example", "total": 1729, "card": null}'}
        arguments["network"] = json.dumps([request]).encode()
        made = ok(world.api.post("/captures", files=build_parts(arguments)))
        return ok(world.api.get(f"/captures/{made['capture_id']}/network/r1"))["response"]["body"]

    assert store_body() == '{"name": "Xxx Xxxxxxb", "total": 1001, "card": null}'
    assert "Ann Example" not in repr(texts_of(world.box.db))
    for chosen, body in (("on", '{"name": "Ann Example", "total": 1729, "card": null}'), ("off", None)):
        ok(world.owner.web.patch(project, json={"capture_policy": {"bodies": chosen}}))
        assert store_body() == body
        changed = ok(world.owner.web.patch(project, json={"capture_policy": {"extra_redactions": ["order_no"]}}))
        assert changed["capture_policy"]["bodies"] == chosen
