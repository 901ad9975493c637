"""The npm package of the reporter for Playwright, built from its files."""

import gzip
import io
import json
import tarfile
from importlib import resources

from ticketbox import __version__

_FOLDER = resources.files("ticketbox.http.reporters") / "playwright"


def build_package() -> bytes:
    """Build the package with this version's number; the same files give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(_FOLDER.iterdir(), key=lambda each: each.name):
            content = file.read_bytes()
            if file.name == "package.json":
                content = json.dumps({**json.loads(content), "version": _format_version()}, indent=2).encode()
            info = tarfile.TarInfo(f"package/{file.name}")
            info.size, info.mode = len(content), 0o644
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _format_version() -> str:
    """Return the version as npm requires it: three numbers, and what else follows a hyphen."""
    numbers, dev, rest = __version__.partition(".dev")
    return f"{numbers}-dev.{rest}" if dev else numbers
