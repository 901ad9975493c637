"""`python -m ticketbox`, and the executable, which is also its own worker process."""

import sys

from ticketbox.operations.core.workers.argument import ARGUMENT

if sys.argv[1:] == [ARGUMENT]:
    from ticketbox.operations.core.workers.worker_loop import run_calls

    run_calls()
else:
    from ticketbox.cli import main

    main()
