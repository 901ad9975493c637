"""Running other programs of this machine."""

import subprocess


def capture_output(*command: str) -> str:
    """Return the output of a command, or "" if it isn't installed or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 (ours)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
