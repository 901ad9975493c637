"""`python -m ticketbox`."""

from ticketbox.cli import main

main()
