"""Keys of projects. Every key that a project ever had stays its own, so that the keys of its tickets keep working."""

from ticketbox.domain.companies.project_keys import propose_keys
from ticketbox.store.file.database import Read, Write

SELECT_OWNER = "SELECT project_id FROM project_key WHERE company_id = ? AND key = ?"


def find_owner(tx: Read, company: int, key: str) -> int | None:
    """Find the project of a company that has this key, or had it."""
    return tx.fetch_value(SELECT_OWNER, (company, key))


def choose_key(tx: Read, company: int, name: str) -> str:
    """Choose the key of a new project: the first proposal for its name that no project of the company has or had."""
    return next(key for key in propose_keys(name) if find_owner(tx, company, key) is None)


INSERT_KEY = "INSERT OR IGNORE INTO project_key (company_id, key, project_id) VALUES (?, ?, ?)"


def set_key(tx: Write, company: int, project: int, key: str) -> None:
    """Set a project's key, which no other project of the company has or had."""
    tx.execute(INSERT_KEY, (company, key, project))
    tx.execute("UPDATE project SET key = ? WHERE id = ?", (key, project))
