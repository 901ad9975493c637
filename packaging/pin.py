"""Write the exact versions of all packages, indirect ones included, into pyproject.toml, or check them.

    uv run --group dev python packaging/pin.py          after a dependency changed
    uv run --group dev python packaging/pin.py --check  in CI

uv resolves the versions. `[tool.uv] constraint-dependencies` lists them without addresses, so that they apply to every
package index (docs/decisions/0003-pins-without-addresses.md).
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = ROOT / "pyproject.toml"
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
    if checking:
        if pinned != text:
            print("pyproject.toml: the pins are out of date; run packaging/pin.py", file=sys.stderr)
        return int(pinned != text)
    PROJECT.write_text(pinned, "utf-8")
    return 0


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
