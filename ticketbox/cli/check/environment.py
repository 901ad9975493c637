"""What a file lives in, as `ticketbox check` looks at it."""

import contextlib
import http.client
import shutil
import socket
import ssl
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from ticketbox.cli.check.findings import Finding, Level, Report
from ticketbox.cli.common import in_bytes
from ticketbox.domain.core.clock import MINUTE, format_rfc3339

REACH_SECONDS = 5.0


def surroundings(db: Path, report: Report, public_url: str | None) -> Iterator[Finding]:
    """Look at what the file lives in: disk, permissions, clock, public address, SQLite."""
    from ticketbox.store.file.check import has_wal_fault

    report.free_bytes = shutil.disk_usage(db.absolute().parent).free
    words = f"{in_bytes(report.free_bytes)} of free room beside a file of {in_bytes(report.bytes)}"
    if report.free_bytes < report.bytes:
        advice = "make room: the copy before an upgrade, and a backup, take as much as the file"
        yield Finding(Level.WARNING, "room", words, advice)
    else:
        yield Finding(Level.OK, "room", words)
    readers = [
        each
        for each in (db, *(db.with_name(db.name + ending) for ending in ("-wal", "-shm")))
        if sys.platform != "win32" and each.exists() and each.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
    ]
    if readers:
        names = " ".join(map(str, readers))
        words = "every account of this machine can read the file, and with it what is in the tickets"
        yield Finding(Level.WARNING, "permissions", words, f"chmod o= {names}")
    yield clock(report.newest_change, time.time_ns() // 1_000_000)
    yield from _address(public_url)
    if has_wal_fault():
        words = (
            "this SQLite is older than 3.51.3 and has a rare fault when two connections checkpoint at once, "
            "so only the server does and commands beside it never do"
        )
        yield Finding(Level.NOTE, "sqlite", words, "nothing; keep other SQLite tools from writing to the file")


def clock(newest: int, now: int) -> Finding:
    """Whether the clock can be right, given when the newest change was made; both in epoch milliseconds."""
    if newest > now + MINUTE:
        clock, change = format_rfc3339(now), format_rfc3339(newest)
        words = f"the clock says {clock}, but the newest change in the file was made at {change}"
        return Finding(Level.WARNING, "clock", words, "set the machine's clock; on Linux: timedatectl set-ntp true")
    return Finding(Level.OK, "clock", f"the clock says {format_rfc3339(now)}, which no change in the file contradicts")


def _address(public_url: str | None) -> Iterator[Finding]:
    if public_url is None:
        advice = "give --public-url, or TICKETBOX_PUBLIC_URL, as for `ticketbox serve`"
        yield Finding(Level.NOTE, "address", "the public address wasn't looked at", advice)
        return
    url = urlsplit(public_url)
    wrong = _unreachable(url)
    if wrong:
        yield Finding(Level.WARNING, "address", f"{public_url} {wrong[0]}", wrong[1])
    else:
        yield Finding(Level.OK, "address", f"ticketbox answers at {public_url}")
    if url.scheme == "http" and url.hostname not in {"localhost", "127.0.0.1", "::1"}:
        words = f"{public_url} has no https: browsers keep no session there, and tokens travel in the clear"
        yield Finding(Level.WARNING, "https", words, "give serve --tls-cert and --tls-key, or put a proxy before it")


def _unreachable(url: SplitResult) -> tuple[str, str] | None:
    """Why ticketbox isn't reached at its public address, and what to do; None when it is."""
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    try:
        with contextlib.closing(kind(url.hostname or "", url.port, timeout=REACH_SECONDS)) as connection:
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            status, body = answer.status, answer.read(1000)
    except socket.gaierror:
        return "has a name that can't be resolved", "make a DNS record for it, or mend the address"
    except ssl.SSLCertVerificationError as error:
        return f"has a certificate that isn't trusted: {error.verify_message}", "renew it, with its whole chain"
    except (OSError, http.client.HTTPException) as error:
        why = "doesn't answer in time" if isinstance(error, TimeoutError) else f"can't be reached ({error})"
        return why, "start `ticketbox serve`, or mend the proxy, the port or the firewall"
    if (status, body) == (200, b"ok\n"):
        return None
    if status == 421:
        return "is an address that the server refuses (421)", (
            "give `ticketbox serve` the same --public-url, and let the proxy pass the Host header on"
        )
    if status in {502, 503, 504}:
        return f"answers {status}: the proxy doesn't reach ticketbox", "start `ticketbox serve`, or mend the proxy"
    return f"is answered by something else than ticketbox ({status})", "mend the address, or the proxy"
