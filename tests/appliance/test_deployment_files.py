"""The unit and the container file ask for what there is, and systemd understands the unit."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import click
import pytest

from tests.docs.pages import ROOT, blocks
from ticketbox.cli import main

PACKAGING = ROOT / "packaging"
ANALYZE = shutil.which("systemd-analyze")
TARGETS = Path("/usr/lib/systemd/system")
MOST_EXPOSED = 20  # of 100, as systemd counts


def read_flags_and_variables() -> tuple[set[str], set[str]]:
    """The flags of serve, and their variables."""
    command = main.get_command(click.Context(main), "serve")
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    flags = {flag for option in options for flag in (*option.opts, *option.secondary_opts)}
    return flags, {str(option.envvar) for option in options}


def test_unit_file_uses_flags_and_variables_of_serve() -> None:
    text = (PACKAGING / "ticketbox.service").read_text("utf-8")
    flags, variables = read_flags_and_variables()
    (start,) = re.findall(r"^ExecStart=/usr/local/bin/ticketbox serve (.*)$", text, re.MULTILINE)
    assert set(re.findall(r"--[\w-]+", start)) <= flags
    assert set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)) <= variables
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert seconds is not None
    assert int(seconds[1]) > 10


def test_unit_and_compose_file_limit_the_memory_to_more_than_the_minimum() -> None:
    unit = (PACKAGING / "ticketbox.service").read_text("utf-8")
    high, most = (re.search(rf"^{name}=(\d+[MG])$", unit, re.MULTILINE) for name in ("MemoryHigh", "MemoryMax"))
    assert (high and high[1], most and most[1]) == ("768M", "1G")
    assert "OOMPolicy=continue\n" in unit  # a worker process that is killed doesn't stop the server
    assert "\n    mem_limit: 1g " in (PACKAGING / "compose.yaml").read_text("utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root in which systemd finds the unit, its program and its own targets."""
    for folder in ("etc/systemd/system", "usr/local/bin", "lib/systemd/system"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(PACKAGING / "ticketbox.service", tmp_path / "etc/systemd/system")
    for target in TARGETS.glob("*.target"):
        shutil.copy(target, tmp_path / "lib/systemd/system")
    program = tmp_path / "usr/local/bin/ticketbox"
    program.touch(mode=0o755)
    return tmp_path


def analyze(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """What systemd's own tool says."""
    assert ANALYZE is not None
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(ANALYZE is None and "CI" not in os.environ, reason="needs systemd's tools")
def test_systemd_accepts_the_unit_file(root: Path) -> None:
    done = analyze("verify", "--man=no", f"--root={root}", "ticketbox.service")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    unit = root / "etc/systemd/system/ticketbox.service"
    unit.write_text(unit.read_text().replace("WatchdogSec=", "WatchdogSeconds="))
    assert "Unknown key" in analyze("verify", "--man=no", f"--root={root}", "ticketbox.service").stderr


@pytest.mark.skipif(ANALYZE is None and "CI" not in os.environ, reason="needs systemd's tools")
def test_unit_file_drops_privileges(root: Path) -> None:
    unit = root / "etc/systemd/system/ticketbox.service"
    asked = ("security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}", unit)
    assert analyze(*asked).returncode == 0
    unit.write_text(unit.read_text().replace("NoNewPrivileges=yes", "").replace("CapabilityBoundingSet=", ""))
    assert analyze(*asked).returncode != 0


def test_container_uses_variables_of_serve() -> None:
    text = (PACKAGING / "Containerfile").read_text("utf-8")
    variables = set(re.findall(r"\b(TICKETBOX_\w+)=", text))
    assert variables
    assert variables <= read_flags_and_variables()[1]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("podman") is None, reason="needs podman")
def test_archives_of_both_architectures_are_joined_as_documented(tmp_path: Path) -> None:
    (commands,) = [each for each in blocks(ROOT / "docs/develop/releasing.md", "sh") if "manifest create" in each]
    created, *added, pushed = commands.strip().splitlines()
    assert pushed.startswith("podman manifest push --all ")  # there is no registry here
    name = f"localhost/joined-{os.getpid()}:1"
    images = [f"{name}-{architecture}" for architecture in ("amd64", "arm64")]

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with tarfile.open(tmp_path / "root.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("empty"), io.BytesIO())
    try:
        for image in images:
            architecture = image.rpartition("-")[2]
            run("podman", "import", "--arch", architecture, "root.tar", image)
            run("podman", "save", "--format", "oci-archive", "--output", f"ticketbox-1-image-{architecture}.tar", image)
        for command in (created, *added):
            run(*command.replace("tickets.example.org/ticketbox:VERSION", name).replace("VERSION", "1").split())
        listed = json.loads(run("podman", "manifest", "inspect", name))["manifests"]
        assert {each["platform"]["architecture"] for each in listed} == {"amd64", "arm64"}
    finally:
        subprocess.run(["podman", "manifest", "rm", name], capture_output=True, check=False)
        subprocess.run(["podman", "rmi", "--force", *images], capture_output=True, check=False)
