"""Write the exact versions of all packages, indirect ones included, into pyproject.toml, or check them.

    uv run --group dev python packaging/pin.py          after a dependency changed
    uv run --group dev python packaging/pin.py --check  in CI

uv resolves the versions. `[tool.uv] constraint-dependencies` lists them without addresses, so that they apply to every
package index (docs/decisions/0003-pins-without-addresses.md). `packaging/requirements.txt` has the hashes of all files
of what `packaging/build` installs. The check compares its versions, and for each package that a hash is known: another
package index can have fewer files, and later more.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = ROOT / "pyproject.toml"
REQUIREMENTS = ROOT / "packaging" / "requirements.txt"
BEGIN, END = "# Pins: packaging/pin.py writes these.", "# End of the pins."


def main() -> int:
    """Write the pins, or check them; the exit status is 1 if they are out of date."""
    checking = "--check" in sys.argv[1:]
    text = PROJECT.read_text("utf-8")
    if not checking:
        PROJECT.write_text(_replace_pins(text, []), "utf-8")
        (ROOT / "uv.lock").unlink(missing_ok=True)
    subprocess.run(["uv", "lock", "--quiet"], cwd=ROOT, check=True)
    pinned = _replace_pins(text, _read_lock())
    hashed = _export_hashes()
    if checking:
        stale = [PROJECT.name] if pinned != text else []
        if not _is_same_release(hashed, REQUIREMENTS.read_text("utf-8")):
            stale.append(str(REQUIREMENTS.relative_to(ROOT)))
        for name in stale:
            print(f"{name}: the pins are out of date; run packaging/pin.py", file=sys.stderr)
        return int(bool(stale))
    PROJECT.write_text(pinned, "utf-8")
    REQUIREMENTS.write_text(hashed, "utf-8")
    return 0


def _export_hashes() -> str:
    """Return the versions and hashes of what the executable is built from, without addresses."""
    options = "--frozen --no-dev --group release --no-emit-project --no-header --no-annotate --quiet"
    command = ["uv", "export", *options.split(), "--format", "requirements-txt"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def parse_requirements(text: str) -> dict[str, set[str]]:
    """Parse a file of requirements: the hashes of each line with a name, a version and perhaps a marker."""
    lines = text.replace("\\\n", " ").splitlines()
    return {line.split(" --hash=")[0].strip(): set(re.findall(r"--hash=(\S+)", line)) for line in lines if line}


def _is_same_release(one: str, other: str) -> bool:
    first, second = parse_requirements(one), parse_requirements(other)
    return first.keys() == second.keys() and all(hashes & second[name] for name, hashes in first.items())


def _read_lock() -> list[str]:
    packages = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    pins: list[str] = []
    for package in packages:
        if "registry" not in package["source"]:
            continue
        markers = package.get("resolution-markers")
        where = f" ; {' or '.join(f'({marker})' for marker in markers)}" if markers else ""
        pins.append(f"{package['name']}=={package['version']}{where}")
    return sorted(pins)


def _replace_pins(text: str, pins: list[str]) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = "".join(f'  "{pin.replace(chr(34), chr(39))}",\n' for pin in pins)
    return f"{before}{BEGIN}\n[tool.uv]\nconstraint-dependencies = [\n{lines}]\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
