"""Small pages, one for each cause that kept real applications from being proved."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_SERVER = Path(__file__).parent.parent / "pages" / "server.py"


def press(*names: str) -> Callable[[Page], Awaitable[None]]:
    """Press buttons, links and labels, one after the other."""

    async def walk(page: Page) -> None:
        for name in names:
            role = page.get_by_role("button", name=name, exact=True).or_(
                page.get_by_role("link", name=name, exact=True)
            )
            await role.or_(page.locator("label", has_text=name)).first.click()

    return walk


async def sign_in_and_list(page: Page) -> None:
    await page.get_by_label("Email").click()
    await page.get_by_label("Email").fill("ann@example.org")
    await page.get_by_label("Password").click()
    await page.get_by_label("Password").fill("lamp-post-47")
    await press("Sign in", "List lamps")(page)


async def order(page: Page) -> None:
    await page.get_by_label("Name").fill("Ann")
    await page.get_by_label("Express").check()
    await press("Order")(page)


async def follow_prices(page: Page) -> None:
    await press("Follow prices")(page)
    await page.wait_for_timeout(1_500)


async def drag_card(page: Page) -> None:
    await page.locator("#card").hover()
    await page.mouse.down()
    await page.mouse.move(100, 180, steps=8)
    await page.mouse.up()


async def add_table(page: Page) -> None:
    await page.frame_locator("iframe[title=Tables]").get_by_role("button", name="Add").click()


def change(name: str, walk: Callable[[Page], Awaitable[None]], old: str, new: str, **more: Any) -> Case:
    """A bug in the page's own script."""
    return Case(name, Fault(f"^/{name}/", old=old, new=new, front=True), walk, f"/{name}/", **more)


def fail(name: str, walk: Callable[[Page], Awaitable[None]], path: str, method: str = "GET") -> Case:
    """A bug of the server, which answers 500."""
    return Case(name, Fault(path, method, 500), walk, f"/{name}/")


_ERRORS = '"errors": [{"message": "no such field"}], "data":null,"was":'
CASES = [
    change("noise", press("Load", "Arc lamp"), "owner?.name", "owner.name"),
    fail("backend-fault", press("Show lamps"), "^/api/row-markup"),
    change("private-click", sign_in_and_list, "owner?.name", "owner.name"),
    change("signed-in-before", press("Show owners"), "owner?.name", "owner.name",
           before=("/signed-in-before/", press("Sign in"))),
    change("session-before", press("Show owners"), "owner?.name", "owner.name", before=("/sign-in/", press("Sign in"))),
    change("enum-answer", press("Newest"), "values.at(-1)", "values.at(-4)"),
    change("console-objects", press("Save all"), "row.id < 7", "row.id < 8"),
    fail("never-asked", press("Sales of the week"), "^/api/panels/bars"),
    change("framework-catches", press("Load owners"), "owner?.name", "owner.name"),
    fail("form-post", order, "^/orders", "POST"),
    Case("graphql-errors", Fault("^/api/query", "POST", old='"data":', new=_ERRORS), press("Find lamp"),
         "/graphql-errors/"),
    change("event-stream", follow_prices, "price?.toFixed", "price.toFixed"),
    change("drag", drag_card, "{ done:", "{ later:"),
    change("two-frames", add_table, "table: {", "tables: {"),
    change("label", press("In the shop"), "shop: {", "shops: {"),
    change("hash-routes", press("Lamps", "Arc lamp", "Price"), "lamp = {", "lamp = null, other = {"),
    fail("phantom", press("Show sales"), "^/api/panels/sales"),
]  # fmt: skip

APPLICATION = Application(
    "Pages",
    lambda folder, port: [str(folder / "bin" / "python"), str(_SERVER), str(folder), str(port)],
    CASES,
    pypi=["flask==3.1.2"],
    npm=["lit@3.3.3", "preact@11.2.0", "alpinejs@3.17.5", "htmx.org@4.0.1", "jquery@4.0.0", "jquery-ui-dist@1.13.3",
         "solid-js@1.9.20"],
    ready="/noise/",
)  # fmt: skip
