"""Options for the OpenID Connect provider (docs/operate/single-sign-on.md)."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import click

from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.accounts.identity_provider import (
    ProviderSettings,
    parse_email_domain,
    parse_group_role,
    parse_issuer,
)
from ticketbox.domain.core.problems import Problem

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = [
    click.option("--oidc-issuer", help="The OpenID Connect provider to sign in with, as its tokens name it."),
    click.option("--oidc-client-id", help="The id of ticketbox at the provider."),
    click.option("--oidc-client-secret", help="The secret of ticketbox at the provider, if it has one."),
    click.option(
        "--oidc-client-secret-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file with that secret, which keeps it out of the command line.",
    ),
    click.option("--oidc-name", help="The provider's name on the button.  [default: its host]"),
    click.option(
        "--oidc-email-domain",
        "oidc_email_domains",
        multiple=True,
        help="Only people with a verified email address in this domain may sign in with it. Can be used several times.",
    ),
    click.option(
        "--oidc-role",
        "oidc_roles",
        multiple=True,
        help="The role of a group's members, as GROUP=COMPANY:ROLE. Can be used several times.",
    ),
    click.option(
        "--oidc-groups-claim", default="groups", show_default=True, help="The claim that lists a person's groups."
    ),
    click.option(
        "--oidc-create-accounts", is_flag=True, help="Create an account for people who sign in with it first."
    ),
    click.option(
        "--oidc-trust-emails", is_flag=True, help="Treat its email addresses as verified, though it doesn't say so."
    ),
    click.option(
        "--password-sign-in/--no-password-sign-in",
        default=True,
        show_default=True,
        help="Whether people can sign in with a password.",
    ),
]


def add_provider_options(function: F) -> F:
    """Add the options; the command gets what they set as `provider`."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in list(options) if name.startswith("oidc_")}
        provider = _read_options(passwords=options.pop("password_sign_in"), **given)
        return function(*args, provider=provider, **options)

    for option in reversed(_OPTIONS):
        run = option(run)
    return cast(F, run)


def _read_options(
    *,
    oidc_issuer: str | None,
    oidc_client_id: str | None,
    oidc_client_secret: str | None,
    oidc_client_secret_file: Path | None,
    oidc_name: str | None,
    oidc_email_domains: tuple[str, ...],
    oidc_roles: tuple[str, ...],
    oidc_groups_claim: str,
    oidc_create_accounts: bool,
    oidc_trust_emails: bool,
    passwords: bool,
) -> ProviderSettings | None:
    """Return the provider; None without one. Exits with status 1 for options that don't fit together."""
    if oidc_issuer is None:
        if oidc_client_id is not None or not passwords:
            exit_with_error(f"{'--oidc-client-id' if passwords else '--no-password-sign-in'} requires --oidc-issuer")
        return None
    if oidc_client_secret is not None and oidc_client_secret_file is not None:
        exit_with_error("use --oidc-client-secret or --oidc-client-secret-file, not both")
    try:
        issuer = parse_issuer(oidc_issuer)
        return ProviderSettings(
            issuer=issuer,
            client_id=oidc_client_id or exit_with_error("--oidc-issuer requires --oidc-client-id"),
            client_secret=oidc_client_secret or _read_secret(oidc_client_secret_file),
            name=oidc_name or urlsplit(issuer).netloc,
            domains=tuple(map(parse_email_domain, oidc_email_domains)),
            groups_claim=oidc_groups_claim,
            roles=tuple(map(parse_group_role, oidc_roles)),
            creates_accounts=oidc_create_accounts,
            trusts_emails=oidc_trust_emails,
            allows_passwords=passwords,
        )
    except Problem as problem:
        return exit_with_error(f"--{problem.detail}")


def _read_secret(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "not a text file")
        return exit_with_error(f"can't read --oidc-client-secret-file {file}: {why}")
