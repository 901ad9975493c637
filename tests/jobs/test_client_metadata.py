"""The job that finds out whether apps' metadata documents can be fetched."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ticketbox.domain.accounts import oauth
from ticketbox.domain.accounts.client_metadata import KNOWN_CLIENTS, ClientMetadata, ClientMetadataMode
from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.jobs import client_metadata
from ticketbox.operations.core.services import FetchedResponse, FetchError, Services
from ticketbox.store.file.database import Database


def test_known_documents_are_valid() -> None:
    for url, client in KNOWN_CLIENTS.items():
        assert oauth.is_metadata_address(url)
        assert client.client_id == url
        assert not any(map(oauth.find_redirect_problem, client.redirect_uris))


@pytest.mark.parametrize("mode", ClientMetadataMode)
def test_documents_are_offered_while_they_can_be_fetched(
    mode: ClientMetadataMode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_SECONDS", "RETRY_SECONDS", "CHECK_SECONDS"):
        monkeypatch.setattr(client_metadata, name, 0.01)
    outcomes = ["fail", "fail", "web page", "fail", "document"]
    offered: list[bool] = []

    async def run() -> None:
        database = await Database.open(tmp_path / "file.db", Clock(), publish=lambda _: None)
        stopping = asyncio.Event()

        async def fetch(url: str, **_: Any) -> FetchedResponse:
            offered.append(services.client_metadata.is_offered)
            outcome = outcomes.pop(0) if outcomes else "stop"
            if outcome == "document":
                known = KNOWN_CLIENTS[url]
                document = {"client_id": url, "redirect_uris": known.redirect_uris}
                return FetchedResponse(200, "application/json", json.dumps(document).encode())
            if outcome == "web page":
                return FetchedResponse(200, "text/html", b"<html>")
            if outcome == "stop":
                stopping.set()
                await asyncio.Event().wait()  # a request that never ends must not delay the stop
            raise FetchError("it can't be connected to")

        services = Services(
            database, RateLimiter(lambda: 0.0), "http://localhost", fetch, client_metadata=ClientMetadata(mode)
        )
        if mode is not ClientMetadataMode.AUTO:
            stopping.set()
        await asyncio.wait_for(client_metadata.run(services, stopping), 60)
        offered.append(services.client_metadata.is_offered)
        services.close()
        await database.close()

    asyncio.run(run())
    if mode is ClientMetadataMode.AUTO:
        assert offered == [False] * 5 + [True] * 2
    else:
        assert offered == [mode is ClientMetadataMode.ON]
