"""Unpack a large library of the executable when something that needs it is first imported.

PyInstaller's boot loader unpacks all other files at every start, which was most of the cost of `ticketbox version`.
`packaging/ticketbox.spec` puts the large libraries into `libraries.zip` instead, and lists in `libraries.txt` which of
them each package or module needs. This file runs in the executable before the program does.
"""


def install() -> None:
    """Add the import hook. The program runs in this same module, so no other name may be left in it."""
    import os
    import sys
    from pathlib import Path

    folder = Path(sys._MEIPASS)  # type: ignore[attr-defined]  # PyInstaller sets it
    lines = (folder / "libraries.txt").read_text("utf-8").splitlines()
    needed = {name: members for name, *members in (line.split("\t") for line in lines)}

    def unpack(members: list[str]) -> None:
        from zipfile import ZipFile

        from backports import zstd

        with ZipFile(folder / "libraries.zip") as archive:
            for member in members:
                library = folder / member
                if not library.exists():
                    library.parent.mkdir(parents=True, exist_ok=True)
                    part = library.with_name(f"{library.name}.{os.getpid()}.part")
                    part.write_bytes(zstd.decompress(archive.read(member)))
                    part.replace(library)  # another thread or process may unpack the same one

    class Unpacker:
        """A meta path finder that finds nothing: it only unpacks what the next finder will load."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            """Unpack what an import needs, once."""
            if name in needed:
                unpack(needed[name])
                needed.pop(name, None)

    sys.meta_path.insert(0, Unpacker)


install()
del install
