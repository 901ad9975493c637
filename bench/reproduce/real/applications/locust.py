"""Locust: React; it starts with a form, and then asks for an answer each second."""

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_LOAD = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.5)
    host = "http://127.0.0.1:9"

    @task
    def visit(self) -> None:
        self.client.get("/articles")
"""


async def start_load(page: Page) -> None:
    await page.get_by_label("Number of users").fill("3")
    await page.get_by_role("button", name="Start").click()


APPLICATION = Application(
    "Locust",
    lambda folder, port: [
        str(folder / "bin" / "locust"), "-f", "load.py", "--web-host", "127.0.0.1", "--web-port", str(port),
    ],
    [
        Case("swarm-500", Fault("/swarm", "POST", 500), start_load),
        Case("answer-lacks-a-field", Fault("/stats/requests", old='"stats":', new='"rows":'), start_load, live=True),
    ],
    files={"load.py": _LOAD},
    pypi=["locust==2.47.0"],
    fresh=True,
)  # fmt: skip
