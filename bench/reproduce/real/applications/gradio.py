"""Gradio: Svelte; answers come as events of a stream that the page reads with fetch."""

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_APP = """
import sys
import gradio as gr

with gr.Blocks(title="Word counter") as page:
    text = gr.Textbox(label="Your text")
    secret = gr.Textbox(label="API key", type="password")
    answer = gr.Textbox(label="Result")
    gr.Button("Count words").click(lambda text, secret: f"{len(text.split())} words", [text, secret], answer)
page.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]))
"""


async def count_words(page: Page) -> None:
    await page.get_by_label("Your text").fill("three short words")
    await page.get_by_label("API key").fill("sk_live_4f1a9c02d7")
    await page.get_by_role("button", name="Count words").click()


APPLICATION = Application(
    "Gradio",
    lambda folder, port: ["env", "GRADIO_ANALYTICS_ENABLED=False", str(folder / "bin" / "python"), "app.py", str(port)],
    [Case("queue-500", Fault("queue/join", "POST", 500), count_words)],
    files={"app.py": _APP},
    pypi=["gradio==6.31.0"],
)
