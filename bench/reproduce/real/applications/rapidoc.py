"""RapiDoc: one web component, whose parts are all in its shadow tree."""

import json
import sys

from playwright.async_api import Page

from bench.reproduce.real.application import Application, Case, Fault

_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Shop API</title>
<script type="module" src="node_modules/rapidoc/dist/rapidoc-min.js"></script>
<rapi-doc spec-url="shop.json" render-style="read" show-header="false"></rapi-doc>
"""
_WORD = {"name": "word", "in": "query", "schema": {"type": "string"}}
_LIST = {"summary": "List articles", "parameters": [_WORD], "responses": {"200": {"description": "The articles"}}}
_SPEC = {"openapi": "3.0.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "/"}],
         "paths": {"/articles.json": {"get": _LIST}}}  # fmt: skip
_TRY = 'async onTryClick(e){const t=e.target,r=t.closest(".request-panel'


async def try_operation(page: Page) -> None:
    await page.locator("[part~=textbox-param]").first.fill("lamp")
    await page.get_by_role("button", name="Try").click()


APPLICATION = Application(
    "RapiDoc",
    lambda folder, port: [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"],
    [
        Case("articles-500", Fault("^/articles.json", status=500), try_operation),
        Case("try", Fault("rapidoc-min.js$", old=f'{_TRY}")', new=f'{_TRY}s")', front=True), try_operation),
    ],
    files={"index.html": _PAGE, "shop.json": json.dumps(_SPEC), "articles.json": '[{"id": 1, "title": "Arc lamp"}]'},
    npm=["rapidoc@9.3.8"],
)
