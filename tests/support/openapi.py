"""Check that every error that a test gets is one that OpenAPI declares for the operation."""

import functools
import re

import httpx

from ticketbox.http.openapi.refusals import list_refusals
from ticketbox.http.rest import PREFIX
from ticketbox.operations.catalogue import load_registry


@functools.cache
def _list_error_codes() -> list[tuple[re.Pattern[str], dict[str, set[str]]]]:
    """The codes by method, by what an address looks like; a word in it goes before a parameter, as in the server."""
    result: dict[str, dict[str, set[str]]] = {}
    for route, operation in sorted(load_registry().list_routes(), key=lambda each: len(each[0].parameters)):
        codes = {each.code for each in list_refusals(route, operation)}
        result.setdefault(re.sub(r"{\w+}", "[^/]+", route.path), {})[route.method] = codes
    return [(re.compile(PREFIX + path), methods) for path, methods in result.items()]


def check_error(response: httpx.Response) -> None:
    """Fail for a refusal with a code that isn't listed; to be hooked into a client."""
    asked = response.request
    if response.headers.get("content-type") != "application/problem+json" or asked.method == "HEAD":
        return
    response.read()
    code = response.json()["code"]
    listed = next((methods for path, methods in _list_error_codes() if path.fullmatch(asked.url.path)), {})
    assert code in listed.get(asked.method, {code}), f"the document doesn't list {code} for {asked}"
