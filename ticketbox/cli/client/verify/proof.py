"""proof.json: what a pack remembers of the run that reproduced its bug (docs/use/verifications.md, "Packs")."""

import hashlib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from ticketbox.cli.client.terminal import escape_line
from ticketbox.domain.captures.reproduction.pack import EXPECTED, HAR, HELPERS, SPEC

PROOF = "proof.json"


class Proof(msgspec.Struct, frozen=True):
    """A run that saw the bug: on which commit, when, and the digest of the files that it ran.

    `live`: the server answered all calls.
    """

    commit: str | None
    at: str
    digest: str
    live: bool = False


def has_proof(folder: Path, *, live: bool) -> bool:
    """Whether the files of a pack, as they are, have reproduced the bug before, in a run of the same kind."""
    try:
        proof = msgspec.json.decode(folder.joinpath(PROOF).read_bytes(), type=Proof)
        return proof.live == live and proof.digest == _digest_files(folder)
    except (OSError, msgspec.DecodeError):
        return False


def save_proof(pack: Path, folder: Path, commit: str | None, *, live: bool) -> None:
    """Remember in a pack, a folder or a zip file, that the files in `folder` have reproduced the bug."""
    proof = Proof(commit, datetime.now(UTC).isoformat(timespec="seconds"), _digest_files(folder), live)
    data = msgspec.json.format(msgspec.json.encode(proof), indent=2) + b"\n"
    try:
        if pack.is_dir():
            pack.joinpath(PROOF).write_bytes(data)
        else:
            _replace_in_archive(pack, data)
    except OSError as error:
        click.echo(f"{PROOF} can't be written: {escape_line(str(error))}", err=True)


def _replace_in_archive(pack: Path, data: bytes) -> None:
    with zipfile.ZipFile(pack) as archive:
        kept = [(info, archive.read(info)) for info in archive.infolist() if info.filename != PROOF]
    written = pack.with_name(f"{pack.name}.part")
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in kept:
            archive.writestr(info, content)
        archive.writestr(PROOF, data)
    written.replace(pack)


def _digest_files(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in (SPEC, EXPECTED, HAR, *HELPERS):
        file = folder.joinpath(name)
        content = file.read_bytes() if file.exists() else b""  # packs of other versions have other files
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
