"""The API reference, rendered from the OpenAPI document."""

import functools
import typing
from typing import Any

from litestar import Request, get
from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.asgi import Scope
from ticketbox.edge.compression import allow_compression
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.openapi.document import build_document
from ticketbox.http.openapi.reference import list_groups, list_records
from ticketbox.http.pages.rendering import render_page
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, site: Site) -> list[HTTPRouteHandler]:
    """Create the route of the reference."""

    @functools.cache
    def render_reference() -> Answer:
        document = build_document(registry, site.public_url)
        groups, records = list_groups(document), list_records(document)
        return render_page("reference.html", groups=groups, records=records, document=document)

    @get("/api/docs")
    async def show_reference(request: Request[Any, Any, Any]) -> Answer:
        """Show the API reference."""
        allow_compression(typing.cast(Scope, request.scope))
        return render_reference()

    return [show_reference]
