"""`ticketbox token`: API tokens, from the machine's own shell."""

from pathlib import Path

import click

from ticketbox.cli.common import db_option, json_option, operate, print_json, refusals, without_none


@click.group()
def token() -> None:
    """Make, list and revoke API tokens."""


@token.command()
@db_option
@json_option
@click.option("--user", required=True, help="The owner: an id or e-mail address.")
@click.option("--label", required=True, help="What people will see beside what the token wrote.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(["read", "comments", "tickets:write", "tickets:assign"]),
    help="May be given several times.",
)
@click.option("--company", "company_id", help="Pin the token to a company (its id).")
@click.option("--project", "project_ids", multiple=True, help="Pin it to projects (their ids) as well.")
@click.option("--expires-days", type=int, help="Days until it expires; left out: never.")
@refusals
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
    """Make a token; prints its secret, and nothing else, this once."""
    given = without_none(
        user=user,
        label=label,
        scopes=list(dict.fromkeys(scopes)),
        company_id=company_id,
        project_ids=list(project_ids) or None,
        expires_days=expires_days,
    )
    made = operate(db, "issue_token", given)
    if as_json:
        print_json(made)
    else:
        click.echo(made.secret)


@token.command("list")
@db_option
@json_option
@click.option("--user", help="Only this owner's: an id or e-mail address.")
@refusals
def list_(db: Path, as_json: bool, user: str | None) -> None:
    """List the tokens that aren't revoked."""
    tokens = operate(db, "list_issued_tokens", without_none(user=user)).items
    if as_json:
        print_json(tokens)
        return
    for each in tokens:
        expiry = f"  until {each.expires_at}" if each.expires_at else ""
        click.echo(f"{each.id}  {each.prefix}…  {each.user.email}  {each.label}  {' '.join(each.scopes)}{expiry}")


@token.command()
@db_option
@click.argument("token_id")
@refusals
def revoke(db: Path, token_id: str) -> None:
    """Revoke the token TOKEN_ID (`key_…`); the next request that carries it is refused."""
    operate(db, "revoke_issued_token", {"token_id": token_id})
    click.echo(f"{token_id} is revoked")
