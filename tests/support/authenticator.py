"""An authenticator app in the hands of somebody with an account."""

import base64
import html
import re
import time

import httpx

from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, Person, ok
from ticketbox.domain.accounts import totp

PATH = "/profile/second-factor"
OF_USER = "WHERE user_id = (SELECT id FROM user WHERE public_id = ?)"
FORGET_STEP = f"UPDATE second_factor SET last_step = 0 {OF_USER}"


def compute_current_code(secret: str) -> str:
    """Compute the code that an app shows now."""
    return totp.compute_code(base64.b32decode(secret), int(time.time()) // 30)


def find_field(page: httpx.Response, name: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, page.text
    return html.unescape(found[1])


class Phone:
    """Somebody with an authenticator app."""

    def __init__(self, person: Person) -> None:
        self.person, self.box, self.web = person, person.box, person.web
        given = ok(self.web.post(PATH, json={}))
        self.uri = given["uri"]
        self.secret = given["secret"]
        self.recovery_codes: list[str] = ok(self.web.post(f"{PATH}/enable", json={"code": self.show_code()}))[
            "recovery_codes"
        ]

    def show_code(self) -> str:
        """The code of now, as if the last one had been used long ago."""
        update_row(self.box.db, FORGET_STEP, self.person.id)
        return compute_current_code(self.secret)

    def sign_in(self, client: httpx.Client | None = None, **more: str) -> httpx.Response:
        body = {"email": self.person.email, "password": PASSWORD, **more}
        return (client or self.box.client()).post("/session", json=body)

    def open_browser(self) -> httpx.Client:
        """A browser at the pages of the server, without a session."""
        browser = self.box.client(**{"Sec-Fetch-Site": "same-origin"})
        browser.base_url = httpx.URL(self.box.url)
        browser.event_hooks = {}
        return browser

    def enter_password(self, browser: httpx.Client, then: str = "/inbox") -> httpx.Response:
        form = {"email": self.person.email, "password": PASSWORD, "next": then}
        return browser.post("/signin", data=form)
