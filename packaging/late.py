"""Runs in the executable before the program: large libraries are unpacked when they are first imported.

The boot loader unpacks all that lies beside it at every start, whatever is asked, and that was most of what
`ticketbox version` took. `packaging/ticketbox.spec` puts the large ones into `late.zip` instead, and says in
`late.txt` which of them each package or module needs.
"""


def install() -> None:
    """Watch the imports. The program runs in this same module, so no other name may stay behind."""
    import sys
    from pathlib import Path

    folder = Path(sys._MEIPASS)  # type: ignore[attr-defined]  # PyInstaller's own
    lines = (folder / "late.txt").read_text("utf-8").splitlines()
    needed = {name: members for name, *members in (line.split("\t") for line in lines)}

    def unpack(members: list[str]) -> None:
        from zipfile import ZipFile

        from backports import zstd

        with ZipFile(folder / "late.zip") as archive:
            for member in members:
                place = folder / member
                if not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    part = place.with_name(f"{place.name}.part")
                    part.write_bytes(zstd.decompress(archive.read(member)))
                    part.replace(place)  # two threads may want the same one

    class Unpacker:
        """Finds nothing itself: it puts the libraries there for whoever is asked after it."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            """Unpack what an import needs, once."""
            if name in needed:
                unpack(needed[name])
                needed.pop(name, None)

    sys.meta_path.insert(0, Unpacker)


install()
del install
