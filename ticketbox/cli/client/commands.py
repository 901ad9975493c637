"""Commands that call one operation of a server: its input as options, its answer as text or JSON."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import click
import httpx2

from ticketbox.cli.client.connection import DEFAULT_URL, Server, connect
from ticketbox.cli.client.parameters import build_parameters, collect_arguments
from ticketbox.cli.client.terminal import escape_json
from ticketbox.operations.catalogue import load_registry

URL_OPTION = click.Option(
    ["--url"], help=f"The server's address.  [default: that of `ticketbox login`, or {DEFAULT_URL}]"
)

Printer = Callable[[httpx2.Response, dict[str, Any]], None]
Caller = Callable[[Server, dict[str, Any], dict[str, Any]], httpx2.Response]


def build_command(
    name: str,
    operation_name: str,
    show: Printer,
    *,
    arguments: Sequence[str] = ("ticket_id",),
    hidden: Sequence[str] = (),
    optional: Sequence[str] = (),
    options: Sequence[click.Option] = (),
    call: Caller | None = None,
    as_json: bool = True,
) -> click.Command:
    """Build a command from an operation.

    `arguments` are the fields given by position, `hidden` ones can't be given, and `optional` ones needn't be. `show`
    prints the response. `call` replaces the plain call, which sends the given arguments. Both also get the values of
    the command's own `options`.
    """
    operation = load_registry()[operation_name]
    own = [str(option.name) for option in options]

    def run(**given: Any) -> None:
        url, wants_json = given.pop("url"), given.pop("wants_json", False)
        settings = {key: given.pop(key) for key in own}
        sent = collect_arguments(operation, given)
        if operation.accepts_idempotency_key:
            sent["idempotency_key"] = str(uuid.uuid4())  # a repetition after a refusal can't write twice
        with connect(url) as server:
            response = server.call(operation_name, sent) if call is None else call(server, sent, settings)
        if wants_json:
            click.echo(escape_json(response.text))
        else:
            show(response, settings)

    parameters = [*build_parameters(operation, arguments, hidden, optional), *options]
    if as_json:
        parameters.append(click.Option(["--json", "wants_json"], is_flag=True, help="Print the server's JSON."))
    parameters.append(URL_OPTION)
    text = f"{operation.summary}.\n\n{operation.description}".strip()
    return click.Command(name, callback=run, params=parameters, help=text)
