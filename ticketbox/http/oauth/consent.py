"""The authorization endpoint and its consent page, which also works without scripts."""

from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts import oauth
from ticketbox.domain.accounts.oauth import OAuthError
from ticketbox.domain.core.problems import InvalidField, NotFound, Problem, Unauthorized
from ticketbox.edge.asgi import get_header, parse_query
from ticketbox.edge.responses import Answer, build_json_answer
from ticketbox.edge.site import Site
from ticketbox.http.oauth.requests import build_runner, get_parts, select_known_fields
from ticketbox.http.pages.rendering import read_form, refuse_cross_site_form, render_page, render_sign_in_page
from ticketbox.operations.accounts.oauth.authorizations import Consent, ConsentAnswer, SignInFirst
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

MAX_FIELDS = 1_200


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the authorization endpoint."""
    run_operation = build_runner(registry, dispatcher)

    @get("/oauth/authorize")
    async def show_consent(request: Request[Any, Any, Any]) -> Answer:
        """Show the sign-in page, the consent page or an error (RFC 6749, 3.1)."""
        scope, _, context = get_parts(request)
        try:
            fields = {name: value for name, value in parse_query(scope).items() if value}
            consent: Consent | SignInFirst = await run_operation(
                "authorize", select_known_fields(fields, registry["authorize"]), context
            )
        except OAuthError as error:
            return _render_error(error, site)
        except Problem as problem:
            return _render_note("The app can’t be connected", problem.detail, problem.status)
        return_to = f"/oauth/authorize?{scope['query_string'].decode('latin-1')}"
        if isinstance(consent, SignInFirst):
            target = None if consent.redirect_uri is None else oauth.build_form_source(consent.redirect_uri)
            return render_sign_in_page(
                dispatcher.services, return_to, consent.email, form_to=target, fresh=bool(consent.email)
            )
        return _render_consent_page(consent, return_to)

    @post("/oauth/authorize", status_code=303)
    async def submit_consent(request: Request[Any, Any, Any]) -> Answer:
        """Handle the consent form."""
        scope, receive, context = get_parts(request)
        refuse_cross_site_form(scope, site)
        pairs = await read_form(scope, receive, MAX_FIELDS)
        form = dict(pairs)
        handle = {"handle": form.get("handle", "")}
        selected = {value for name, value in pairs if name in {"scope", "company"} or name.startswith("projects-")}
        try:
            if form.get("decision") == "deny":
                consented: ConsentAnswer = await run_operation("deny_request", handle, context)
            elif form.get("decision") == "approve":
                selection = _read_selection(pairs)
                consented = await run_operation("approve_request", {**handle, **selection}, context)
            else:
                raise InvalidField("decision", "approve or deny")
            is_script = "application/json" in (get_header(scope, b"accept") or "")
            return _redirect_with_answer(consented, site, is_script=is_script)
        except Problem as problem:
            if isinstance(problem, Unauthorized) or (isinstance(problem, NotFound) and problem.noun == "request"):
                return _render_expired(problem)
            try:
                consent = await run_operation("show_consent", handle, context)
            except Problem as other:
                return _render_expired(other)
            return _render_consent_page(consent, None, selected, problem)

    return [show_consent, submit_consent]


def _read_selection(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the selected scopes and restriction; projects only count for the selected company."""
    company = dict(pairs).get("company") or None
    choice: dict[str, Any] = {"scopes": [value for name, value in pairs if name == "scope"]}
    if company is not None:
        choice["company_id"] = company
        choice["project_ids"] = [value for name, value in pairs if name == f"projects-{company}"] or None
    return choice


def _render_consent_page(
    consent: Consent, return_to: str | None, selected: set[str] | None = None, problem: Problem | None = None
) -> Answer:
    if selected is None:
        only = consent.companies[0].id if len(consent.companies) == 1 else ""
        selected = {*consent.preselected, only}
    return render_page(
        "consent.html",
        problem.status if problem else 200,
        form_to=oauth.build_form_source(consent.redirect_uri),
        scripts=True,
        consent=consent,
        return_to=return_to,
        selected=selected,
        problem=problem,
        host=oauth.format_host(consent.redirect_uri),
        local=oauth.is_on_this_machine(consent.redirect_uri),
    )


def _redirect_with_answer(answer: ConsentAnswer, site: Site, *, is_script: bool) -> Answer:
    """Redirect to the client with the answer and the issuer (RFC 9207). The page's script gets the address instead.

    A custom URL scheme opens an app and leaves the tab open, so this shows a page that says so.
    """
    error = "access_denied" if answer.code is None else None
    address = oauth.add_response_parameters(
        answer.redirect_uri, code=answer.code, error=error, state=answer.state, iss=site.public_url
    )
    if not answer.redirect_uri.startswith(("http://", "https://")):
        title = "App connected" if answer.code else "App not connected"
        return render_page("done.html", 200, title=title, detail="", address=address)
    if is_script:
        return build_json_answer({"location": address})
    return Answer(303, b"", "text/plain", [(b"location", address.encode())])


def _render_error(error: OAuthError, site: Site) -> Answer:
    """Show why a request isn't valid, with a link back to the app.

    Nobody is redirected without a decision: anybody can register an app with any address (RFC 9700, 4.11.2).
    """
    if error.redirect_uri is None:
        return _render_note("The app can’t be connected", error.detail, error.status)
    back = oauth.add_response_parameters(
        error.redirect_uri, error=error.error, error_description=error.detail, state=error.state, iss=site.public_url
    )
    host = oauth.format_host(error.redirect_uri)
    return render_page(
        "done.html", 400, title="The app can’t be connected", detail=error.detail, address=None, back=back, host=host
    )


def _render_note(title: str, detail: str, status: int) -> Answer:
    return render_page("done.html", status, title=title, detail=detail, address=None)


def _render_expired(problem: Problem) -> Answer:
    if isinstance(problem, Unauthorized):
        return _render_note("This request has expired", "you are no longer signed in", problem.status)
    return _render_note("This request has expired", problem.detail, problem.status)
