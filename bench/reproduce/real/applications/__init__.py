"""The applications, in the order in which they run."""

from bench.reproduce.real.applications import (
    dash,
    gradio,
    grapesjs,
    locust,
    nicegui,
    pages,
    rapidoc,
    tensorboard,
    wagtail,
)

APPLICATIONS = [
    each.APPLICATION for each in (grapesjs, rapidoc, nicegui, dash, locust, gradio, tensorboard, wagtail, pages)
]
