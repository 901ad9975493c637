"""Clients' addresses, and the limit on bad credentials from one of them."""

from ipaddress import ip_address

from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.network.client_networks import find_ipv4
from ticketbox.domain.core.problems import Problem, RateLimited, Unauthorized
from ticketbox.edge.asgi import Scope, list_header_values
from ticketbox.edge.site import Site
from ticketbox.operations.core.context import RequestContext

BAD_CREDENTIALS_PER_MINUTE = 60
ENDED_CREDENTIALS_PER_MINUTE = 600


def find_client_address(site: Site, scope: Scope) -> str:
    """Return the client's address: the peer's, or the one that a trusted proxy forwards."""
    client = scope.get("client")
    address = find_ipv4(client[0]) if client else "local"
    known = site.by_socket if client is None else site.proxies
    if not known or not _is_proxy(site, address):
        return address
    forwarded = [part.strip() for line in list_header_values(scope, b"x-forwarded-for") for part in line.split(",")]
    for candidate in reversed(forwarded):
        try:
            ip_address(candidate)
        except ValueError:
            return address
        address = find_ipv4(candidate)
        if not _is_proxy(site, address):
            break
    return address


def _is_proxy(site: Site, address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address == "local"
    return any(parsed in network for network in site.proxies)


def limit_bad_credentials(limiter: RateLimiter, problem: Problem, context: RequestContext) -> Problem:
    """Replace the problem by a 429 after too many bad credentials from an address.

    Only refusals draw on this bucket, so guesses never block clients with a valid credential at the same address. A
    credential that was valid once is no guess: it has a separate bucket, so that its holder reads that it ended.
    """
    if not isinstance(problem, Unauthorized):
        return problem
    key: tuple[str, object] = ("bad-credential", context.network)
    per_minute = BAD_CREDENTIALS_PER_MINUTE
    if context.credential_ended:
        key, per_minute = ("ended-credential", context.secret_hash), ENDED_CREDENTIALS_PER_MINUTE
    level = context.level = limiter.consume(key, "bad-credentials", per_minute)
    if level.retry_after:
        problem = RateLimited(level.retry_after, "too many bad credentials from this address")
        context.refusal = problem.code
    return problem
