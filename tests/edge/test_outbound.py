"""Outgoing requests say which host they are for."""

import asyncio
import socket
import threading

import pytest

from tests.support.webhook_receiver import Receiver
from ticketbox.edge.outbound import Fetcher


class _ReceiverV6(Receiver):
    address_family = socket.AF_INET6

    def server_bind(self) -> None:
        self.server_address = ("::1", 0)
        super().server_bind()


@pytest.mark.parametrize(("kind", "host"), [(Receiver, "127.0.0.1"), (_ReceiverV6, "[::1]")])
def test_host_of_a_request_is_that_of_its_url(kind: type[Receiver], host: str) -> None:
    if kind is _ReceiverV6 and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with kind() as receiver:
        threading.Thread(target=receiver.handle_request, daemon=True).start()
        url = f"http://{host}:{receiver.server_port}/hook?a=b"
        answer = asyncio.run(Fetcher(allow_private=True)(url, method="POST", body=b"{}", plain=True))
        assert answer.status == 204
        (got,) = receiver.got
        assert (got.headers["host"], got.path) == (f"{host}:{receiver.server_port}", "/hook?a=b")
