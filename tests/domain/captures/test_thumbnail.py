"""What a card shows of a screenshot."""

import pytest

from ticketbox.domain.captures.images.geometry import ArrowGeometry, BoxGeometry, Geometry, TextGeometry
from ticketbox.domain.captures.images.thumbnail import HEIGHT, WIDTH, compute_crop

SMALL = BoxGeometry(900, 500, 100, 40)


@pytest.mark.parametrize("size", [(1280, 760), (390, 844), (2560, 400), (8, 8), (1, 5000)])
@pytest.mark.parametrize("marks", [[], [SMALL], [TextGeometry(0, 0, 20)], [SMALL, ArrowGeometry(0, 0, 1200, 700)]])
def test_crop_is_inside_the_image_and_has_the_shape_of_a_card(size: tuple[int, int], marks: list[Geometry]) -> None:
    left, top, right, bottom = compute_crop(*size, marks)
    assert 0 <= left < right <= size[0]
    assert 0 <= top < bottom <= size[1]
    assert (right - left) * HEIGHT == pytest.approx((bottom - top) * WIDTH, abs=WIDTH + HEIGHT)


def test_crop_is_around_the_marks() -> None:
    left, top, right, bottom = compute_crop(1280, 760, [SMALL, BoxGeometry(700, 480, 50, 50)])
    assert left < 700 < 1000 < right
    assert top < 480 < 540 < bottom


def test_crop_is_around_the_first_of_equal_marks_if_all_do_not_fit() -> None:
    left, top, right, bottom = compute_crop(1280, 760, [SMALL, BoxGeometry(0, 0, 10, 10)])
    assert left < 900 < 1000 < right
    assert top < 500 < 540 < bottom


def test_crop_is_around_the_mark_that_is_shown_largest_if_the_text_is_too_small_with_all() -> None:
    row, arrow = BoxGeometry(40, 560, 780, 130), ArrowGeometry(1120, 650, 1080, 540)
    left, top, right, bottom = compute_crop(1280, 800, [row, arrow])
    assert left < 1080 < 1120 < right
    assert top < 540 < 650 < bottom
    assert right - left == 512


def test_crop_of_an_image_without_marks_is_at_the_top() -> None:
    assert compute_crop(1280, 760, [])[1] == 0
