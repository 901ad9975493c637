"""A root directory without Python, Node or anything else that the executable could depend on, and a server in it."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Protocol

TOOLS = ("bash", "curl", "grep", "install", "sha256sum")
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "chroot"
LIBRARIES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libgcc_s.so.1",
             "libresolv.so.2", "libnss_files.so.2", "libz.so.1")  # fmt: skip


def make_minimal_root(root: Path) -> None:
    """Copy the C library and what it reads into a root directory."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    libraries = dict(re.findall(r"^\s*(\S+) \(libc6,[^)]*\) => (\S+)", listed, re.MULTILINE))
    libraries |= dict(re.findall(r"^\s*(ld-linux\S+) \(.*\) => (\S+)", listed, re.MULTILINE))
    for name, path in libraries.items():
        if name in LIBRARIES or name.startswith("ld-linux"):
            copy_into(root, path, path)
        if name.startswith("ld-linux"):
            for folder in ("lib64", "lib"):
                copy_into(root, path, f"{folder}/{Path(path).name}")
    etc = root / "etc"
    etc.mkdir()
    (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/false\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n")
    (etc / "nsswitch.conf").write_text("hosts: files\npasswd: files\n")
    (etc / "ld.so.conf").write_text("/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n/lib/aarch64-linux-gnu\n")
    subprocess.run(["/sbin/ldconfig", "-r", str(root)], check=True, capture_output=True)


def add_shell(root: Path) -> None:
    """Copy busybox, which is linked to nothing, as the shell of a container's base."""
    copy_into(root, shutil.which("busybox") or sys.exit("install busybox-static"), "bin/busybox")
    for tool in ("sh", "mkdir", "chown"):
        (root / "bin" / tool).symlink_to("busybox")


def make_debian_root(root: Path) -> None:
    """Install a minimal Debian without Python."""
    subprocess.run(["debootstrap", "--variant=minbase", "--exclude=python3", "stable", str(root)], check=True)
    (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n")  # Debian's installer writes it, debootstrap doesn't


def add_tools(root: Path) -> None:
    """Copy the programs that the installation page uses, and their libraries."""
    for tool in TOOLS:
        program = Path(shutil.which(tool) or sys.exit(f"packaging/verify needs {tool}")).resolve()
        copy_into(root, program, f"bin/{tool}")
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", linked):
            copy_into(root, library, library)


def copy_into(root: Path, file: Path | str, path: str) -> None:
    """Copy a file to a path below a root directory."""
    copy = root / path.lstrip("/")
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, copy)


class Root:
    """A root directory that contains the executable."""

    def __init__(self, root: Path, executable: Path) -> None:
        self.root = root
        for name in ("tmp", "data", "dev", "proc", "root"):
            (root / name).mkdir(exist_ok=True)
        root.chmod(0o755)
        (root / "tmp").chmod(0o1777)
        shutil.copy(executable, root / "ticketbox")
        for name, minor in (("null", 3), ("urandom", 9)):
            if not (root / "dev" / name).exists():
                os.mknod(root / "dev" / name, 0o20666, os.makedev(1, minor))

    def command(self, *arguments: str) -> list[str]:
        """Return the command line that runs the executable inside."""
        return [CHROOT, str(self.root), "/ticketbox", *arguments]

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """Start the executable inside, with only these environment variables."""
        return subprocess.Popen(
            self.command(*arguments), env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def start_shell(self, script: str, **options: Any) -> "subprocess.Popen[str]":
        """Start a shell script inside, as root."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        environment = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin"}
        command = [CHROOT, str(self.root), "/bin/bash", "-c", script]
        return subprocess.Popen(command, env=environment, text=True, **options)

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        done = subprocess.run(
            self.command(*arguments), env=environment, input=stdin, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()


class Starter(Protocol):
    """Where ticketbox is installed."""

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """Start it there."""
        ...


class Server:
    """`ticketbox serve` inside a root, and requests to it."""

    def __init__(self, root: Starter, db: str) -> None:
        started = time.monotonic()
        self.process = root.start("serve", "--db", db, "--port", "0", "--no-open")
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        line = self.process.stdout.readline()
        address = re.search(r" at (http://[^\s\"]+)", line)
        assert address, line + self.process.stderr.read()
        self.url = address[1]
        assert self.request("/healthz") == b"ok\n"
        self.seconds = time.monotonic() - started

    def request(self, path: str, body: bytes | None = None, **headers: str) -> bytes:
        """Send a request that must succeed, and return the body of its response."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, body, named), timeout=30) as response:
                self.headers: http.client.HTTPMessage = response.headers
                return response.read()
        except urllib.error.HTTPError as error:
            problem = error.read()
            self.process.send_signal(signal.SIGTERM)
            log = self.process.communicate()[1]
            raise AssertionError(f"{path}: {error.code} {problem!r}\n{log}") from None

    def stop(self) -> float:
        """Stop it as systemd does, and return the seconds that it needed."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=15)
        assert self.process.returncode == 0, self.process.returncode
        return time.monotonic() - started


if __name__ == "__main__":
    make_minimal_root(Path(sys.argv[1]))
    add_shell(Path(sys.argv[1]))
