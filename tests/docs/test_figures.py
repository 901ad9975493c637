"""Figures and lists in the pages match the code."""

import inspect
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import msgspec

from tests.docs.pages import ROOT, blocks, headings, table, tables, words
from ticketbox import settings
from ticketbox.cli import main
from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.captures import capture, filters, streams
from ticketbox.domain.captures.images import annotations, processing
from ticketbox.domain.captures.images.formats import raster
from ticketbox.domain.captures.intake import sent_streams
from ticketbox.domain.captures.redaction.rules import RULES
from ticketbox.domain.captures.replay import replay
from ticketbox.domain.captures.source_maps import source_map
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.clock import DAY, MINUTE
from ticketbox.domain.core.fairness import ceilings, limits, processor_time
from ticketbox.domain.core.ids import Prefix
from ticketbox.edge import addresses, edge
from ticketbox.edge.edge import _SECURITY_HEADERS
from ticketbox.http import rest, uploads
from ticketbox.mcp import endpoint
from ticketbox.operations.accounts import (
    address_changes,
    confirmation,
    password_resets,
    profile,
    provider_sign_in,
    sessions,
)
from ticketbox.operations.accounts.second_factor import codes, passkey_checks
from ticketbox.operations.captures import assets, source_maps
from ticketbox.operations.captures.processing import intake
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.companies import columns, invitations, setup
from ticketbox.operations.core import faults, registry
from ticketbox.operations.core.live import listeners, waiting
from ticketbox.operations.core.paging import Limit
from ticketbox.operations.events import events
from ticketbox.operations.reports import key_access, preparation
from ticketbox.store.accounts import account_links
from ticketbox.store.file import readers
from ticketbox.store.git import git_deliveries, git_hooks, git_links
from ticketbox.store.reports import report_keys

DOCS = ROOT / "docs"
API, CAPTURES, COMPANIES, EVENTS, LIMITS, TOKENS = (
    DOCS / "use" / f"{name}.md" for name in ("api", "captures", "companies", "events", "limits", "tokens")
)
CONFIGURATION, SECURITY = (DOCS / "operate" / f"{name}.md" for name in ("configuration", "security"))
MIB = 1024 * 1024


def prose(page: Path) -> str:
    return " ".join(page.read_text("utf-8").split())


def bucket_limit(function: Callable[..., Any] | ModuleType, name: str) -> int:
    """Return the limit per minute with which a function or a module uses a bucket."""
    (figure,) = set(re.findall(rf'services\.limit\([^"]*"{name}", (\d+),', inspect.getsource(function)))
    return int(figure)


def test_tokens_page_lists_scopes() -> None:
    expected = [[f"`{scope}`", *scope.description] for scope in Scope]
    assert table(TOKENS, "Scopes") == expected


def test_companies_page_lists_roles() -> None:
    assert [row[0] for row in table(COMPANIES, "Roles")] == [role.label for role in Role]


def test_tokens_page_lists_operations_without_token_access() -> None:
    routed = {operation.name: operation.scope for _, operation in load_registry().list_routes()}
    listed = words([row[1] for row in table(TOKENS, "Operations that require a web session")])
    assert sorted(listed) == sorted(name for name, scope in routed.items() if scope is Access.SESSION)
    (sentence,) = re.findall(r"These require no credential: (.*?)\.", prose(TOKENS))
    assert sorted(words([sentence])) == sorted(name for name, scope in routed.items() if scope is Access.PUBLIC)
    assert [name for name, scope in routed.items() if scope is Access.ANY] == ["get_me"]


def test_pages_describe_the_format_of_secrets() -> None:
    assert len(secrets.generate_secret()) == len(secrets.PREFIX) + 30 + 6
    assert len(secrets.generate_secret()[: secrets.VISIBLE_LENGTH]) == 10
    for page in (TOKENS, SECURITY):
        assert "`tok_`, 30" in prose(page)
        assert "178" in prose(page)
    assert "first 10 characters" in prose(TOKENS)


def test_limits_page_matches_the_code() -> None:
    budgets, anonymous, requests, uploading, files, others = (
        {row[0]: row[1] for row in table(LIMITS, heading)}
        for heading in ("Budgets", "Before authentication", "Requests", "Uploads", "Captures and files", "Others")
    )
    assert dict(table(LIMITS, "Processor time")) == {
        "a company": f"{processor_time.COMPANY_SECONDS}",
        "a credential": f"{processor_time.CREDENTIAL_SECONDS}",
        "a report key": f"{preparation.KEY_SECONDS}",
        "reports from an address": f"{preparation.ADDRESS_SECONDS}",
    }
    most = settings.DEFAULT_CAPTURE_SECONDS
    assert f"A single capture may take {most} s, a report {most * preparation.TIME_SHARE:g} s." in prose(LIMITS)
    assert uploading == {
        "uploads in memory at a time": f"{settings.DEFAULT_UPLOADS}; others wait",
        "of an account": f"{settings.DEFAULT_UPLOADS // 2}",
        "of a credential": "1",
        "slowest upload": f"{settings.DEFAULT_UPLOAD_RATE:,} bytes a second, measured over "
        f"{uploads.PAUSE_SECONDS:.0f} s",
        "wait for a turn": f"{settings.DEFAULT_QUEUE_SECONDS} s",
    }
    assert budgets == {
        "reads of a token": f"{limits.DEFAULT_READS} a minute",
        "writes of a token": f"{limits.DEFAULT_WRITES} a minute",
        "reads of a web session": f"{limits.DEFAULT_READS * limits.SESSION_FACTOR:,} a minute",
        "writes of a web session": f"{limits.DEFAULT_WRITES * limits.SESSION_FACTOR:,} a minute",
        "tickets in a bulk call": f"{limits.MAX_BULK}",
    }
    assert f"suffices within {limits.MAX_WAIT_SECONDS:.0f} seconds waits" in prose(LIMITS)
    assert f"Up to {limits.MAX_WAITING} calls wait for a budget" in prose(LIMITS)
    assert f"At most {limits.MAX_BUCKETS:,} buckets are kept" in prose(LIMITS)
    assert anonymous == {
        "requests without a credential, from an address": f"{edge.ANONYMOUS_PER_MINUTE} a minute",
        "bad credentials, from an address": f"{addresses.BAD_CREDENTIALS_PER_MINUTE} a minute",
        "attempts to sign in, from an address": f"{bucket_limit(sessions, 'sign-in')} a minute",
        "attempts to sign in to one account, from an address":
            f"{bucket_limit(sessions, 'sign-in-account')} a minute",
        "attempts to sign in to one account, from unknown addresses":
            f"{bucket_limit(sessions, 'sign-in-strangers')} a minute",
        "attempts to sign in to one account, with a known device":
            f"{bucket_limit(sessions, 'sign-in-device')} a minute",
        "attempts to confirm or change one's password": f"{bucket_limit(confirmation, 'password')} a minute",
        "new email addresses of an account": f"{bucket_limit(profile, 'address')} a minute",
        "new email addresses of an account that other accounts have, without a mail server":
            f"{address_changes.MAX_TAKEN_A_DAY} a day; then none for a day",
        "sign-ins with an identity provider, begun or answered, from an address":
            f"{provider_sign_in.PER_MINUTE} a minute each",
        "codes of the second factor of an account": f"{codes.PER_MINUTE} a minute",
        "sign-ins with a passkey, begun or answered, from an address": f"{passkey_checks.PER_MINUTE} a minute each",
        "links of the operator to sign in, from an address": f"{bucket_limit(sessions, 'sign-in-link')} a minute",
        "requests for new passwords, from an address":
            f"{bucket_limit(password_resets, 'password-reset')} a minute",
        "links for a new password of an account": f"{account_links.MAX_REQUESTS} a day",
        "links for new passwords tried, from an address": f"{bucket_limit(password_resets, 'password-link')} a minute",
        "attempts to set up, from an address": f"{bucket_limit(setup.check_key_and_hash_password, 'set-up')} a minute",
        "invitation links tried, from an address": f"{bucket_limit(invitations, 'invitation')} a minute",
        "new accounts by invitations of a person, with an address that has an account":
            f"{invitations.MAX_TAKEN_A_DAY} a day; then no new ones for a day",
    }  # fmt: skip
    bounds = msgspec.json.schema(Limit)
    (default,) = {
        operation.arguments.__struct_defaults__[operation.arguments.__struct_fields__.index("limit") - len(
            operation.arguments.__struct_fields__)]
        for operation in load_registry() if "cursor" in operation.arguments.__struct_fields__
    }  # fmt: skip
    assert requests == {
        "address with its query": f"{edge.MAX_TARGET:,} bytes",
        "headers": f"{edge.MAX_HEADERS}",
        "query parameters": "100",
        "JSON body": f"{registry.MAX_JSON // MIB} MiB; {registry.MAX_PUBLIC_JSON // 1024} KiB without a credential",
        "members of a JSON body": f"{faults.MAX_MEMBERS:,}",
        "time for a JSON body to arrive": f"{rest.BODY_SECONDS:.0f} s",
        "MCP message": f"{endpoint.MAX_MESSAGE // MIB} MiB; with a file {endpoint.MAX_FILE_MESSAGE // MIB} MiB",
        "whole upload": f"{registry.MAX_UPLOAD // MIB} MiB",
        "time for an upload to arrive": f"{uploads.UPLOAD_SECONDS:.0f} s",
        "a database query": f"{readers.READ_SECONDS:.0f} s",
        "items on a page of a list": f"{bounds['minimum']} to {bounds['maximum']}, {default} by default",
        "an answer kept under its Idempotency-Key": f"{DAY // MINUTE // 60} h",
    }
    assert files == {
        "screenshot": f"{processing.MAX_SCREENSHOT_BYTES // 1_000_000} MB",
        "image": f"{raster.MAX_PIXELS // 1_000_000} megapixels, and {raster.MAX_SIDE:,} pixels per side",
        "WebP image": f"{raster.MAX_WEBP_PIXELS // 1_000_000} megapixels",
        "a stored stream": f"{streams.MAX_BYTES // MIB} MiB and {streams.MAX_ENTRIES:,} entries",
        "a sent stream": f"{sent_streams.MAX_INFLATED // MIB} MiB inflated, {sent_streams.MAX_READ:,} entries and "
        f"{sent_streams.MAX_QUOTES // 2:,} strings",
        "a replay": f"{replay.MAX_SENT // MIB} MB as sent, {replay.MAX_INFLATED // MIB} MiB inflated, "
        f"{replay.MAX_EVENTS:,} events, {replay.MAX_OBJECTS:,} JSON objects in one event; a larger one is left out",
        "strings in one entry": f"{sent_streams.MAX_ENTRY_QUOTES // 2:,}",
        "processor time of a capture": f"{settings.DEFAULT_CAPTURE_SECONDS} s; longer ones get 413",
        "the part `capture`": f"{uploads.MAX_ENVELOPE // MIB} MiB",
        "attachments in one capture": f"{intake.MAX_ATTACHMENTS}",
        "attachments of a ticket": f"{assets.MAX_ATTACHMENTS_PER_TICKET}",
        "source map": f"{source_map.MAX_BYTES // MIB} MB and {source_map.MAX_SOURCES:,} sources",
        "source maps of a project": f"{source_maps.MAX_MAPS:,}",
        "annotations on an image": f"{annotations.MAX_ANNOTATIONS}",
        "points of all pen lines on an image": f"{annotations.MAX_POINTS:,}",
    }
    shared = [
        ("event streams", listeners.MAX_LISTENERS_PER_CREDENTIAL, listeners.MAX_LISTENERS, listeners.ACCOUNT_QUOTA),
        (
            "waiting calls",
            listeners.MAX_WAITING_PER_CREDENTIAL,
            listeners.MAX_WAITING,
            listeners.WAITING_ACCOUNT_QUOTA,
        ),
    ]
    assert others == {
        "columns of a board": f"{columns.MAX_COLUMNS}",
        "report keys of a project": f"{report_keys.MAX_KEYS}",
        "reports from an address": f"{key_access.ADDRESS_PER_MINUTE} a minute; further ones get 429",
        "a report": f"{preparation.MAX_REPORT // 1024**2} MiB with up to {preparation.MAX_FILES} files, and "
        f"{preparation.MAX_INFLATED // 1024**2} MiB of streams inflated",
        "git hooks of a project": f"{git_hooks.MAX_HOOKS}",
        "links of a ticket to repositories": f"{git_links.MAX_LINKS}",
        "git deliveries of a hook that wait": f"{git_deliveries.MAX_WAITING:,}; further ones get 503",
        "a git delivery": f"{load_registry()['receive_git_delivery'].max_body // 1024**2} MiB",
        "companies that an account creates": f"{ceilings.DEFAULT_COMPANIES}",
        "a waiting call": f"{waiting.MAX_WAIT_SECONDS} s",
        **{
            f"{noun} of a credential, an account": f"{one}, {most * share:,.0f}; further ones get 429"
            for noun, one, most, share in shared
        },
        **{
            f"{noun} of a company, in total": f"{most * listeners.COMPANY_QUOTA:,.0f}, {most:,}; further ones get 503"
            for noun, _, most, _ in shared
        },
        "a web session": f"{sessions.LIFETIME // DAY} days",
        "an invitation": f"{invitations.LIFETIME // DAY} days",
        "a set-up address": f"{setup.SETUP_MINUTES} minutes",
    }


def test_captures_page_lists_parts_and_fields() -> None:
    parts, fields = tables(CAPTURES, "Send a capture")
    taken = intake.CreateCapture.__struct_fields__
    assert words([row[0] for row in parts]) == [name for name in taken if name != "idempotency_key"]
    needed = {field.name for field in msgspec.structs.fields(intake.Envelope) if field.required}
    assert set(words([row[0] for row in fields])) == set(intake.Envelope.__struct_fields__)
    assert {row[0].strip("`") for row in fields if row[2] == "yes"} == needed


def test_captures_page_lists_stream_entries() -> None:
    for heading, kind in (
        ("Console entries", capture.ConsoleEntry),
        ("Network entries", capture.NetworkEntry),
        ("Error entries", capture.ErrorEntry),
    ):
        assert words([row[0] for row in table(CAPTURES, heading)]) == list(kind.__struct_fields__)
        needed = [f"`{field.name}`" for field in msgspec.structs.fields(kind) if field.required]
        assert f"{', '.join(needed[:-1])} and {needed[-1]} are required." in prose(CAPTURES)


def test_captures_page_describes_health_and_truncation() -> None:
    statuses, reasons = tables(CAPTURES, "Health")
    assert words([row[0] for row in statuses]) == [status.value for status in capture.HealthStatus]
    assert words([row[0] for row in reasons]) == [reason.value for reason in capture.HealthReason]
    assert f"at most {streams.MAX_ENTRIES:,} entries and {streams.MAX_BYTES // MIB} MiB" in prose(CAPTURES)
    assert f"the {sent_streams.EDGE_ENTRIES} oldest and the {sent_streams.EDGE_ENTRIES} newest" in prose(CAPTURES)
    assert f"Beyond {sent_streams.MAX_READ:,} entries or {sent_streams.MAX_INFLATED // MIB} MiB" in prose(CAPTURES)
    assert f"within {filters.AROUND_MS // 1000} s of it" in prose(CAPTURES)


def test_captures_page_lists_what_redaction_removes() -> None:
    assert words([row[0] for row in tables(CAPTURES, "Redaction")[0]]) == list(capture.Redaction.__struct_fields__)
    (sentence,) = re.findall(r"These are removed whole: (.*?)\. Of all", prose(CAPTURES))
    assert set(words([sentence])) == RULES.headers.removed
    (shown,) = [block for block in blocks(CAPTURES, "text") if "user-agent" in block]
    assert set(shown.split()) == RULES.headers.harmless | {f"{family}…" for family in RULES.headers.harmless_prefixes}


def test_pages_list_ids_channels_idempotent_operations_and_events() -> None:
    unused = {"hook_", "app_"}  # no response contains such an id yet
    prefixes = {prefix.value for prefix in Prefix}
    assert prefixes - unused <= set(words([row[0] for row in table(API, "Ids")])) <= prefixes
    (channels,) = re.findall(r"`via` is the channel: (.*?) \(the command line on the server's machine\)", prose(API))
    assert [word for word in words([channels]) if ":" not in word] == [via.value for via in Via]
    (creates,) = re.findall(
        r"These operations accept an `Idempotency-Key` of up to 200 characters: (.*?)\.", prose(API)
    )
    assert sorted(words([creates])) == sorted(each.name for each in load_registry() if each.accepts_idempotency_key)
    listed = words([row[1] for row in table(EVENTS, "Event types")])
    assert sorted(listed) == sorted(kind.value for kind in events.EventType)


def test_configuration_page_lists_flags_of_serve() -> None:
    command = main.get_command(click.Context(main), "serve")
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    rows = table(CONFIGURATION, "Flags and environment")
    assert [words(row[:2]) for row in rows] == [
        [*option.opts, *option.secondary_opts, str(option.envvar)] for option in options
    ]
    for row, option in zip(rows, options, strict=True):
        if isinstance(option.default, str | int) and not isinstance(option.default, bool):
            assert row[2] == str(option.default)


def test_security_page_describes_password_hash_and_headers() -> None:
    hasher = passwords._get_hasher()
    assert hasher.parallelism == 1
    assert f"{hasher.time_cost} passes over {hasher.memory_cost // 1024} MiB, one lane" in prose(SECURITY)
    for name, value in _SECURITY_HEADERS:
        pattern = rf"`{name.decode()}[`:][^.]*{re.escape(value.decode())}"
        assert re.search(pattern, prose(SECURITY), re.IGNORECASE), name


def test_every_dependency_is_in_decision_6() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = tables(DOCS / "decisions" / "0006-dependencies.md", "Decision")
    groups = project["dependency-groups"]
    extras = [line for extra in project["project"]["optional-dependencies"].values() for line in extra]
    development = [line for line in (*groups["dev"], *groups["release"], *extras) if isinstance(line, str)]
    for rows, needed in zip(listed[:2], (project["project"]["dependencies"], development), strict=True):
        assert sorted(words([row[0] for row in rows])) == sorted(re.split(r"[\[<>=; ]", line)[0] for line in needed)
    web = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))["devDependencies"]
    assert {name for name in web if not name.startswith("@types/")} == {
        name if name[0] != "-" else f"@atlaskit/pragmatic-drag-and-drop{name}"
        for name in words([row[0] for row in listed[2]])
    }


def test_decisions_are_numbered_and_have_all_sections() -> None:
    pages = sorted((DOCS / "decisions").glob("*.md"))
    numbers = [int(page.name[:4]) for page in pages]  # one that no longer applies is deleted; its number stays free
    assert numbers == sorted(set(numbers))
    for page in pages:
        assert headings(page)[0].startswith(f"{int(page.name[:4])}. ")
        assert headings(page)[1:] == ["Context", "Decision", "Consequences"]
