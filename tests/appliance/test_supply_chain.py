"""What a release is built from: hashed packages, checked advisories, signed files."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT

CHECK = ROOT / ".ci" / "check-vulnerabilities"


def read_requirements(name: str) -> dict[str, list[str]]:
    """The hashes of each requirement with its version."""
    text = (ROOT / "packaging" / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return {line.split()[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})", line) for line in lines}


def test_release_is_built_from_hashed_packages_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    pins = {pin.split(" ")[0] for pin in project["tool"]["uv"]["constraint-dependencies"]}
    for name in ("requirements.txt", "uv.txt"):
        requirements = read_requirements(name)
        assert all(requirements.values()), name
        assert "://" not in (ROOT / "packaging" / name).read_text("utf-8")
        assert name == "uv.txt" or requirements.keys() <= pins
    direct = [re.split(r"[><;\[]", each)[0].replace(".", "-") for each in project["project"]["dependencies"]]
    assert {*direct, "hatchling"} <= {each.split("==")[0] for each in read_requirements("requirements.txt")}
    for script in (".ci/run", "packaging/build"):
        installs = [
            line for line in (ROOT / script).read_text("utf-8").splitlines() if re.search(r"pip\"? install", line)
        ]
        assert installs
        assert all("--require-hashes" in line or "--no-deps --no-build-isolation" in line for line in installs)


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(CHECK), *arguments], capture_output=True, text=True, check=False)


def write_advisories(folder: Path, *records: dict[str, Any]) -> str:
    """A zip of advisories, dated long ago."""
    path = folder / "advisories.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, record in enumerate(records):
            full = {"id": f"X-{number}", "modified": "2026-01-01T00:00:00Z", "summary": "bad", **record}
            archive.writestr(f"X-{number}.json", json.dumps(full))
    return str(path)


def affect(ecosystem: str, name: str, **more: Any) -> dict[str, Any]:
    return {"affected": [{"package": {"ecosystem": ecosystem, "name": name}, **more}]}


def in_range(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


def test_affected_version_is_found_without_a_connection(tmp_path: Path) -> None:
    since = {"introduced": "0"}
    affected = [
        affect("PyPI", "MsgSpec", **in_range(since)),
        affect("PyPI", "litestar", **in_range(since, {"fixed": "999"})),
        affect("npm", "@lucide/svelte", **in_range({"introduced": "0.1.0"}, {"last_affected": "999.0.0"})),
    ]
    harmless = [
        affect("PyPI", "litestar", **in_range(since, {"fixed": "0.1"})),
        affect("PyPI", "litestar", **in_range(since, {"fixed": "0.1"}, {"introduced": "999"})),
        affect("PyPI", "click", versions=["0.1"]),
        affect("npm", "litestar", **in_range(since)),
        affect("PyPI", "somebody-elses", **in_range(since)),
        {**affect("PyPI", "litestar", **in_range(since)), "withdrawn": "2026-01-02T00:00:00Z"},
    ]
    done = check(write_advisories(tmp_path, *affected, *harmless))
    assert done.returncode == 1, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:3]] == ["X-0", "X-1", "X-2"]
    assert "8 advisories until 2026-01-01: 3 affected" in done.stdout
    assert "older than 30 days" in done.stdout
    done = check(write_advisories(tmp_path, *harmless))
    assert (done.returncode, "0 affected" in done.stdout) == (0, True)


@pytest.mark.skipif(any((ROOT / ".ci" / "advisories").glob("*.zip")), reason="there are advisories")
def test_check_without_advisories_says_that_it_was_skipped() -> None:
    done = check()
    assert (done.returncode, done.stdout.startswith("skipped: no advisories")) == (0, True)


def sign(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "packaging" / "sign", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_signature_covers_every_file_of_a_release(tmp_path: Path) -> None:
    key, dist, signers = tmp_path / "key", tmp_path / "dist", tmp_path / "signers"
    dist.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (dist / "ticketbox").write_text("the executable")
    sums = subprocess.run(["sha256sum", "ticketbox"], cwd=dist, check=True, capture_output=True, text=True).stdout
    (dist / "SHA256SUMS").write_text(sums)
    public = key.with_suffix(".pub").read_text("utf-8")
    signers.write_text(f'releases@tickets.example namespaces="ticketbox-release" {public}')
    assert sign(key, dist).returncode == 0
    asked = ("--verify", signers, "releases@tickets.example", dist)
    assert sign(*asked).returncode == 0
    assert sign("--verify", signers, "somebody@tickets.example", dist).returncode != 0
    (dist / "ticketbox").write_text("another")
    assert sign(*asked).returncode != 0
    assert sign(key, dist).returncode != 0  # nothing is signed that the checksums don't describe
    (dist / "ticketbox").write_text("the executable")
    (dist / "SHA256SUMS").write_text(sums + "\n")
    assert sign(*asked).returncode != 0


@pytest.mark.long
@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_pinned_packages_have_wheels_for_both_architectures(tmp_path: Path, machine: str) -> None:
    """The executable of either architecture is built without a compiler, from contents with the recorded hashes."""
    command = ["uv", "pip", "install", "--no-deps", "--target", str(tmp_path), "--require-hashes"]
    platform = ["--python-platform", f"{machine}-manylinux_2_28", "--python-version", "3.11", "--only-binary", ":all:"]
    listed = ROOT / "packaging" / "requirements.txt"
    done = subprocess.run([*command, *platform, "-r", listed], capture_output=True, text=True, check=False)
    if "Failed to fetch" in done.stderr and "CI" not in os.environ:
        pytest.skip("needs a package index")
    assert done.returncode == 0, done.stderr
    names = {line.removeprefix(" + ").split("==")[0] for line in done.stderr.splitlines() if line.startswith(" + ")}
    assert {each.split("==")[0] for each in read_requirements(listed.name)} >= names >= {"msgspec", "uvloop", "pillow"}
