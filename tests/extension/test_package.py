"""The zips of the extension: reproducible, no undocumented permissions, no remote code."""

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from ticketbox import __version__
from ticketbox.http.extension_zip import EDITIONS, EXTENSION, build_extension_zip

DOCS = Path(__file__).parents[2] / "docs" / "use" / "extension.md"
STORES = Path(__file__).parents[2] / "docs" / "develop" / "extension-stores.md"


@pytest.fixture(params=EDITIONS)
def archive(request: pytest.FixtureRequest) -> zipfile.ZipFile:
    """The zip of one edition."""
    return zipfile.ZipFile(str(EXTENSION / f"{request.param}.zip"))


def test_every_permission_is_documented_and_no_other_is_requested(archive: zipfile.ZipFile) -> None:
    manifest = json.loads(archive.read("manifest.json"))
    section = DOCS.read_text().partition("\n## Permissions\n")[2].partition("\n## ")[0]
    explained = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    optional = ["webRequest"] if str(archive.filename).endswith("firefox.zip") else []
    assert manifest.get("optional_permissions", []) == optional
    assert {*manifest["permissions"], *optional} == explained
    sockets = [] if optional else ["ws://*/*", "wss://*/*"]  # Firefox's pattern of all sites includes them
    assert manifest["optional_host_permissions"] == ["*://*/*", *sockets]
    assert not {"host_permissions", "content_scripts", "externally_connectable", "web_accessible_resources"} & set(
        manifest
    ), "no site can detect or start the extension"
    assert manifest["version"] == __version__


def test_manifest_agrees_with_the_listing_in_the_stores(archive: zipfile.ZipFile) -> None:
    manifest = json.loads(archive.read("manifest.json"))
    listing = STORES.read_text()
    assert f"| summary | {manifest['description']} |" in listing
    assert len(manifest["description"]) <= 132  # of the Chrome Web Store
    assert len(manifest["name"]) <= 45
    if gecko := manifest.get("browser_specific_settings", {}).get("gecko"):
        assert " and ".join(f"`{each}`" for each in gecko["data_collection_permissions"]["required"]) in listing


def test_zip_is_reproducible(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    assert [each.filename for each in entries] == sorted(each.filename for each in entries)
    assert {each.date_time for each in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {each.external_attr >> 16 for each in entries} == {0o644}


def test_no_script_is_loaded_from_elsewhere(archive: zipfile.ZipFile) -> None:
    policy = json.loads(archive.read("manifest.json"))["content_security_policy"]["extension_pages"]
    assert "script-src 'self';" in policy
    for name in archive.namelist():
        if name.endswith((".js", ".html", ".css")):
            text = archive.read(name).decode()
            assert not re.search(r"\beval\(|new Function\(|import\(['\"`]https?:", text), name
            assert not re.findall(r"(?:src|href)=\"https?://", text), name


def test_zip_that_the_server_sends_has_its_address() -> None:
    sent = build_extension_zip("chromium", "https://tickets.example.org")
    assert sent == build_extension_zip.__wrapped__("chromium", "https://tickets.example.org")
    original = zipfile.ZipFile(str(EXTENSION / "chromium.zip"))
    with zipfile.ZipFile(BytesIO(sent)) as zipped:
        assert zipped.testzip() is None
        assert json.loads(zipped.read("server.json")) == {"address": "https://tickets.example.org"}
        assert zipped.namelist() == [*original.namelist(), "server.json"]
