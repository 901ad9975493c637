"""Dash: React; a callback is a POST, and the options of a list are restyled."""

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_APP = """
import sys
from dash import Dash, Input, Output, State, dcc, html

app = Dash(__name__)
app.layout = html.Div([
    html.H1("Orders"),
    dcc.RadioItems(["Open", "Paid", "Late"], "Open", id="state"),
    dcc.Input(id="customer", placeholder="Customer"),
    html.Button("Show orders", id="show"),
    html.Div(id="orders"),
])

@app.callback(Output("orders", "children"), Input("show", "n_clicks"), State("state", "value"),
              State("customer", "value"), prevent_initial_call=True)
def show_orders(clicks, state, customer):
    return html.Ul([html.Li(f"{state} order {number} of {customer}") for number in range(3)])

app.run(port=int(sys.argv[1]))
"""


async def show_orders(page: Page) -> None:
    await page.get_by_text("Paid").click()
    await page.get_by_placeholder("Customer").fill("Ida")
    await page.get_by_role("button", name="Show orders").click()


APPLICATION = Application(
    "Dash",
    lambda folder, port: [str(folder / "bin" / "python"), "app.py", str(port)],
    [
        Case("callback-500", Fault("_dash-update-component", "POST", 500), show_orders),
        Case("callback-wrong-type", Fault("_dash-update-component", "POST", old='"type":"Ul"', new='"type":"Ull"'),
             show_orders, live=True),
    ],
    files={"app.py": _APP},
    pypi=["dash==4.4.1"],
)  # fmt: skip
