"""Sites from PyPI: JupyterLab, Streamlit, marimo, Datasette, Trac."""

import contextlib
import sqlite3
from collections.abc import Generator
from pathlib import Path

from bench.launch import Server
from bench.peers.peer import make_venv
from bench.peers.trac import Trac
from bench.real_sites.site import Site, Start, reload, serve
from bench.real_sites.walker import Walker

STREAMLIT = """
import pandas
import streamlit

streamlit.title("Orders")
if "rows" not in streamlit.session_state:
    streamlit.session_state.rows = 3
if streamlit.button("Add row"):
    streamlit.session_state.rows += 1
if streamlit.button("Fail"):
    raise ValueError("no such order")
streamlit.checkbox("Only open orders")
streamlit.text_input("Customer")
streamlit.dataframe(pandas.DataFrame({"order": range(streamlit.session_state.rows)}))
streamlit.line_chart(pandas.DataFrame({"total": [n % 7 for n in range(50)]}))
"""
MARIMO = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    button = mo.ui.button(value=0, on_click=lambda value: value + 1, label="Count")
    box = mo.ui.checkbox(label="Only open orders")
    return box, button, mo


@app.cell
def _(box, button, mo):
    mo.vstack([button, box, mo.md(f"# {button.value} orders"), mo.ui.table([{"order": n} for n in range(30)])])
    return
"""


def install_jupyterlab(folder: Path) -> Start:
    """Install JupyterLab with a document."""
    programs = make_venv(folder, "jupyterlab==4.6.6")
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "notes.md").write_text("# Notes\n")
    options = ["--no-browser", "--allow-root", "--port={port}", "--IdentityProvider.token=", "--ip=127.0.0.1"]
    return lambda: serve(folder, f"{programs}/jupyter-lab", *options, f"--ServerApp.root_dir={folder}/files")


async def work_in_jupyterlab(walker: Walker) -> None:
    """Open two side bars and a menu."""
    for tab in ("running-sessions", "table-of-contents", "filebrowser"):
        await walker.click(f'li[data-id="{tab}"], li[data-id="jp-{tab}"]')
    await walker.click(".lm-MenuBar-itemLabel:text-is('View')")
    await walker.page.keyboard.press("Escape")


async def open_notes(walker: Walker) -> None:
    """Open a document by its address."""
    await walker.open("/lab/tree/notes.md")


def install_streamlit(folder: Path) -> Start:
    """Install Streamlit with an application."""
    programs = make_venv(folder, "streamlit==1.67.0")
    (folder / "app.py").write_text(STREAMLIT)
    options = ["--server.headless=true", "--browser.gatherUsageStats=false", "--server.address=127.0.0.1"]
    return lambda: serve(folder, f"{programs}/streamlit", "run", "app.py", "--server.port={port}", *options)


async def work_in_streamlit(walker: Walker) -> None:
    """Press buttons that run the application again, one with an error."""
    await walker.click("button:has-text('Add row')")
    await walker.click("label:has-text('Only open orders')")
    await walker.click("button:has-text('Fail')")


def install_marimo(folder: Path) -> Start:
    """Install marimo with a notebook."""
    programs = make_venv(folder, "marimo==0.25.2")
    (folder / "notebook.py").write_text(MARIMO)
    options = ["--headless", "--no-token", "--host=127.0.0.1", "--port={port}"]
    return lambda: serve(folder, f"{programs}/marimo", "run", "notebook.py", *options)


async def work_in_marimo(walker: Walker) -> None:
    """Press a button that runs a cell."""
    await walker.click("button:has-text('Count')")
    await walker.click("button[role=checkbox]")
    await walker.click("button:has-text('Count')")


def install_datasette(folder: Path) -> Start:
    """Install Datasette with a database."""
    programs = make_venv(folder, "datasette==0.65.5")
    if not (folder / "shop.db").exists():
        with contextlib.closing(sqlite3.connect(folder / "shop.db")) as database, database:
            database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total INTEGER)")
            rows = [(f"customer {n % 17}", n * 7 % 101) for n in range(300)]
            database.executemany("INSERT INTO orders (customer, total) VALUES (?, ?)", rows)
    return lambda: serve(folder, f"{programs}/datasette", "serve", "shop.db", "--host", "127.0.0.1", "--port", "{port}")


async def work_in_datasette(walker: Walker) -> None:
    """Open the menu of a column, and type into a filter."""
    await walker.click("th[data-column=customer] .dropdown-menu-icon")
    await walker.click("h1")
    await walker.click("input[name=_filter_value]")
    await walker.type("a")


async def sort_rows(walker: Walker) -> None:
    """Follow the link of a column's heading."""
    await walker.click("th[data-column=total] a", leaves=True)


async def filter_rows(walker: Walker) -> None:
    """Submit the form of the filters."""
    await walker.click("form.filters input[type=submit]", leaves=True)


async def next_rows(walker: Walker) -> None:
    """Follow the link to the next page."""
    await walker.open("/shop/orders?_next=100")


def install_trac(folder: Path) -> Start:
    """Install Trac with ten tickets, with the code of the benchmark of trackers."""
    trac = Trac()
    trac.install(folder)

    @contextlib.contextmanager
    def start() -> Generator[Server]:
        with trac.serve(folder, 10) as (server, _):
            yield server

    return start


async def work_in_trac(walker: Walker) -> None:
    """Fill in a part of the form of a new ticket."""
    await walker.click("#field-summary")
    await walker.type("a")
    await walker.click("#field-priority")
    await walker.page.keyboard.press("Escape")
    await walker.click("#field-keywords")


async def preview_ticket(walker: Walker) -> None:
    """Submit the form, with POST."""
    await walker.click("input[name=preview]", leaves=True)


async def open_missing_ticket(walker: Walker) -> None:
    """Open a page that isn't there, then the form."""
    await walker.open("/ticket/4711")
    await walker.open("/newticket")


SITES = [
    Site("JupyterLab", install_jupyterlab, "/lab", work_in_jupyterlab, [reload, open_notes, reload]),
    Site("Streamlit", install_streamlit, "/", work_in_streamlit, [reload, reload, reload]),
    Site("marimo", install_marimo, "/", work_in_marimo, [reload, reload, reload]),
    Site("Datasette", install_datasette, "/shop/orders", work_in_datasette, [sort_rows, filter_rows, next_rows]),
    Site("Trac", install_trac, "/newticket", work_in_trac, [preview_ticket, reload, open_missing_ticket]),
]
