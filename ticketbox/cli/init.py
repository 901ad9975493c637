"""`ticketbox init`: set up a new file without a browser."""

from pathlib import Path

import click

from ticketbox.cli.core.operations import run_operation
from ticketbox.cli.core.options import add_db_option
from ticketbox.cli.core.output import exit_on_problem, print_json
from ticketbox.cli.core.password import read_password


@click.command()
@add_db_option
@click.option("--email", required=True, help="The owner's email address, to sign in with.")
@click.option("--name", required=True, help="The owner's name.")
@click.option("--company", required=True, help="The first company's name.")
@click.option("--project", required=True, help="The first project's name.")
@click.option("--password-stdin", is_flag=True, help="Read the owner's password from standard input.")
@exit_on_problem
def init(db: Path, email: str, name: str, company: str, project: str, password_stdin: bool) -> None:
    """Set up a new file and print the ids as JSON."""
    arguments = {
        "email": email,
        "name": name,
        "company": company,
        "project": project,
        "password": read_password(password_stdin),
    }
    print_json(run_operation(db, "initialize", arguments, create=True))
