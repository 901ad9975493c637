"""From an address to what answers there: a tree of a path's parts, walked once for each request."""

from typing import Generic, TypeVar

T = TypeVar("T")


class Paths(Generic[T]):
    """The targets of each path, by method. A literal part takes precedence over a parameter."""

    def __init__(self) -> None:
        self._next: dict[str, Paths[T]] = {}
        self._parameter = ""
        self._any: Paths[T] | None = None
        self._methods: dict[str, T] = {}

    def add(self, method: str, path: str, target: T) -> None:
        """Add the target of a method and a path, such as `/tickets/{ticket_id}`.

        Raises ValueError where two paths have different names for one parameter.
        """
        node = self
        for part in path.split("/")[1:]:
            if part.startswith("{"):
                if node._any is None:
                    node._parameter, node._any = part[1:-1], Paths()
                if node._parameter != part[1:-1]:
                    raise ValueError(f"{path}: another path calls this {{{node._parameter}}}")
                node = node._any
            else:
                node = node._next.setdefault(part, Paths())
        node._methods[method] = target

    def find(self, path: str) -> tuple[dict[str, T], dict[str, str]]:
        """Return the targets of a path by method, empty for an unknown path, and its parameters.

        Empty parts, such as the one after a slash at the end, don't count.
        """
        node, parameters = self, dict[str, str]()
        for part in path.split("/"):
            if not part:
                continue
            following = node._next.get(part)
            if following is None:
                following = node._any
                if following is None:
                    return {}, parameters
                parameters[node._parameter] = part
            node = following
        return node._methods, parameters
