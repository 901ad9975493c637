"""Which CSS selectors a project can hide parts of pages by."""

import time

import pytest

from tests.support.mask_selectors import INVALID, VALID
from ticketbox.domain.companies.mask_selectors import is_mask_selector


@pytest.mark.parametrize("text", VALID)
def test_selector_is_accepted(text: str) -> None:
    assert is_mask_selector(text)


@pytest.mark.parametrize("text", INVALID)
def test_other_text_is_refused(text: str) -> None:
    assert not is_mask_selector(text)


@pytest.mark.parametrize("part", ["a ", ":not(", "[a=", "> ", ":is(a,", "- "])
def test_hostile_text_is_refused_in_linear_time(part: str) -> None:
    started = time.process_time()
    assert not is_mask_selector(part * 10_000 + "!")
    assert time.process_time() - started < 1  # quadratic time would be minutes
