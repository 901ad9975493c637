"""How much the long tests do. `TICKETBOX_TIMES=10 uv run pytest -m long` does ten times as much of everything."""

import os
from collections.abc import Callable

TIMES = int(os.environ.get("TICKETBOX_TIMES", "1"))

# What record_property is given stands in `--junit-xml`; packaging/reliability.py puts it into docs/reliability.md.
Record = Callable[[str, object], None]
