"""A reproduction holds no secret that the corpus knows, no body that the policy leaves out, and no foreign address."""

import io
import json
import zipfile
from typing import Any

import pytest

from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.redaction_corpus import list_secrets
from tests.support.server import World, ok

BODY = "the balance of the account is 4711"


def read_pack(world: World, project: str, parts: dict[str, Any], **given: Any) -> dict[str, str]:
    """Send a capture, and read the files of its reproduction."""
    sent = {
        **capture_arguments(project, **given),
        "console": b"[]",
        "network": b"[]",
        "errors": b"[]",
        "actions": b"[]",
    }
    sent |= {name: json.dumps(entries).encode() for name, entries in parts.items()}
    made = ok(world.api.post("/captures", files=build_parts(sent)))
    answer = world.api.get(f"/captures/{made['capture_id']}/reproduction")
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as pack:
        return {name: pack.read(name).decode() for name in pack.namelist()}


@pytest.mark.parametrize("policy", ["on", "shape", "off"])
def test_pack_holds_no_secret_of_the_corpus(world: World, policy: str) -> None:
    samples = [each for each in list_secrets() if len(each.secret) > 3]  # "123" is in any text
    project = world.new_project("Corpus", capture_policy={"bodies": policy})
    network, errors, console, actions = [], [], [], []
    for ts, sample in enumerate(samples):
        text = sample.text
        network.append(
            {
                "id": f"r{ts}", "ts": ts, "method": "POST", "url": "https://api.shop.example/pay", "type": "fetch",
                "status": 500, "duration_ms": 1, "request": {"body": text, "headers": {"x-note": text}},
                "response": {"body": text, "mime": "text/plain"},
            }
        )  # fmt: skip
        errors.append({"seq": ts, "ts": ts, "kind": "error", "name": "Error", "message": text, "stack": text})
        console.append({"seq": ts, "ts": ts, "level": "error", "args": [text]})
        target = {"role": "button", "name": text[:200], "text": text[:200], "selectors": []}
        actions.append({"seq": ts, "ts": ts, "kind": "click", "target": target})
    parts = {"network": network, "errors": errors, "console": console, "actions": actions}
    files = read_pack(world, project, parts)
    assert json.loads(files["network.har"])["log"]["entries"]
    found = {(name, each.secret) for name, text in files.items() for each in samples if each.secret in text}
    assert found == set()


def test_pack_holds_no_body_that_the_policy_leaves_out(world: World) -> None:
    call = {
        "id": "r1", "ts": 1, "method": "POST", "url": "https://api.shop.example/pay", "type": "fetch", "status": 500,
        "duration_ms": 1, "request": {"body": BODY}, "response": {"body": BODY, "mime": "text/plain"},
    }  # fmt: skip
    for policy, is_held in (("on", True), ("shape", False), ("off", False)):
        project = world.new_project(policy, capture_policy={"bodies": policy})
        files = read_pack(world, project, {"network": [call]})
        assert any(BODY in text for text in files.values()) is is_held


@pytest.mark.parametrize(
    "form", ["//evil.example/own", "/\\evil.example/own", "\\\\evil.example/own", "/\t/evil.example/own"]
)
def test_addresses_of_a_capture_name_no_other_host(world: World, form: str) -> None:
    hostile = f"https://ann:password@shop.example{form}"
    opened = [{"seq": 1, "ts": 1, "kind": "navigate", "url": hostile}]
    late = [{"seq": 2, "ts": 9_000, "kind": "navigate", "url": "javascript:alert(1)"}]
    without = read_pack(world, world.project, {}, page={"url": hostile})
    files = read_pack(world, world.project, {"actions": opened + late}, page={"url": hostile})
    for spec in (without["reproduce.spec.ts"], files["reproduce.spec.ts"]):
        assert "open('/evil.example/own')" in spec
    assert "(another site; not repeated)" in files["reproduce.spec.ts"]
    assert json.loads(files["expected.json"])["page"] == "https://shop.example/evil.example/own"
    (ticket, *_) = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert ticket["source_url"] == "https://shop.example/evil.example/own"


def test_page_of_the_browser_itself_has_no_address(world: World) -> None:
    for address in ("chrome://version/", "javascript:alert(1)", ""):
        files = read_pack(world, world.project, {}, page={"url": address, "title": "Version"})
        assert json.loads(files["expected.json"])["page"] == ""
