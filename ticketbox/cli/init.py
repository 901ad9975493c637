"""`ticketbox init`: set a new file up without a browser."""

from pathlib import Path

import click

from ticketbox.cli.common import db_option, operate, print_json, read_password, refusals


@click.command()
@db_option
@click.option("--email", required=True, help="The owner's address, to sign in with.")
@click.option("--name", required=True, help="The owner's name.")
@click.option("--company", required=True, help="The first company.")
@click.option("--project", required=True, help="The first project.")
@click.option("--password-stdin", is_flag=True, help="Read the owner's password from standard input.")
@refusals
def init(db: Path, email: str, name: str, company: str, project: str, password_stdin: bool) -> None:
    """Set a new file up; prints the ids as JSON."""
    given = {
        "email": email,
        "name": name,
        "company": company,
        "project": project,
        "password": read_password(password_stdin),
    }
    print_json(operate(db, "initialize", given, create=True))
