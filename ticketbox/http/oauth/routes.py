"""The OAuth authorization server (docs/use/oauth.md). Its operations decide; errors have the form of the RFCs."""

from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.site import Site
from ticketbox.http.oauth import consent, endpoints, metadata
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the authorization server."""
    return [
        *metadata.build_routes(site, dispatcher.services.client_metadata),
        *endpoints.build_routes(registry, dispatcher),
        *consent.build_routes(registry, dispatcher, site),
    ]
