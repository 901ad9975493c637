"""A repository of git, written by a fixed person."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """Run git as a fixed person, without the machine's settings."""
    identity = {"GIT_AUTHOR_NAME": "Ann\u202e Example", "GIT_AUTHOR_EMAIL": "ann@example.org"}
    committer = {"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org"}
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **identity, **committer}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, file: str, text: str, subject: str) -> str:
    """Write a file and commit it; return the commit."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text, "latin-1")  # as old files are
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")
