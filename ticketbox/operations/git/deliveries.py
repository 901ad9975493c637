"""Receive the signed deliveries of repositories. What they say is applied when their turn comes (docs/use/git.md)."""

import hashlib
from enum import StrEnum
from urllib.parse import parse_qs

import msgspec

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidRequest, Unauthorized, Unavailable
from ticketbox.domain.git import github_payload, gitlab_payload
from ticketbox.domain.git.changes import GitChanges
from ticketbox.domain.git.signatures import Provider, Signature, is_signed
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Write
from ticketbox.store.git import git_deliveries, git_hooks

FULL_SECONDS = 60
MAX_FIELDS = 10  # of a form
MAX_OBJECTS = 50_000  # a push with 2,048 commits has about 10,000


class ReceiveGitDelivery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A delivery: the secret of its address, its signature, and its body, which a form can contain."""

    address: str
    signature: Signature
    body: bytes
    is_form: bool = False


class DeliveryReceipt(StrEnum):
    """What becomes of a delivery."""

    QUEUED = "queued"
    IGNORED = "ignored"
    REPEATED = "repeated"


class ReceivedDelivery(msgspec.Struct, frozen=True):
    """The answer to a delivery: `ignored` if it isn't about anything that tickets link to."""

    status: DeliveryReceipt


class _SignedDelivery(msgspec.Struct, frozen=True):
    """A delivery whose signature is right: its hook and what it says."""

    hook: int
    changes: GitChanges


def build_refusal() -> Unauthorized:
    """Build the refusal of a delivery, which doesn't say what is wrong with it."""
    return Unauthorized("this address doesn't exist, or the delivery isn't signed with its secret")


async def check_delivery(
    services: Services, actor: Actor, args: ReceiveGitDelivery, context: RequestContext
) -> _SignedDelivery:
    """Check the signature, then read the body. Raises Unauthorized and InvalidRequest."""
    address = secrets.hash_secret(args.address)
    hook = await services.read(lambda tx: git_hooks.find_by_address(tx, address), (0, context.network))
    if hook is None or not is_signed(args.signature, hook.secrets, args.body):
        raise build_refusal()
    body = args.body
    try:
        if args.is_form:
            body = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=MAX_FIELDS)["payload"][0].encode()
        if body.count(b"{") > MAX_OBJECTS:  # decoded, each can take fifty times its length
            raise InvalidRequest("the delivery has too many objects")
        provider = args.signature.provider
        is_gitlab = provider is Provider.GITLAB
        changes = gitlab_payload.read_payload(body) if is_gitlab else github_payload.read_payload(provider, body)
    except (msgspec.DecodeError, RecursionError, ValueError, KeyError):
        raise InvalidRequest("the body isn't a delivery of GitHub, GitLab, Gitea or Forgejo") from None
    return _SignedDelivery(hook.key, changes)


@operation(
    "receive_git_delivery", scope=Access.PUBLIC, budget=Budget.NONE, prepare=check_delivery, max_body=5 * 1024 * 1024
)
def receive_git_delivery(
    tx: Write, actor: Actor, args: ReceiveGitDelivery, signed: _SignedDelivery
) -> ReceivedDelivery:
    """Queue a signed delivery. The same body counts once."""
    if not git_hooks.is_there(tx, signed.hook):
        raise build_refusal()
    if git_deliveries.is_full(tx, signed.hook):
        raise Unavailable(
            "too many deliveries of this repository wait; deliver it again later", retry_after=FULL_SECONDS
        )
    if not git_deliveries.insert_delivery(tx, signed.hook, hashlib.sha256(args.body).digest(), signed.changes):
        return ReceivedDelivery(DeliveryReceipt.REPEATED)
    if not signed.changes:
        return ReceivedDelivery(DeliveryReceipt.IGNORED)
    tx.wake_jobs()
    return ReceivedDelivery(DeliveryReceipt.QUEUED)
