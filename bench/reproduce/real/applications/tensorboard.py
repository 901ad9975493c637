"""TensorBoard: Angular and Polymer, with workers; answers choose which parts the page shows."""

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_LOG = """
from tensorboard.summary import Writer

writer = Writer("logs/lamps")
for step in range(20):
    writer.add_scalar("loss", 1 / (step + 1), step)
    writer.add_scalar("accuracy", step / 20, step)
writer.close()
"""


async def show_scalars(page: Page) -> None:
    await page.get_by_role("tab", name="scalars").click()


APPLICATION = Application(
    "TensorBoard",
    lambda folder, port: [
        str(folder / "bin" / "tensorboard"), "--logdir", "logs", "--host", "127.0.0.1", "--port", str(port),
    ],
    [Case("scalars-500", Fault("/plugin/scalars/scalars", "POST", 500), show_scalars)],
    files={"log.py": _LOG},
    prepare=lambda folder: [[str(folder / "bin" / "python"), "log.py"]],
    pypi=["tensorboard==2.21.0", "setuptools<81"],
)  # fmt: skip
