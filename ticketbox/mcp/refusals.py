"""Refused calls as agents read them."""

from typing import Any, cast

import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.mcp import prompts
from ticketbox.mcp.answers import drop_nulls
from ticketbox.mcp.hidden_text import remove_hidden_text


def render_refusal(problem: Problem) -> tuple[str, dict[str, Any]]:
    """Return a refusal as text and as an object, with the same content.

    The text begins with the sentences, `detail` and what to do next, and ends with the members that they don't say, as
    JSON.
    """
    body = remove_hidden_text(cast(dict[str, Any], msgspec.to_builtins(problem.build_body())))
    drop_nulls(body)
    if len(body.get("errors", ())) == 1:
        body["errors"][0].pop("message")  # it is the detail
    advice = prompts.NEXT.get(body["code"])
    if body["code"] == "not_found":
        advice = prompts.NOT_FOUND_NEXT.get(str(body["title"]).removesuffix(" not found"), advice)
    sentences = problem.detail if advice is None else f"{problem.detail.removesuffix('.')}. {advice}"
    said = {"title", "detail", "errors"}
    if all(str(value) in problem.detail for value in body.get("valid", ())):
        said.add("valid")
    rest = {name: value for name, value in body.items() if name not in said}
    structured = body if advice is None else {**body, "next": advice}
    return f"{sentences}\n{msgspec.json.encode(rest).decode()}", structured
