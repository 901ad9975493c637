"""The zip files of the browser extension, each with the address of the server that sends it."""

import functools
import zipfile
from importlib import resources
from io import BytesIO

import msgspec

EXTENSION = resources.files("ticketbox") / "web_dist" / "extension"
EDITIONS = ("chromium", "firefox")


@functools.lru_cache(maxsize=len(EDITIONS))
def build_extension_zip(edition: str, public_url: str) -> bytes:
    """Return the zip of an edition with a file that has the server's address, so that nobody has to enter it.

    The same address gives the same bytes. web/src/extension/connection/packaged-server.ts reads the file.
    """
    archive = BytesIO()
    archive.write((EXTENSION / f"{edition}.zip").read_bytes())
    file = zipfile.ZipInfo("server.json", (1980, 1, 1, 0, 0, 0))
    file.external_attr = 0o644 << 16
    with zipfile.ZipFile(archive, "a") as zipped:
        zipped.writestr(file, msgspec.json.encode({"address": public_url}))
    return archive.getvalue()
