"""ticketbox: a self-hosted ticket tracker in one process and one SQLite file."""

__version__ = "0.1.0"
