"""Every operation, called as documented, answers as documented: status, headers, and a body that fits the schema."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest

from tests.support.openapi import check_error
from tests.support.operation_cases import (
    CASES,
    Stage,
    build_parts,
    build_request,
    check_common_headers,
    make_capture,
    open_stage,
    operations,
)
from tests.support.server import expect_error, ok, run_server
from ticketbox.domain.core.access.scopes import Access
from ticketbox.operations.core.registry import Body, Operation
from ticketbox.operations.core.schemas import list_answer_types

OPERATIONS = {each.name: each for each in operations()}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One stage for all: every case makes the rows that it needs. Its server accepts calls that send email."""
    email = ["--smtp-url", "smtp://localhost:9", "--smtp-from", "box@tickets.example"]  # nothing is sent
    folder = tmp_path_factory.mktemp("responses")
    with run_server(folder, "--trusted-proxy", "127.0.0.1/32", *email) as box, open_stage(box) as stage:
        yield stage


@pytest.fixture(scope="module")
def document(stage: Stage) -> dict[str, Any]:
    """The server's own OpenAPI document."""
    return ok(stage.box.client().get("/openapi.json"))


def caller(stage: Stage, declared: Operation) -> httpx.Client:
    """Who calls: the case's own caller, the world's token, or the owner's session."""
    case = CASES[declared.name]
    if case.caller is not None:
        return case.caller(stage).web
    if declared.scope is Access.PUBLIC:
        return stage.box.client()
    return stage.owner.web if declared.scope is Access.SESSION else stage.api


def list_declared_responses(document: dict[str, Any], declared: Operation) -> dict[str, Any]:
    """The responses that OpenAPI declares for an operation, by status."""
    route = declared.routes[0]
    operation = document["paths"][route.path][route.method.lower()]
    assert operation["operationId"] == declared.name
    shared = document["components"]["responses"]
    said = operation["responses"].items()
    return {status: shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for status, each in said}


def fits(document: dict[str, Any], schema: dict[str, Any], body: Any) -> None:
    """Check a body against a schema of the document; what the schema doesn't name is too much."""
    whole = {**schema, "components": _forbid_other_fields(document["components"])}
    jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(body)


def _forbid_other_fields(node: Any) -> Any:
    """The same schemas, with objects that accept no other fields than those they declare."""
    if isinstance(node, list):
        return [_forbid_other_fields(part) for part in node]
    if not isinstance(node, dict):
        return node
    closed = {name: _forbid_other_fields(part) for name, part in node.items()}
    if node.get("type") == "object" and "properties" in node:
        closed.setdefault("additionalProperties", False)
    return closed


def status(declared: Operation) -> int:
    """201 for what makes a record, 204 for what has nothing to show, 200 for all else."""
    if declared.creates:
        return 201
    return 204 if list_answer_types(declared) == [type(None)] else 200


@pytest.mark.parametrize("declared", list(OPERATIONS.values()), ids=list(OPERATIONS))
def test_valid_call_returns_what_openapi_declares(stage: Stage, document: dict[str, Any], declared: Operation) -> None:
    client = caller(stage, declared)
    request = build_request(client, declared, CASES[declared.name].arguments(stage))
    answer = client.send(request, stream=declared.live)
    answer.close()
    responses = list_declared_responses(document, declared)
    assert answer.is_success, answer.text
    assert str(answer.status_code) in responses
    assert answer.status_code == status(declared)
    if declared.name.startswith(("delete_", "remove_", "revoke_")):
        assert answer.status_code == 204
    check_common_headers(answer)
    content = responses[str(answer.status_code)].get("content", {})
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if not content:
        assert (answer.status_code, answer.content, kind) == (204, b"", "")
    elif kind == "application/json" and "$ref" in content[kind]["schema"]:
        fits(document, content[kind]["schema"], answer.json())
    else:
        assert kind in content or "*/*" in content
        assert declared.live or answer.content


@pytest.mark.parametrize("declared", list(OPERATIONS.values()), ids=list(OPERATIONS))
def test_error_matches_its_schema_and_declared_status(
    stage: Stage, document: dict[str, Any], declared: Operation
) -> None:
    """Each operation gets an unknown field; one without a body gets it in the query."""
    client = caller(stage, declared)
    surprise = b"x" if declared.body is Body.MULTIPART else "x"
    arguments = {**CASES[declared.name].arguments(stage), "surprise": surprise}
    answer = client.send(build_request(client, declared, arguments))
    problem = expect_error(answer, 400, "invalid_request")
    assert problem["errors"][0]["field"].endswith("surprise")
    check_common_headers(answer)
    (schema,) = [each["schema"] for each in list_declared_responses(document, declared)["400"]["content"].values()]
    fits(document, schema, problem)


def test_every_client_detects_an_undeclared_error() -> None:
    def build_response(method: str, path: str, code: str) -> httpx.Response:
        body = {"type": f"urn:ticketbox:problem:{code}", "code": code}
        request = httpx.Request(method, f"http://box/api/v1{path}")
        return httpx.Response(409, json=body, headers={"Content-Type": "application/problem+json"}, request=request)

    check_error(build_response("POST", "/tickets/t-00000000/work", "already_claimed"))
    check_error(build_response("GET", "/tickets/bulk-move", "method_not_allowed"))
    for method, path, code in [
        ("GET", "/tickets", "conflict"),
        ("GET", "/tickets/t-00000000", "forbidden"),
        ("POST", "/tickets/t-00000000/archive", "ticket_archived"),
        ("POST", "/tickets/bulk-move", "already_claimed"),
        ("GET", "/search", "not_found"),
        ("GET", "/me", "insufficient_scope"),
    ]:
        with pytest.raises(AssertionError, match=f"doesn't list {code}"):
            check_error(build_response(method, path, code))


def test_repeated_capture_returns_200_with_the_same_ids(stage: Stage, document: dict[str, Any]) -> None:
    arguments = CASES["create_capture"].arguments(stage)
    first = stage.api.post("/captures", files=build_parts(arguments))
    again = stage.api.post("/captures", files=build_parts(arguments))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    content = list_declared_responses(document, OPERATIONS["create_capture"])["200"]["content"]
    fits(document, content["application/json"]["schema"], again.json())


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/tickets/t-00000000/nowhere", 404, "not_found"),
        ("POST", "/me", 405, "method_not_allowed"),
        ("DELETE", "/tickets", 405, "method_not_allowed"),
        ("GET", "/me", 401, "unauthorized"),
    ],
)
def test_every_response_has_the_common_headers(stage: Stage, method: str, path: str, status: int, code: str) -> None:
    answer = stage.box.client().request(method, path)
    expect_error(answer, status, code)
    check_common_headers(answer)
    assert ("allow" in answer.headers) == (status == 405)


def test_every_path_lists_its_methods_in_allow(stage: Stage, document: dict[str, Any]) -> None:
    """To OPTIONS, and where one is refused."""
    for path, described in document["paths"].items():
        methods = {method.upper() for method in described}
        expected = {*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}
        address = re.sub(r"{\w+}", "x", path)
        asked = stage.box.client().request("OPTIONS", address)
        assert (asked.status_code, asked.content) == (204, b"")
        assert set(asked.headers["allow"].split(", ")) == expected, path
        refusal = stage.api.request("TRACE", address)
        assert set(expect_error(refusal, 405, "method_not_allowed")["valid"]) == expected, path
        assert set(refusal.headers["allow"].split(", ")) == expected, path
        check_common_headers(asked)
        check_common_headers(refusal)


def test_literal_path_segment_is_not_a_parameter(stage: Stage) -> None:
    assert expect_error(stage.api.get("/tickets/bulk-move"), 405, "method_not_allowed")["valid"] == ["OPTIONS", "POST"]


@pytest.mark.parametrize("path", ["/me/", "/me//", "/tickets//"])
def test_empty_path_segments_are_ignored(stage: Stage, path: str) -> None:
    ok(stage.api.get(path))


@pytest.mark.parametrize("path", ["/me/x", "/tickets/t-00000000/work/x", "/ME", "/%6De/x", "", "/"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_path_of_the_wrong_length_is_not_found(stage: Stage, method: str, path: str) -> None:
    expect_error(stage.api.request(method, path), 404, "not_found")


def test_head_returns_the_headers_of_get_without_a_body(stage: Stage) -> None:
    got, head = stage.api.get("/tickets"), stage.api.head("/tickets")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(got.content))
    check_common_headers(head)
    assert stage.api.head("/tickets/t-00000000").status_code == 404


def test_audit_log_csv_is_documented(stage: Stage, document: dict[str, Any]) -> None:
    make_capture(stage)
    answer = stage.owner.web.get(f"/companies/{stage.company}/audit", params={"format": "csv", "limit": 5})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "text/csv" in list_declared_responses(document, OPERATIONS["get_audit"])["200"]["content"]
    header, *lines = answer.text.splitlines()
    assert header.startswith("id,at,type,user_id")
    assert len(lines) == 5
    assert answer.headers["x-next-cursor"]


def test_every_example_matches_its_schema(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", ()):
                if "example" in parameter:
                    fits(document, parameter["schema"], parameter["example"])
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if "example" in content:
                    try:
                        fits(document, content["schema"], content["example"])
                    except jsonschema.ValidationError as error:
                        raise AssertionError(f"{method} {path}: {json.dumps(content['example'])}") from error
