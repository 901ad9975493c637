"""The single executable: built as a release is, and used in a root that has nothing else."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.docs.pages import ROOT
from ticketbox import __version__

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="the empty root is a Linux one"),
    pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0 and "CI" not in os.environ, reason="chroot needs root"),
]
MOST_BYTES = 42_000_000


@pytest.mark.skipif("TICKETBOX_EXECUTABLE" in os.environ, reason="the executable was built elsewhere")
def test_build_is_reproducible(executable: Path, tmp_path: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        copy = tmp_path / "elsewhere" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    completed = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    done = subprocess.run(
        [tmp_path / "elsewhere" / "packaging" / "build", tmp_path],
        env={**os.environ, "SOURCE_DATE_EPOCH": completed.stdout.strip()}, capture_output=True, text=True, timeout=900,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("ticketbox", "sbom.cdx.json", "LICENSES.txt"):
        assert (tmp_path / name).read_bytes() == (executable.parent / name).read_bytes(), name


def test_executable_runs_without_python_or_node(executable: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "verify", executable],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("everything works\n")


def test_executable_is_small_and_has_the_right_version(executable: Path) -> None:
    assert executable.stat().st_size <= MOST_BYTES
    done = subprocess.run([executable, "version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == __version__


def test_executable_removes_its_temporary_files(executable: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [executable, "check", "--db", tmp_path / "none.db"],
        env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, "no such file" in done.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_bill_of_materials_lists_every_component_with_its_licence(executable: Path) -> None:
    folder = executable.parent
    document = (folder / "sbom.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(document) is None
    output = json.loads(document)
    assert (output["bomFormat"], output["metadata"]["component"]["version"]) == ("CycloneDX", __version__)
    components = {each["name"]: each["version"] for each in output["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    pins = dict(line.split("==") for line in project["tool"]["uv"]["constraint-dependencies"] if ";" not in line)
    assert {"litestar", "msgspec", "mcp", "pillow", "multipart", "cryptography", "sqlite", "cpython"} <= set(components)
    assert not {"pytest", "playwright", "pyinstaller", "cyclonedx-python-lib", "defusedxml"} & set(components)
    assert {name: version for name, version in components.items() if name in pins} == {
        name: pins[name] for name in components if name in pins
    }
    licences = (folder / "LICENSES.txt").read_text("utf-8")
    for name in components.keys() - {"sqlite", "openssl", "cpython"}:
        assert f"\n{name} {components[name]}\n".lower() in licences.lower()
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
