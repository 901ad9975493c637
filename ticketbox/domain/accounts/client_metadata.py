"""Client-id metadata documents: whether apps are offered to use them, and the documents of common clients.

An app with such a document has its URL as `client_id`, and the server fetches it
(draft-ietf-oauth-client-id-metadata-document). Apps that can also register prefer the document if the server offers
it, and don't try anything else if the fetch fails.
"""

from enum import StrEnum

import msgspec


class ClientMetadataMode(StrEnum):
    """When apps are offered to use a metadata document: if this server can fetch them, always or never."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class ClientMetadata(msgspec.Struct):
    """The operator's choice, and whether the last attempt to fetch a document succeeded."""

    mode: ClientMetadataMode = ClientMetadataMode.AUTO
    is_reachable: bool = False

    @property
    def is_offered(self) -> bool:
        """Whether the discovery document offers it."""
        return self.mode is ClientMetadataMode.ON or (self.mode is ClientMetadataMode.AUTO and self.is_reachable)


class KnownClient(msgspec.Struct, frozen=True):
    """What the document of a common client says; used where the document can't be fetched."""

    client_id: str
    client_name: str
    redirect_uris: list[str]


_LOOPBACK = ["http://127.0.0.1/callback", "http://localhost/callback"]

# As published in autumn 2026. Sources: github.com/anthropics/claude-code/issues/42301 and /64705;
# github.com/microsoft/vscode/issues/298300; github.com/anomalyco/opencode/pull/47737; the authorization requests of
# Codex 0.154; crates/context_server/src/oauth.rs in github.com/zed-industries/zed.
KNOWN_CLIENTS = {
    client.client_id: client
    for client in (
        KnownClient("https://claude.ai/oauth/claude-code-client-metadata", "Claude Code", _LOOPBACK),
        KnownClient("https://chatgpt.com/oauth/codex/client.json", "Codex", _LOOPBACK),
        KnownClient(
            "https://vscode.dev/oauth/client-metadata.json",
            "Visual Studio Code",
            ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
        ),
        KnownClient("https://opencode.ai/oauth/opencode/client.json", "opencode", _LOOPBACK),
        KnownClient("https://zed.dev/oauth/client-metadata.json", "Zed", ["http://127.0.0.1/callback"]),
    )
}
