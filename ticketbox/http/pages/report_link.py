"""The page of a report link, where people without an account report, and the page of their receipt.

Both need no script. `/r/pub_…` is the form, `/r/rcpt_…` shows what became of a report (docs/use/reports.md).
"""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.problems import FieldError, NotFound, Problem
from ticketbox.domain.reports.records import ReportStatus
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.responses import Answer
from ticketbox.http.pages.rendering import render_page
from ticketbox.http.uploads import read_upload
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.operations.reports.preparation import MAX_FILES, MAX_REPORT
from ticketbox.operations.reports.reports import ReportPage, ReportReceipt

_FIELDS = ("title", "description", "name", "email")


def build_routes(registry: Registry, dispatcher: Dispatcher) -> list[HTTPRouteHandler]:
    """Create the routes of both pages."""
    create_report = registry["create_report"]

    @get("/r/{secret:str}")
    async def show_page(request: Request[Any, Any, Any], secret: str) -> Answer:
        """Show the form of a link, or the state of a report."""
        context: RequestContext = typing.cast(Scope, request.scope)["context"]
        try:
            if secret.startswith(secrets.RECEIPT_PREFIX):
                status: ReportStatus = await dispatcher.dispatch(
                    registry["get_report_status"], {"receipt": secret}, context
                )
                return render_page("report_status.html", report=status)
            page: ReportPage = await dispatcher.dispatch(registry["get_report_page"], {"key": secret}, context)
        except NotFound:
            return render_page("report_gone.html", 404)
        return _render_form(page, {})

    @post("/r/{secret:str}", status_code=303)
    async def submit_report(request: Request[Any, Any, Any], secret: str) -> Answer:
        """Store the report, and show its receipt."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        context: RequestContext = scope["context"]
        entered: dict[str, Any] = {}
        try:
            page: ReportPage = await dispatcher.dispatch(registry["get_report_page"], {"key": secret}, context)
        except NotFound:
            return render_page("report_gone.html", 404)
        try:
            await dispatcher.guard(create_report, {"key": secret}, context)
            async with dispatcher.services.uploads.hold((0, context.network)):
                entered = await read_upload(create_report, scope, receive, dispatcher.services)
                files = [each for each in entered.pop("attachments", []) if each["name"] or each["data"]]
                receipt: ReportReceipt = await dispatcher.dispatch(
                    create_report, {"key": secret, **entered, "attachments": files}, context
                )
        except NotFound:
            return render_page("report_gone.html", 404)
        except Problem as problem:
            return _render_form(page, entered, problem)
        return Answer(303, b"", "text/plain", [(b"location", receipt.url.encode())])

    return [show_page, submit_report]


def _render_form(page: ReportPage, entered: dict[str, Any], problem: Problem | None = None) -> Answer:
    """Render the form with the entered texts and their errors; files must be chosen again."""
    field_errors: list[FieldError] = [] if problem is None else problem.extra.get("errors", [])
    answer = render_page(
        "report.html", problem.status if problem else 200, page=page, problem=problem,
        entered={name: entered.get(name, "") for name in _FIELDS},
        id=secrets.generate_secret("report_"),
        errors={error.field: error.message for error in field_errors},
        max_files=MAX_FILES, max_megabytes=MAX_REPORT // 1024**2,
    )  # fmt: skip
    if problem is not None and "retry_after" in problem.extra:
        answer.headers.append((b"retry-after", str(problem.extra["retry_after"]).encode()))
    return answer
