"""Messages of sockets and event streams come from the recording, each after the step that it followed."""

from pathlib import Path
from typing import Any

import pytest

from tests.domain.captures.test_reproduction import build_recording
from tests.e2e.captures.test_faults_of_the_server import judge
from ticketbox.domain.captures.reproduction.pack import build_files

PAGE = """<!doctype html><title>Rates</title><button>Follow</button><script>
  let isFollowed = false;
  document.querySelector('button').onclick = () => {
    isFollowed = true;
    socket.send('follow');
  };
  const show = ({ data }) => {
    const { rate } = JSON.parse(data);
    if (isFollowed !== (rate !== 1)) throw new Error('too early');
    document.title = rate.toFixed(2);
  };
  OPEN
</script>"""
OPENED = {
    "websocket": "const socket = new WebSocket(`ws://${location.host}/rates`); socket.onmessage = show;",
    "eventsource": "const socket = { send() {} }; new EventSource('/rates').addEventListener('rate', show);",
}


def build_messages(kind: str, **last: Any) -> list[dict[str, Any]]:
    event = {"event": "rate"} if kind == "eventsource" else {}
    sent = [{"ts": 2_005, "sent": True, "body": "follow"}] if kind == "websocket" else []
    received = [{"ts": 1_500, "body": '{"rate": 1}', **event}, {"ts": 2_050, "body": '{"rate": null}', **event, **last}]
    return [received[0], *sent, received[1]]


@pytest.mark.parametrize("kind", [pytest.param("websocket"), pytest.param("eventsource", marks=pytest.mark.long)])
def test_recorded_messages_are_served_in_order(tmp_path: Path, shell: str, kind: str) -> None:
    actions = [
        {"kind": "navigate", "url": "https://shop.example/", "ts": 1_000},
        {"kind": "click", "target": {"role": "button", "name": "Follow"}, "ts": 2_000},
    ]
    stream = {
        "id": "r1", "ts": 1_100, "method": "GET", "url": "https://shop.example/rates", "type": kind,
        "status": 101 if kind == "websocket" else 200, "duration_ms": None,
    }  # fmt: skip
    error = {"ts": 2_060, "kind": "error", "name": "TypeError",
             "message": "Cannot read properties of null (reading 'toFixed')"}  # fmt: skip
    page = PAGE.replace("OPEN", OPENED[kind])
    for content, messages, verdict in (
        (page, build_messages(kind), "reproduced"),
        (page.replace("rate.toFixed", "rate?.toFixed"), build_messages(kind), "gone"),
        (page, build_messages(kind, omitted_reason="limit"), "not_reached"),
    ):
        recording = build_recording(actions=actions, network=[{**stream, "messages": messages}], errors=[error])
        found = judge(build_files(recording, "1"), tmp_path, shell, {"/": content, "/rates": (404, {}, "")})
        assert found[0] == verdict, found
