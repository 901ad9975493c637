"""The tab of the consent page, in Firefox."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.e2e.accounts.test_consent import Callback
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import require_firefox
from tests.support.oauth_app import App
from tests.support.server import PASSWORD, World, eventually
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long


def list_tabs(firefox: Firefox) -> list[str]:
    """The contexts of the open tabs."""
    return [each["context"] for each in firefox.call("browsingContext.getTree")["contexts"]]


def test_consent_tab_closes_after_approval(world: World, tmp_path: Path) -> None:
    archive = (EXTENSION / "firefox.zip").read_bytes()
    with Callback() as callback, Firefox(require_firefox(), archive, tmp_path) as firefox:
        for redirect in (callback.url, "org.example.editor:/callback"):
            app = App(world.box, redirect)
            tab = firefox.open(f"{world.box.url}/oauth/authorize?{urlencode(app.request())}")
            if redirect == callback.url:
                for field, text in (("email", world.owner.email), ("password", PASSWORD)):
                    firefox.click(tab, f"document.getElementById('{field}')")
                    firefox.press_keys(tab, text)
                firefox.click_button(tab, "Sign in")
                firefox.wait_until(tab, "document.querySelector('[value=approve]')")
            firefox.click_button(tab, "Approve")
            eventually(lambda tab=tab: tab not in list_tabs(firefox), describe=lambda: list_tabs(firefox))
        assert len(callback.came) == 1
