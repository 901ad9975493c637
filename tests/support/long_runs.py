"""How much the long tests do. `TICKETBOX_TIMES=10 uv run --group dev pytest -m long` does at least 10 times as much."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("TICKETBOX_TIMES", "1"))

# `--junit-xml` has what record_property was given; packaging/reliability.py writes it to docs/develop/promises.md.
Record = Callable[[str, object], None]


def choose_rounds(few: int, full: int) -> int:
    """The number of rounds: `few` in `.ci/run`, else `full` times `TICKETBOX_TIMES`, as in `.ci/full`."""
    return few if TIMES == 1 else full * TIMES


def hypothesis_settings(examples: int) -> settings:
    """Settings for so many examples, without a deadline and without a database."""
    # its metaclass doesn't say what it iterates over
    every: list[HealthCheck] = list(HealthCheck)  # pyright: ignore[reportAssignmentType]
    return settings(max_examples=examples, deadline=None, database=None, suppress_health_check=every)


def sample_cases(cases: Iterable[Any], every: int) -> list[Any]:
    """Parameters for a test: every nth case, and the others with the long tests."""
    return [case if index % every == 0 else mark_long(case) for index, case in enumerate(cases)]


def select_cases(cases: Sequence[Any], every: int) -> list[Any]:
    """Parameters for a test: every nth case and the last; in `.ci/full` the others too."""
    chosen = [case for index, case in enumerate(cases) if index % every == 0 or index == len(cases) - 1]
    return chosen if TIMES == 1 else chosen + [mark_long(case) for case in cases if case not in chosen]


def mark_long(case: Any) -> Any:
    """A case for the long tests: one that repeats a quick test."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
