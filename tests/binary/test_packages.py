"""The wheel, the sdist and the container, each used as somebody would who has nothing of this repository."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from ticketbox import __version__

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="the commands are those of Linux"),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("packages")
    run("uv", "build", "--quiet", "--out-dir", folder)
    return folder


def run(*command: str | Path, **more: str) -> str:
    """Run a command that must succeed."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_serves_without_a_clone_and_without_node(packages: Path, tmp_path: Path) -> None:
    """Only the downloads are shared: by the four homes, and with `uv sync`."""
    printed = run(
        sys.executable, "packaging/verify-packages", packages, "--only", "source", "pip", "uvx", "pipx",
        UV_CACHE_DIR=run("uv", "cache", "dir").strip(), PIP_CACHE_DIR=str(tmp_path / "pip"),
    )  # fmt: skip
    assert [line.split()[0] for line in printed.splitlines()] == [
        "wheel", "source", "pip", "uvx", "pipx", "everything",
    ]  # fmt: skip


@pytest.mark.skipif(not shutil.which("podman") or os.geteuid() != 0, reason="needs podman, and root for an empty base")
def test_container_serves_as_an_unprivileged_user(executable: Path, packages: Path, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    run(sys.executable, "packaging/bare_root.py", tmp_path / "base")
    with tarfile.open(tmp_path / "base.tar", "w") as archive:
        archive.add(tmp_path / "base", ".")
    (tmp_path / "dist").mkdir()
    shutil.copy(executable, tmp_path / "dist")
    base, image = f"localhost/base-{os.getpid()}", f"ticketbox:{__version__}"
    try:
        run("podman", "import", tmp_path / "base.tar", base)
        run(
            "podman", "build", "--isolation", "chroot", "--build-arg", f"BASE={base}", "--tag", image,
            "--file", "packaging/Containerfile", tmp_path,
        )  # fmt: skip
        printed = run(sys.executable, "packaging/verify-packages", packages, "--only", "container")
        assert f"{__version__}; SHO-1" in printed
    finally:
        subprocess.run(["podman", "rmi", "--force", image, base], capture_output=True, check=False)


def test_release_is_refused_from_a_tree_with_changes(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    (clone / "new.txt").write_text("not committed")
    done = subprocess.run([clone / "packaging" / "release"], capture_output=True, text=True, check=False)
    assert (done.returncode, "commit your changes first" in done.stderr) == (1, True)
    assert not (clone / "dist").exists()
