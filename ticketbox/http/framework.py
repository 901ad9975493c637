"""Litestar without its default plugins.

The only module that relies on Litestar's internals. Litestar adds plugins for pydantic and attrs whenever those are
installed, and has no setting against it; importing pydantic for them takes longer than the rest of Litestar, and no
route here uses them. tests/test_private_apis.py names the version that this was tested with.
"""

from typing import Any

from litestar import Litestar


class Framework(Litestar):
    """Litestar with only the plugins that are passed to it."""

    @staticmethod
    def _get_default_plugins(plugins: list[Any]) -> list[Any]:
        return plugins
