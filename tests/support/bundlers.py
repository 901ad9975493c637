"""Builds the app in tests/support/bundled_app with the bundlers, minified and with source maps."""

import shutil
from pathlib import Path

from tests.support import npm

APP = Path(__file__).parent / "bundled_app" / "src"
PACKAGES = ("esbuild@0.28.2", "vite@8.3.8", "webpack@5.112.2")

BUILDS = {
    "esbuild": """
import { build } from 'esbuild';
await build({ entryPoints: ['src/main.js'], bundle: true, minify: true, sourcemap: true, format: 'esm',
  outfile: 'out/main.mjs' });
""",
    "vite": """
import { build } from 'vite';
const lib = { entry: 'src/main.js', formats: ['es'], fileName: () => 'main.mjs' };
await build({ configFile: false, logLevel: 'error',
  build: { sourcemap: true, minify: true, outDir: 'out', target: 'es2022', lib } });
""",
    "webpack": """
import webpack from 'webpack';
const compiler = webpack({ mode: 'production', devtool: 'source-map', entry: './src/main.js', target: 'node20',
  experiments: { outputModule: true },
  output: { path: process.cwd() + '/out', filename: 'main.mjs', module: true } });
await new Promise((resolve, reject) => compiler.run((error, stats) =>
  error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : compiler.close(resolve)));
""",
}


def run(script: Path) -> str:
    """Run a script in Node; return what it prints."""
    done = npm.node(script, home=script.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_app(bundler: str, modules: Path, folder: Path, main: str | None = None) -> Path:
    """Bundle the app to `out/main.mjs` in a folder, with another entry if one is given; return the folder."""
    shutil.copytree(APP, folder / "src")
    if main is not None:
        (folder / "src" / "main.js").write_text(main)
    (folder / "package.json").write_text('{"name": "shop", "type": "module"}')
    (folder / "node_modules").symlink_to(modules)
    (folder / "build.mjs").write_text(BUILDS[bundler])
    run(folder / "build.mjs")
    return folder
