"""Write `sbom.cdx.json` (CycloneDX 1.6), `LICENSES.txt` and `SHA256SUMS` beside the executable.

    build/environment/bin/python packaging/sbom.py dist/ticketbox

packaging/build calls it, with the environment that the executable was built from. A package is listed when the
executable contains one of its modules or libraries. The same executable gets the same bytes.
"""

# cyclonedx's class decorators hide its constructors from pyright.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

import hashlib
import json
import os
import re
import sqlite3
import ssl
import sys
import sysconfig
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from PyInstaller.archive.readers import CArchiveReader

LICENSE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
BUILD_TOOLS = {"pyinstaller", "pyinstaller-hooks-contrib", "setuptools"}
RULE = "=" * 100
PACKAGE_LOCK = Path(__file__).parent.parent / "web" / "package-lock.json"
# The fonts from npm: namespace, name, licence and the file of its text. For DejaVu Sans, the package's metadata says
# OFL-1.1; its LICENSE file is Bitstream Vera's.
FONTS = (
    ("@fontsource", "dejavu-sans", "Bitstream-Vera", "LICENSE"),
    ("@fontsource-variable", "inter", "OFL-1.1", "LICENSE-inter"),
)


def main() -> int:
    """Write the three files."""
    executable = Path(sys.argv[1])
    folder = executable.parent
    packages = sorted(find_packages(executable), key=lambda package: package.metadata["Name"].lower())
    document = JsonV1Dot6(build_bom(packages, sha256(executable))).output_as_string(indent=2)
    (folder / "sbom.cdx.json").write_text(document + "\n", "utf-8")
    (folder / "LICENSES.txt").write_text("\n".join(collect_license_texts(packages)), "utf-8")
    sums = [f"{sha256(folder / name)}  {name}\n" for name in (executable.name, "sbom.cdx.json", "LICENSES.txt")]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")
    return 0


def sha256(file: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def find_packages(executable: Path) -> Iterator[Distribution]:
    """Yield the packages that the executable contains modules or libraries of."""
    archive = CArchiveReader(str(executable))
    names = {re.split(r"[./]", name)[0] for name in archive.toc}
    names |= {name.partition(".")[0] for name in archive.open_embedded_archive("PYZ.pyz").toc}
    names |= {name.partition("/")[0].removesuffix(".libs") for name in archive.toc}
    distributions = packages_distributions()
    inside = {package for name in names for package in distributions.get(name, ())}
    yield from map(distribution, inside - BUILD_TOOLS)


def build_bom(packages: list[Distribution], digest: str) -> Bom:
    """Build the bill of materials of an executable with this SHA-256. SOURCE_DATE_EPOCH is its time."""
    product = Component(
        name="ticketbox",
        version=distribution("ticketbox").version,
        type=ComponentType.APPLICATION,
        bom_ref="ticketbox",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[LicenseFactory().make_with_id("MIT")],
    )
    runtime = {
        "cpython": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "openssl": ssl.OPENSSL_VERSION.split()[1],
    }
    components = [Component(name=name, version=version, bom_ref=name) for name, version in runtime.items()]
    components += [describe_package(package) for package in packages if package.metadata["Name"] != "ticketbox"]
    components += [font for font, _ in describe_fonts()]
    built_at = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "1")), UTC)
    bom = Bom(
        serial_number=uuid5(NAMESPACE_URL, f"urn:sha256:{digest}"),
        metadata=BomMetaData(component=product, timestamp=built_at),
        components=components,
    )
    bom.register_dependency(product, components)
    return bom


def describe_package(package: Distribution) -> Component:
    """Describe a Python package with its version, address and licence."""
    name = package.metadata["Name"].lower()
    purl = PackageURL("pypi", name=name, version=package.version)
    return Component(
        name=name, version=package.version, bom_ref=str(purl), purl=purl, licenses=find_licenses(package)
    )  # fmt: skip


def describe_fonts() -> Iterator[tuple[Component, Path]]:
    """Yield the fonts from npm that ticketbox contains, each with the file of its licence."""
    packages = json.loads(PACKAGE_LOCK.read_text("utf-8"))["packages"]
    for namespace, name, license_id, file in FONTS:
        text = Path(str(distribution("ticketbox").locate_file(f"ticketbox/fonts/{file}")))
        if text.exists():
            version = packages[f"node_modules/{namespace}/{name}"]["version"]
            purl = PackageURL("npm", namespace, name, version)
            licenses = [LicenseFactory().make_with_id(license_id)]
            yield Component(name=name, version=version, bom_ref=str(purl), purl=purl, licenses=licenses), text


def find_licenses(package: Distribution) -> list[License]:
    """Read a package's licences from its metadata: the expression, else the classifiers, else the free text."""
    factory, metadata = LicenseFactory(), package.metadata
    if expression := metadata["License-Expression"]:
        return [factory.make_from_string(expression)]
    classifiers = [line for line in metadata.get_all("Classifier", []) if line.startswith("License :: ")]
    if classifiers:
        return [factory.make_with_name(line.rpartition(" :: ")[2]) for line in classifiers]
    return [factory.make_from_string((metadata["License"] or "unknown").splitlines()[0])]


def collect_license_texts(packages: list[Distribution]) -> Iterator[str]:
    """Yield every licence text, each under its package's name."""
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if python.exists():
        yield from (RULE, f"Python {sys.version.split()[0]}", RULE, python.read_text("utf-8"))
    for package in packages:
        yield from (RULE, f"{package.metadata['Name']} {package.version}", RULE)
        files = [
            file
            for file in package.files or ()
            if LICENSE_FILE.search(file.name) and file.suffix not in {".py", ".pyc"}
        ]
        if not files:
            yield f"Licence: {package.metadata['License-Expression'] or package.metadata['License'] or 'unknown'}\n"
        for file in files:
            yield Path(file.locate()).read_text("utf-8", errors="replace")
    for font, text in describe_fonts():
        yield from (RULE, f"{font.name} {font.version}", RULE, text.read_text("utf-8"))


if __name__ == "__main__":
    sys.exit(main())
