"""The part of a screenshot that a card shows: what people marked, in the shape of a letterbox."""

from collections.abc import Sequence

from ticketbox.domain.captures.images.geometry import Geometry, compute_bounds

WIDTH, HEIGHT = 640, 204  # twice the size on a card, for dense screens
_RATIO = WIDTH / HEIGHT
_PAGE_SHARE = 0.75  # of the width, where nothing is marked
_MARGIN = 1.6  # around the marks, as a factor
_LEAST_SHARE = 0.4


def compute_crop(width: int, height: int, marks: Sequence[Geometry]) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the part of an image that a thumbnail shows.

    It is around the marks; around the first one if all don't fit, and at the top of the page without any.
    """
    bounds = [compute_bounds(mark) for mark in marks]
    left, top, right, bottom = _unite(bounds) if bounds else (0.0, 0.0, width * _PAGE_SHARE, 0.0)
    wanted = max((right - left) * (_MARGIN if bounds else 1), (bottom - top) * _MARGIN * _RATIO, width * _LEAST_SHARE)
    if wanted > width and len(bounds) > 1:
        return compute_crop(width, height, marks[:1])
    across = min(wanted, width, height * _RATIO)
    down = across / _RATIO
    x = min(max(0, (left + right - across) / 2), width - across)
    y = min(max(0, (top + bottom - down) / 2), height - down)
    return round(x), round(y), max(round(x) + 1, round(x + across)), max(round(y) + 1, round(y + down))


def _unite(bounds: list[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    lefts, tops, rights, bottoms = zip(*bounds, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
