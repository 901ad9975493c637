"""Labels of a company's tickets, and their colors."""

from enum import StrEnum

import msgspec


class LabelColor(StrEnum):
    """The colors of labels, in the order in which new labels get them. Violet marks agents, so no label has it."""

    BLUE = "blue"
    GREEN = "green"
    ORANGE = "orange"
    PINK = "pink"
    TEAL = "teal"
    YELLOW = "yellow"
    RED = "red"
    BROWN = "brown"
    GRAY = "gray"


def choose_color(count: int) -> LabelColor:
    """Choose the color of a company's next label, so that neighbors differ."""
    colors = tuple(LabelColor)
    return colors[count % len(colors)]


class Label(msgspec.Struct, frozen=True):
    """A label of a company. Its name is unique there, ignoring case; tickets show the name."""

    id: str
    company_id: str
    name: str
    color: LabelColor
    description: str
