"""Check the environment of a file, for `ticketbox check`."""

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

from ticketbox.cli.check.findings import Finding, Report, Severity
from ticketbox.cli.core.output import format_bytes
from ticketbox.domain.core.clock import MINUTE, format_rfc3339

REACH_SECONDS = 5.0


def check_environment(db: Path, report: Report, public_url: str | None) -> Iterator[Finding]:
    """Check free disk space, permissions, the clock, the public URL and SQLite."""
    from ticketbox.store.file.check import has_wal_fault
    from ticketbox.store.file.connection import get_log_paths

    report.free_bytes = shutil.disk_usage(db.absolute().parent).free
    words = f"{format_bytes(report.free_bytes)} free on the disk; the file has {format_bytes(report.bytes)}"
    if report.free_bytes < report.bytes:
        advice = "free some space: a backup, and the copy before an upgrade, need as much as the file"
        yield Finding(Severity.WARNING, "room", words, advice)
    else:
        yield Finding(Severity.OK, "room", words)
    readers = [
        each
        for each in (db, *get_log_paths(db))
        if sys.platform != "win32" and each.exists() and each.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
    ]
    if readers:
        names = " ".join(map(str, readers))
        words = "every account on this machine can read the file and its tickets"
        yield Finding(Severity.WARNING, "permissions", words, f"chmod o= {names}")
    yield check_clock(report.newest_change, time.time_ns() // 1_000_000)
    yield from _check_public_url(public_url)
    if has_wal_fault():
        words = (
            "SQLite is older than 3.51.3, which has a rare bug when two connections checkpoint together; "
            "ticketbox avoids it: only the server checkpoints"
        )
        yield Finding(Severity.NOTE, "sqlite", words, "nothing; don't write to the file with other SQLite tools")


def check_clock(newest: int, now: int) -> Finding:
    """Compare the clock with the newest change in the file; both in epoch milliseconds."""
    moment = format_rfc3339(now)
    if newest > now + MINUTE:
        words = f"the clock says {moment}, but the newest change in the file is from {format_rfc3339(newest)}"
        return Finding(Severity.WARNING, "clock", words, "set the clock; on Linux: timedatectl set-ntp true")
    return Finding(Severity.OK, "clock", f"the clock says {moment}; no change in the file is newer")


def _check_public_url(public_url: str | None) -> Iterator[Finding]:
    if public_url is None:
        advice = "set --public-url or TICKETBOX_PUBLIC_URL, as for `ticketbox serve`"
        yield Finding(Severity.NOTE, "address", "the public URL wasn't checked", advice)
        return
    url = urlsplit(public_url)
    fault = _find_fault(url)
    if fault:
        yield Finding(Severity.WARNING, "address", f"{public_url} {fault[0]}", fault[1])
    else:
        yield Finding(Severity.OK, "address", f"ticketbox answers at {public_url}")
        if url.path:
            yield from _check_metadata(url)
    if url.scheme == "http" and url.hostname not in {"localhost", "127.0.0.1", "::1"}:
        words = f"{public_url} doesn't use https: others in the network can read passwords, sessions and tokens"
        yield Finding(
            Severity.WARNING, "https", words, "use --tls-cert and --tls-key with `ticketbox serve`, or an https proxy"
        )


def _check_metadata(url: SplitResult) -> Iterator[Finding]:
    """Check that the proxy forwards the OAuth metadata of a server under a path (RFC 8414, 3.1)."""
    path = f"/.well-known/oauth-authorization-server{url.path}"
    with contextlib.suppress(OSError, http.client.HTTPException):
        status, body = _request(url, path)
        if status == 200 and b'"token_endpoint"' in body:
            return
    words = f"{url.scheme}://{url.netloc}{path} isn't answered by ticketbox: agents can't sign in"
    yield Finding(Severity.WARNING, "metadata", words, "let the proxy forward it; see TLS and proxies, Under a path")


def _request(url: SplitResult, path: str) -> tuple[int, bytes]:
    """Return the status and the start of the body. Raises OSError and HTTPException."""
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    with contextlib.closing(kind(url.hostname or "", url.port, timeout=REACH_SECONDS)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read(1000)


def _find_fault(url: SplitResult) -> tuple[str, str] | None:
    """Return why ticketbox can't be reached at its public URL, and what to do; None if it can."""
    try:
        status, body = _request(url, f"{url.path}/healthz")
    except socket.gaierror:
        return "has a name that can't be resolved", "create a DNS record for it, or fix the URL"
    except ssl.SSLCertVerificationError as error:
        return f"has a certificate that isn't trusted: {error.verify_message}", "renew it, with its complete chain"
    except (OSError, http.client.HTTPException) as error:
        why = "doesn't answer in time" if isinstance(error, TimeoutError) else f"can't be reached ({error})"
        return why, "start `ticketbox serve`, or fix the proxy, the port or the firewall"
    if status == 200 and body.startswith(b"ok\n"):
        return None
    if status == 421:
        return "is refused by the server (421)", (
            "start `ticketbox serve` with the same --public-url, and make the proxy pass the Host header"
        )
    if status in {502, 503, 504}:
        return f"returned {status}: the proxy can't reach ticketbox", "start `ticketbox serve`, or fix the proxy"
    return f"is answered by something other than ticketbox ({status})", "fix the URL or the proxy"
