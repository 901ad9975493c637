"""`ticketbox token`: API tokens, managed in the server's shell."""

from pathlib import Path

import click

from ticketbox.cli.core.operations import drop_none, run_operation
from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_on_problem, print_json


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command()
@add_db_option
@add_json_option
@click.option("--user", required=True, help="The owner's id or email address.")
@click.option("--label", required=True, help="Shown next to everything that the token writes.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(["read", "comments", "tickets:write", "tickets:assign"]),
    help="Can be used several times.",
)
@click.option("--company", "company_id", help="Restrict the token to a company (its id).")
@click.option(
    "--project",
    "project_ids",
    multiple=True,
    help="Restrict it further to a project (its id). Can be used several times.",
)
@click.option("--expires-days", type=int, help="Days until it expires.  [default: never]")
@exit_on_problem
def create(
    db: Path,
    as_json: bool,
    user: str,
    label: str,
    scopes: tuple[str, ...],
    company_id: str | None,
    project_ids: tuple[str, ...],
    expires_days: int | None,
) -> None:
    """Create a token and print its secret, which is shown only once."""
    arguments = drop_none(
        user=user,
        label=label,
        scopes=list(dict.fromkeys(scopes)),
        company_id=company_id,
        project_ids=list(project_ids) or None,
        expires_days=expires_days,
    )
    issued = run_operation(db, "issue_token", arguments)
    if as_json:
        print_json(issued)
    else:
        click.echo(issued.secret)


@token.command("list")
@add_db_option
@add_json_option
@click.option("--user", help="Only the tokens of this owner (an id or email address).")
@exit_on_problem
def list_(db: Path, as_json: bool, user: str | None) -> None:
    """List the tokens that aren't revoked."""
    tokens = run_operation(db, "list_issued_tokens", drop_none(user=user)).items
    if as_json:
        print_json(tokens)
        return
    for each in tokens:
        expiry = f"  expires {each.expires_at}" if each.expires_at else ""
        click.echo(f"{each.id}  {each.prefix}…  {each.user.email}  {each.label}  {' '.join(each.scopes)}{expiry}")


@token.command()
@add_db_option
@click.argument("token_id")
@exit_on_problem
def revoke(db: Path, token_id: str) -> None:
    """Revoke the token TOKEN_ID (`key_…`); it stops working with the next request."""
    run_operation(db, "revoke_issued_token", {"token_id": token_id})
    click.echo(f"Revoked {token_id}")
