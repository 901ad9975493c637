"""Running other programs of this machine."""

import subprocess


def capture_output(*command: str) -> str:
    """Return the output of a command, or "" if it isn't installed or fails."""
    try:
        done = subprocess.run(  # noqa: S603 (ours)
            command,
            stdin=subprocess.DEVNULL,  # the standard input of a server is its client
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
