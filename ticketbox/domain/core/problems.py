"""Every error that a caller can get, in one hierarchy (docs/reference/errors.md; RFC 9457).

All layers raise these; the surfaces render them. `title` names the condition, programs compare `code`, and
`detail` says what the caller can do.
"""

from typing import Any, ClassVar

import msgspec


class FieldError(msgspec.Struct, frozen=True):
    """One wrong part of the input. `field` is its path with dots; an empty path means the whole."""

    field: str
    message: str


class Problem(Exception):
    """An error that the caller can understand. Subclasses set the status, code and title."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "internal error"

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the problem, for worker processes: its constructor isn't that of other exceptions."""
        return _restore_problem, (type(self), self.detail), self.__dict__

    def build_body(self) -> dict[str, Any]:
        """Return the members of the problem document, without `type`, in a fixed order."""
        return {
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            **self.extra,
        }


def _restore_problem(kind: type[Problem], detail: str) -> Problem:
    problem = kind.__new__(kind)
    Exception.__init__(problem, detail)
    return problem


class Unauthorized(Problem):
    """No credential, or one that is wrong, expired or revoked.

    `scope` is the scope that a token for this call needs, for the challenge (RFC 6750, 3); None if it isn't known.
    """

    status, code, title = 401, "unauthorized", "unauthorized"
    scope: str | None = None


class InvalidToken(Unauthorized):
    """A token was sent, and it is wrong, expired or revoked; the challenge says so (RFC 6750, 3.1)."""

    def __init__(self) -> None:
        super().__init__("the credential is wrong, expired or revoked")


class Forbidden(Problem):
    """The caller may not do this: role, restriction, or an operation that requires a web session."""

    status, code, title = 403, "forbidden", "forbidden"


class PasswordRequired(Problem):
    """The session must confirm the account's password first: call `confirm_password`, or send `current_password`."""

    status, code, title = 403, "password_required", "forbidden"

    def __init__(self) -> None:
        super().__init__(
            "confirm your password first: send it to POST /session/confirmation, or send current_password if this "
            "operation accepts it; a passkey confirms it, too"
        )


class SecondFactorRequired(Problem):
    """The account signs in with a second factor: send the same call with a `code`."""

    status, code, title = 403, "second_factor_required", "forbidden"

    def __init__(self) -> None:
        super().__init__(
            "this account requires a second factor: send a code of the authenticator app, or a recovery code, as code"
        )


class WrongCode(Problem):
    """The password is right, and the code of the second factor is wrong or was already used."""

    status, code, title = 403, "wrong_code", "forbidden"

    def __init__(self) -> None:
        super().__init__("the code is wrong, or was already used")


class InsufficientScope(Problem):
    """The token lacks the scope that the operation declares; `scope` names it."""

    status, code, title = 403, "insufficient_scope", "forbidden"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this requires a token with the scope {scope}", scope=scope)


class CrossCompanyMove(Problem):
    """A ticket can't be moved to another company."""

    status, code, title = 403, "cross_company_move", "forbidden"

    def __init__(self) -> None:
        super().__init__("a ticket can't be moved to a column of another company")


class NotFound(Problem):
    """The row doesn't exist, or the caller can't see it: the answer is the same."""

    status, code, title = 404, "not_found", "not found"

    def __init__(self, noun: str, detail: str | None = None) -> None:
        super().__init__(detail or f"{noun} not found")
        self.noun = noun

    def build_body(self) -> dict[str, Any]:
        """Return the members with the noun in the title: "ticket not found"."""
        return {**super().build_body(), "title": f"{self.noun} not found"}


class MethodNotAllowed(Problem):
    """The path exists but supports other methods; `valid` lists them."""

    status, code, title = 405, "method_not_allowed", "method not allowed"

    def __init__(self, valid: list[str], detail: str | None = None) -> None:
        super().__init__(detail or f"this address supports {', '.join(valid)}", valid=valid)


class Conflict(Problem):
    """The request is valid but conflicts with what is stored."""

    status, code, title = 409, "conflict", "conflict"


class VersionConflict(Conflict):
    """The record changed since the caller read it; `current` is its present state."""

    code = "version_conflict"


class PreconditionFailed(Problem):
    """If-Match names no version that could match (RFC 9110, 13.1.1)."""

    status, code, title = 412, "precondition_failed", "precondition failed"


class TicketArchived(Conflict):
    """The ticket is archived; it must be restored first."""

    code = "ticket_archived"

    def __init__(self) -> None:
        super().__init__("the ticket is archived; restore it first")


class AlreadyClaimed(Conflict):
    """Somebody else works on the ticket; `claim` shows who and until when."""

    code = "already_claimed"


class LeaseExpired(Conflict):
    """The lease is wrong or no longer valid, and nobody else works on the ticket."""

    code = "lease_expired"


class QuestionClosed(Conflict):
    """The question was answered, or its work has ended; `answer` is the accepted answer, or null."""

    code = "question_closed"


class ApprovalRequired(Conflict):
    """A gate of the project: a person must approve this first. The detail says how to ask for it."""

    code = "approval_required"


class ProofRequired(ApprovalRequired):
    """A gate of the project: verifications or evidence must prove the work first. No person is asked instead."""


class InvalidRequest(Problem):
    """The input breaks its schema or a rule; `errors` points at the fields."""

    status, code, title = 400, "invalid_request", "invalid request"

    def __init__(self, detail: str, *errors: FieldError, **extra: Any) -> None:
        if errors:
            extra["errors"] = list(errors)
        super().__init__(detail, **extra)


class InvalidField(InvalidRequest):
    """One wrong field, whose message is also the detail. An empty `field` means the whole input."""

    def __init__(self, field: str, message: str, **extra: Any) -> None:
        super().__init__(f"{field}: {message}" if field else message, FieldError(field, message), **extra)


class PayloadTooLarge(Problem):
    """A body, part or picture exceeds its limit, which the detail names."""

    status, code, title = 413, "payload_too_large", "payload too large"


class MisdirectedRequest(Problem):
    """The Host header names a site that this server isn't (RFC 9110, 15.5.20)."""

    status, code, title = 421, "misdirected_request", "misdirected request"


class RequestTimeout(Problem):
    """The body didn't arrive in time (RFC 9110, 15.5.9)."""

    status, code, title = 408, "request_timeout", "request timeout"


class NotAcceptable(Problem):
    """The Accept header excludes the only type of the answer (RFC 9110, 15.5.7)."""

    status, code, title = 406, "not_acceptable", "not acceptable"


class UnsupportedMediaType(Problem):
    """The body's type, declared or detected, isn't supported; `valid` lists those that are."""

    status, code, title = 415, "unsupported_media_type", "unsupported media type"


class RateLimited(Problem):
    """A budget is exhausted; `retry_after` is whole seconds, rounded up.

    `limit` is the name under which the metrics count the refusal by a limit that isn't a bucket; buckets count theirs.
    """

    status, code, title = 429, "rate_limited", "rate limited"

    def __init__(self, retry_after: int, what: str, limit: str | None = None) -> None:
        super().__init__(f"{what}; try again in {retry_after} s", retry_after=retry_after)
        self.retry_after = retry_after
        self.limit = limit


class Unavailable(Problem):
    """The server is stopping, a part of it couldn't be loaded, or a query exceeded its time limit."""

    status, code, title = 503, "unavailable", "service unavailable"


class StorageFull(Problem):
    """The disk is full: nothing was written; reads still work."""

    status, code, title = 507, "storage_full", "storage full"

    def __init__(self, disk: str = "the disk") -> None:
        super().__init__(f"{disk} is full, so nothing was written; free some space and try again")


class CompanyStorageFull(Problem):
    """The captures and attachments of the company take all the space that the operator allows it (RFC 4331)."""

    status, code, title = 507, "company_storage_full", "storage full"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"the company may store {most:,} bytes of captures and attachments, so nothing was written; delete some, "
            "or ask the server's operator for more"
        )


PROBLEMS: tuple[type[Problem], ...] = (
    Unauthorized, Forbidden, PasswordRequired, SecondFactorRequired, WrongCode, InsufficientScope, CrossCompanyMove,
    NotFound, MethodNotAllowed, Conflict,
    VersionConflict, PreconditionFailed, TicketArchived, AlreadyClaimed, LeaseExpired, QuestionClosed,
    ApprovalRequired, InvalidRequest,
    NotAcceptable, PayloadTooLarge, UnsupportedMediaType, RequestTimeout, MisdirectedRequest, RateLimited, Unavailable,
    StorageFull, CompanyStorageFull,
)  # fmt: skip
