"""`POST /hooks/git/SECRET`: the signed deliveries of repositories (docs/use/git.md).

An address that can't exist and a delivery without a signature are refused before the body is read.
"""

import typing
from typing import Any

import msgspec
from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts import secrets
from ticketbox.domain.git.signatures import read_signature
from ticketbox.edge.asgi import Receive, Scope, read_body
from ticketbox.edge.responses import Answer
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.operations.git.deliveries import ReceiveGitDelivery, build_refusal
from ticketbox.operations.git.hooks import HOOK_PATH

BODY_SECONDS = 30.0
_FORM = "application/x-www-form-urlencoded"


def build_route(registry: Registry, dispatcher: Dispatcher) -> HTTPRouteHandler:
    """Create the route."""

    @post(f"{HOOK_PATH}{{address:str}}", status_code=202)
    async def receive_delivery(request: Request[Any, Any, Any], address: str) -> Answer:
        """Queue a signed delivery."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        context: RequestContext = scope["context"]
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        signature = read_signature(headers)
        if signature is None or not secrets.is_well_formed(address, secrets.GIT_ADDRESS_PREFIX):
            raise build_refusal()
        operation = registry["receive_git_delivery"]
        body = await read_body(scope, receive, operation.max_body, BODY_SECONDS)
        is_form = headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM
        arguments = ReceiveGitDelivery(address, signature, body, is_form)
        received = await dispatcher.dispatch(operation, arguments, context)
        return Answer(202, msgspec.json.encode(received), "application/json")

    return receive_delivery
