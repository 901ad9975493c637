"""Runs a Playwright test with the Node of Playwright for Python, where `@playwright/test` isn't installed."""

import json
import os
import subprocess
from pathlib import Path

import playwright

_DRIVER = Path(playwright.__file__).parent / "driver"
_MODULE = """\
import { chromium } from %(core)s;
import { fileURLToPath } from 'node:url';

let options = {};
test.use = ({ contextOptions, ...others }) => (options = { ...options, ...contextOptions, ...others });

export async function test(name, run) {
  const args = ['--no-sandbox', ...JSON.parse(process.env.CHROMIUM_ARGUMENTS ?? '[]')];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
  try {
    await run({ page: await (await browser.newContext(options)).newPage() }, { file: fileURLToPath(process.env.SPEC) });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}
"""


def run_test(spec: Path, chromium: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the only test of a file with a browser; it fails with status 1 and its message on stderr."""
    module = spec.parent / "node_modules" / "@playwright" / "test"
    module.mkdir(parents=True, exist_ok=True)
    core = (_DRIVER / "package" / "index.mjs").as_uri()
    (module / "index.mjs").write_text(_MODULE % {"core": json.dumps(core)})
    (module / "package.json").write_text('{"name": "@playwright/test", "exports": "./index.mjs"}')
    return subprocess.run(
        [str(_DRIVER / "node"), "--no-warnings", str(spec)],
        env={**os.environ, "CHROMIUM": chromium, "SPEC": spec.as_uri(), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
