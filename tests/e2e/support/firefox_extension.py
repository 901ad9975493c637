"""What a person does with the extension in Firefox."""

import json
import os
from urllib.parse import unquote

import pytest

from tests.e2e.support.firefox import Firefox, find_firefox
from tests.support.server import eventually

POPUP = "chrome.extension.getViews({ type: 'popup' })[0]"
_BUTTONS = f"[...({POPUP}?.document.querySelectorAll('button') ?? [])]"
_FILL = """((address, secret) => {
  const fill = (field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  fill(document.querySelector("[autocomplete=url]"), address);
  document.querySelector("details").open = true;
  fill(document.querySelector("[type=password]"), secret);
})"""


def require_firefox() -> str:
    """Return the path of Firefox; if there is none, skip the test, or fail if CI is set."""
    found = find_firefox()
    if found is None:
        reason = "this test needs Firefox on the PATH"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def connect_with_token(firefox: Firefox, address: str, secret: str) -> str:
    """Connect the extension to a server, and record all sites; return the options page."""
    options = firefox.open_options()
    firefox.wait_until(options, "document.querySelector('details')")
    firefox.evaluate(options, f"{_FILL}({json.dumps(address)}, {json.dumps(secret)})")
    firefox.click_button(options, "Connect with token")
    firefox.wait_until(options, "document.body?.innerText.includes('Connected with an API token')")
    firefox.click_button(options, "Record all sites")
    firefox.wait_until(options, "document.body?.innerText.includes('Stop recording')")
    return options


def create_ticket(firefox: Firefox, options: str) -> str:
    """Send the report as a new ticket, and close the popup; return the ticket's key, which the popup shows."""
    key = _send_report(firefox, options)
    firefox.evaluate(options, f"{POPUP}.close()")
    firefox.wait_until(options, f"!{POPUP}")
    return key


def open_ticket(firefox: Firefox, options: str) -> str:
    """Send the report as a new ticket, open it, and close its tab; return its address."""
    _send_report(firefox, options)
    firefox.evaluate(options, f"{_BUTTONS}.find((each) => each.textContent.includes('Open ticket')).click()")
    # who isn't signed in is sent to the sign-in page, whose address has that of the ticket
    (tab,) = eventually(lambda: [each for each in firefox.list_contexts() if "/tickets/" in unquote(each["url"])])
    firefox.call("browsingContext.close", context=tab["context"])
    return tab["url"]


def _send_report(firefox: Firefox, options: str) -> str:
    """Send the report as a new ticket; return its key when the popup shows it."""
    firefox.wait_until(options, f"{POPUP}?.document.querySelector('[type=submit]:enabled')")
    firefox.evaluate(options, f"{POPUP}.document.querySelector('[type=submit]').click()")
    find = f"{_BUTTONS}.find((each) => each.textContent.includes"
    new, done = f"{find}('Create new ticket'))", f"{find}('Open ticket'))"
    firefox.wait_until(options, f"{new} || {done}")
    firefox.evaluate(options, f"{new}?.click()")
    key = f"{POPUP}.document.querySelector('.key')?.textContent"
    firefox.wait_until(options, f"{done} && {key}")
    return firefox.evaluate(options, key)
