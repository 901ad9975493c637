"""The part of a screenshot that a card shows: what people marked, in the shape of a letterbox."""

from collections.abc import Sequence

from ticketbox.domain.captures.images.geometry import Geometry, compute_bounds

VERSION = 3  # increase it when `compute_crop` chooses another part, so that stored thumbnails are drawn again
WIDTH, HEIGHT = 640, 204  # twice the size on a card, for dense screens
_RATIO = WIDTH / HEIGHT
_PAGE_SHARE = 0.75  # of the width, where nothing is marked
_MARGIN_ACROSS, _MARGIN_DOWN = 1.6, 1.25  # around the marks, as factors
_LEAST_SHARE = 0.4  # of the width
_LEGIBLE_SHARE = 0.6  # of the width of a desktop's page: in more of it, nobody can read the text on a card


def compute_crop(width: int, height: int, marks: Sequence[Geometry]) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the part of an image that a thumbnail shows.

    It is around the marks, or around the one that is shown largest if the text is too small with all of them; at the
    top of the page without any.
    """
    bounds = [compute_bounds(mark) for mark in marks]
    left, top, right, bottom = _unite(bounds) if bounds else (0.0, 0.0, width * _PAGE_SHARE, 0.0)
    wanted = _measure_across(width, (left, top, right, bottom)) if bounds else right
    most = width if height > width else width * _LEGIBLE_SHARE
    if wanted > most and len(bounds) > 1:
        nearest = min(range(len(bounds)), key=lambda index: _measure_across(width, bounds[index]))
        return compute_crop(width, height, [marks[nearest]])
    across = min(wanted, width, height * _RATIO)
    down = across / _RATIO
    x = min(max(0, (left + right - across) / 2), width - across)
    y = min(max(0, (top + bottom - down) / 2), height - down)
    return round(x), round(y), max(round(x) + 1, round(x + across)), max(round(y) + 1, round(y + down))


def _measure_across(width: int, bounds: tuple[float, float, float, float]) -> float:
    """Return the width of the part of an image that is shown around bounds."""
    left, top, right, bottom = bounds
    return max((right - left) * _MARGIN_ACROSS, (bottom - top) * _MARGIN_DOWN * _RATIO, width * _LEAST_SHARE)


def _unite(bounds: list[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    lefts, tops, rights, bottoms = zip(*bounds, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
