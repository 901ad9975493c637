"""The recorder removes its own frames from a stack, and none that only mentions an extension."""

from tests.extension.node import run_module

PAGE = "https://shop.example/cart.js?from=chrome-extension://abc/x"
V8 = f"""TypeError: can't load chrome-extension://abc/x.js
    at Proxy.fetch (ticketbox:recorder.js:1:20)
    at async chrome-extension://abc/recorder.js:2:3
    at load ({PAGE}:7:9)
    at {PAGE}:8:1"""
FIREFOX = f"""fetch@moz-extension://abc/recorder.js:1:20
@ticketbox:recorder.js:3:1
load@{PAGE}:7:9"""


def test_only_recorder_frames_are_removed() -> None:
    (v8, v8_text), (firefox, firefox_text) = run_module("extension/parse_stacks.mjs", [V8, FIREFOX])
    assert v8 == [PAGE, PAGE]
    first, _, _, *rest = V8.split("\n")
    assert v8_text == "\n".join([first, *rest])
    assert firefox == [PAGE]
    assert firefox_text == FIREFOX.split("\n")[2]
