"""GrapesJS: Backbone; the person works in a frame without an address."""

import sys

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Page builder</title>
<link rel="stylesheet" href="node_modules/grapesjs/dist/css/grapes.min.css">
<div id="editor"><h1>Spring sale</h1><p>All lamps are reduced.</p></div>
<script src="node_modules/grapesjs/dist/grapes.min.js"></script>
<script>
  grapesjs.init({ container: '#editor', fromElement: true, height: '90vh', storageManager: false });
</script>
"""
_CLONE = "a['tlb-clone']={run:function(t){t."


async def clone_paragraph(page: Page) -> None:
    await page.frame_locator("iframe").first.get_by_text("All lamps are reduced.").click()
    await page.locator(".gjs-toolbar-item").nth(-2).click()


APPLICATION = Application(
    "GrapesJS",
    lambda folder, port: [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"],
    [Case("clone", Fault("grapes.min.js$", old=f"{_CLONE}runCommand", new=f"{_CLONE}startCommand", front=True),
          clone_paragraph)],
    files={"index.html": _PAGE},
    npm=["grapesjs@0.23.6"],
)  # fmt: skip
