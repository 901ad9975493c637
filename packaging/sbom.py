"""Tell what the executable carries: `sbom.cdx.json` (CycloneDX 1.6), `LICENSES.txt` and `SHA256SUMS` beside it.

    build/environment/bin/python packaging/sbom.py dist/ticketbox

packaging/build calls it. A package is told when one of its modules or libraries is inside; the environment
is the one that the executable was built from.
"""

import hashlib
import json
import re
import sqlite3
import ssl
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from typing import Any

from PyInstaller.archive.readers import CArchiveReader

LICENCE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)


def main() -> int:
    """Write the three files."""
    executable = Path(sys.argv[1])
    folder = executable.parent
    carried = sorted(packages(executable), key=lambda each: each.metadata["Name"].lower())
    digest = hashlib.sha256(executable.read_bytes()).hexdigest()
    document = json.dumps(sbom(carried, digest), indent=2, ensure_ascii=False)
    (folder / "sbom.cdx.json").write_text(document + "\n", "utf-8")
    (folder / "LICENSES.txt").write_text("\n".join(licences(carried)), "utf-8")
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in (executable.name, "sbom.cdx.json", "LICENSES.txt")
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")
    return 0


def packages(executable: Path) -> Iterator[Distribution]:
    """The packages of which something is inside."""
    archive = CArchiveReader(str(executable))
    names = {re.split(r"[./]", name)[0] for name in archive.toc}
    names |= {name.partition(".")[0] for name in archive.open_embedded_archive("PYZ.pyz").toc}
    names |= {name.removesuffix(".libs") for name in archive.toc for name in [name.partition("/")[0]]}
    found = packages_distributions()
    inside = {package for name in names for package in found.get(name, ())}
    for package in inside - {"pyinstaller", "pyinstaller-hooks-contrib", "setuptools"}:
        yield distribution(package)


def sbom(carried: list[Distribution], digest: str) -> dict[str, Any]:
    """The bill of materials."""
    version = distribution("ticketbox").version
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "ticketbox",
                "version": version,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [
            *[
                {"type": "library", "name": name, "version": found}
                for name, found in (
                    ("cpython", sys.version.split()[0]),
                    ("sqlite", sqlite3.sqlite_version),
                    ("openssl", ssl.OPENSSL_VERSION.split()[1]),
                )
            ],
            *[_component(each) for each in carried if each.metadata["Name"] != "ticketbox"],
        ],
    }


def _component(each: Distribution) -> dict[str, Any]:
    name, version = each.metadata["Name"].lower(), each.version
    told = each.metadata["License-Expression"]
    classified = [line.rpartition(" :: ")[2] for line in each.metadata.get_all("Classifier", [])
                  if line.startswith("License :: ")]  # fmt: skip
    if told:
        licences: list[dict[str, Any]] = [{"expression": told}]
    else:
        named = classified or [(each.metadata["License"] or "unknown").splitlines()[0]]
        licences = [{"license": {"name": text}} for text in named]
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": licences,
    }


def licences(carried: list[Distribution]) -> Iterator[str]:
    """Every licence text, under its package's name."""
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if python.exists():
        yield from ("=" * 100, f"Python {sys.version.split()[0]}", "=" * 100, python.read_text("utf-8"))
    for each in carried:
        yield from ("=" * 100, f"{each.metadata['Name']} {each.version}", "=" * 100)
        texts = [path for path in each.files or () if LICENCE.search(path.name) and path.suffix not in {".py", ".pyc"}]
        if not texts:
            yield f"Its licence: {_component(each)['licenses']}\n"
        for path in texts:
            yield Path(path.locate()).read_text("utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
