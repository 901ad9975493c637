"""`ticketbox user`: accounts, managed in the server's shell."""

from pathlib import Path

import click

from ticketbox.cli.core.operations import drop_none, run_operation
from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_on_problem, print_json
from ticketbox.cli.core.password import read_password


@click.group()
def user() -> None:
    """Create, list and disable accounts, set passwords, and let people in."""


@user.command()
@add_db_option
@add_json_option
@click.option("--email", required=True)
@click.option("--name", required=True)
@click.option("--company", "company_id", help="Add the account to this company (its id).")
@click.option("--role", type=click.Choice(["owner", "admin", "member", "viewer"]), default="member")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@exit_on_problem
def add(
    db: Path, as_json: bool, email: str, name: str, company_id: str | None, role: str, password_stdin: bool
) -> None:
    """Create an account and print its id."""
    arguments = drop_none(
        email=email, name=name, company_id=company_id, role=role, password=read_password(password_stdin)
    )
    created = run_operation(db, "add_user", arguments)
    if as_json:
        print_json(created)
    else:
        click.echo(created.id)


@user.command("list")
@add_db_option
@add_json_option
@exit_on_problem
def list_(db: Path, as_json: bool) -> None:
    """List all accounts."""
    users = run_operation(db, "list_users", {}).items
    if as_json:
        print_json(users)
        return
    for each in users:
        notes = "  (disabled)" * each.disabled + "  (no second factor)" * each.second_factor_missing
        click.echo(f"{each.id}  {each.email}  {each.name}{notes}")


@user.command("set-password")
@add_db_option
@click.argument("account")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@exit_on_problem
def set_password(db: Path, account: str, password_stdin: bool) -> None:
    """Set the password of ACCOUNT (an id or email address) and end its sessions."""
    updated = run_operation(db, "set_password", {"user": account, "password": read_password(password_stdin)})
    click.echo(f"Changed the password of {updated.email} and ended all sessions")


@user.command()
@add_db_option
@click.argument("account")
@click.option("--undo", is_flag=True, help="Enable the account again.")
@exit_on_problem
def disable(db: Path, account: str, undo: bool) -> None:
    """Disable ACCOUNT (an id or email address): end its sessions and reject its tokens."""
    updated = run_operation(db, "disable_user", {"user": account, "enable": undo})
    click.echo(f"{'Enabled' if undo else 'Disabled'} {updated.email}")


@user.command("sign-in-link")
@add_db_option
@click.option("--public-url", default="http://localhost:8420", show_default=True, help="The URL that browsers use.")
@click.argument("account")
@exit_on_problem
def sign_in_link(db: Path, public_url: str, account: str) -> None:
    """Print a link that signs ACCOUNT (an id or email address) in once, within 15 minutes.

    It works when the identity provider doesn't, and with passwords disabled.
    """
    created = run_operation(db, "create_sign_in_link", {"user": account})
    click.echo(f"{public_url.rstrip('/')}{created.path}")


@user.command("reset-second-factor")
@add_db_option
@click.argument("account")
@exit_on_problem
def reset_second_factor(db: Path, account: str) -> None:
    """Turn off the second factor of ACCOUNT (an id or email address) and end its sessions."""
    updated = run_operation(db, "reset_second_factor", {"user": account})
    click.echo(f"Turned off the second factor of {updated.email} and ended all sessions")


@user.command("unlink")
@add_db_option
@click.argument("account")
@exit_on_problem
def unlink(db: Path, account: str) -> None:
    """Unlink ACCOUNT (an id or email address) from the identity provider and end its sessions."""
    updated = run_operation(db, "unlink_user", {"user": account})
    click.echo(f"Unlinked {updated.email} and ended all sessions")


@user.command()
@add_db_option
@add_json_option
@click.argument("account")
@click.option("--limit", default=50, help="How many to list.", show_default=True)
@exit_on_problem
def events(db: Path, as_json: bool, account: str, limit: int) -> None:
    """List the security events of ACCOUNT (an id or email address), newest first."""
    listed = run_operation(db, "list_account_events", {"user": account, "limit": limit}).items
    if as_json:
        print_json(listed)
        return
    for each in listed:
        times = f" ({each.count} times)" if each.count > 1 else ""
        click.echo(f"{each.at}  {each.action}  {each.outcome}{times}  {each.address or '-'}  {each.via}")
