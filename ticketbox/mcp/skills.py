"""The published agent skills as resources (agentskills.io; docs/use/agents.md, "Files for agents")."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mcp_types as types

MEDIA_TYPE = "text/markdown"
_DESCRIPTION = re.compile(r"^description: (.+)$", re.MULTILINE)


class Skills:
    """The skills of an instance, by name."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = {f"skill://{name}/SKILL.md": text for name, text in texts.items()}

    def list_resources(self) -> list["types.Resource"]:
        """List the skills, each with the description of its front matter."""
        import mcp_types as types

        return [
            types.Resource(
                uri=uri, name=uri.split("/")[2], description=_DESCRIPTION.findall(text)[0], mime_type=MEDIA_TYPE
            )
            for uri, text in self._texts.items()
        ]

    def find(self, uri: str) -> str | None:
        """Return the text of a skill; None if the address isn't that of one."""
        return self._texts.get(uri)
