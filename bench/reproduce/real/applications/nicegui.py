"""NiceGUI: Vue and Quasar; everything between page and server is a message of socket.io."""

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_APP = """
import sys
from nicegui import ui

@ui.page("/")
def index():
    ui.label("Accounts").classes("text-h4")
    name = ui.input("Name")
    ui.input("Password", password=True, password_toggle_button=True)
    table = ui.table(columns=[{"name": "name", "label": "Name", "field": "name", "sortable": True}],
                     rows=[{"name": "Ida"}, {"name": "Olu"}], row_key="name")
    ui.button("Add account", on_click=lambda: (table.add_row({"name": name.value}), ui.notify(f"{name.value} is new")))

ui.run(host="127.0.0.1", port=int(sys.argv[1]), reload=False, show=False)
"""
_NOTIFY = "notify: (msg) => Quasar.Notify.create("


async def add_account(page: Page) -> None:
    await page.get_by_label("Name").first.fill("Zoe")
    await page.get_by_label("Password").first.fill("lamp-post-47")
    await page.get_by_role("button", name="Add account").click()


APPLICATION = Application(
    "NiceGUI",
    lambda folder, port: [str(folder / "bin" / "python"), "app.py", str(port)],
    [Case("notification", Fault("nicegui.js$", old=f"{_NOTIFY}msg)", new=f"{_NOTIFY}msg.toast.text)", front=True),
          add_account)],
    files={"app.py": _APP},
    pypi=["nicegui==3.18.0"],
)  # fmt: skip
