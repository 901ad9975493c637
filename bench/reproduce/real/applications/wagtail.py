"""Wagtail: Django's own pages, with a session in an HttpOnly cookie and forms."""

from pathlib import Path

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_PASSWORD = "lamp-post-47"
_OWNER = (
    "from django.contrib.auth import get_user_model as model; "
    f"model().objects.create_superuser('ann', 'ann@example.org', '{_PASSWORD}')"
)


def create_site(folder: Path) -> list[list[str]]:
    python = str(folder / "bin" / "python")
    manage = [python, "shop/manage.py"]
    begin = [str(folder / "bin" / "wagtail"), "start", "shop"]
    return [begin, [*manage, "migrate", "-v0"], [*manage, "shell", "-c", _OWNER]]


async def sign_in(page: Page) -> None:
    await page.get_by_label("Username").fill("ann")
    await page.get_by_label("Password").fill(_PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("link", name="Images").first.wait_for()


async def search_images(page: Page) -> None:
    await page.get_by_placeholder("Search images").or_(page.get_by_label("Search term")).first.fill("lamp")


async def sign_in_and_search(page: Page) -> None:
    await sign_in(page)
    await page.get_by_role("link", name="Images").first.click()
    await search_images(page)


APPLICATION = Application(
    "Wagtail",
    lambda folder, port: [
        str(folder / "bin" / "python"), "shop/manage.py", "runserver", "--noreload", f"127.0.0.1:{port}",
    ],
    [
        Case("search-500", Fault("/admin/images/results/", status=500), search_images, "/admin/images/",
             before=("/admin/login/", sign_in)),
        Case("search-500-signed-in", Fault("/admin/images/results/", status=500), sign_in_and_search, "/admin/"),
    ],
    prepare=create_site,
    ready="/admin/login/",
    pypi=["wagtail==8.0.1"],
)  # fmt: skip
