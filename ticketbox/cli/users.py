"""`ticketbox user`: accounts, from the machine's own shell."""

from pathlib import Path

import click

from ticketbox.cli.common import (
    db_option,
    json_option,
    operate,
    print_json,
    read_password,
    refusals,
    without_none,
)


@click.group()
def user() -> None:
    """Add, list and disable accounts, and set their passwords."""


@user.command()
@db_option
@json_option
@click.option("--email", required=True)
@click.option("--name", required=True)
@click.option("--company", "company_id", help="Make the account a member of this company (its id).")
@click.option("--role", type=click.Choice(["owner", "admin", "member", "viewer"]), default="member")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@refusals
def add(
    db: Path, as_json: bool, email: str, name: str, company_id: str | None, role: str, password_stdin: bool
) -> None:
    """Make an account."""
    given = without_none(
        email=email, name=name, company_id=company_id, role=role, password=read_password(password_stdin)
    )
    made = operate(db, "add_user", given)
    if as_json:
        print_json(made)
    else:
        click.echo(made.id)


@user.command("list")
@db_option
@json_option
@refusals
def list_(db: Path, as_json: bool) -> None:
    """List all accounts."""
    users = operate(db, "list_users", {}).items
    if as_json:
        print_json(users)
        return
    for each in users:
        click.echo(f"{each.id}  {each.email}  {each.name}{'  (disabled)' if each.disabled else ''}")


@user.command("set-password")
@db_option
@click.argument("account")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@refusals
def set_password(db: Path, account: str, password_stdin: bool) -> None:
    """Give ACCOUNT (an id or e-mail address) a new password; its sessions end."""
    changed = operate(db, "set_password", {"user": account, "password": read_password(password_stdin)})
    click.echo(f"{changed.email} has a new password; its sessions ended")


@user.command()
@db_option
@click.argument("account")
@click.option("--undo", is_flag=True, help="Enable the account again.")
@refusals
def disable(db: Path, account: str, undo: bool) -> None:
    """Disable ACCOUNT (an id or e-mail address): its sessions end and its tokens stop."""
    changed = operate(db, "disable_user", {"user": account, "enable": undo})
    click.echo(f"{changed.email} is {'enabled' if undo else 'disabled'}")
