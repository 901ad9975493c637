"""The examples of signing an identity, as docs/use/reports.md prints them, run as they are."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.extension.node import NODE
from ticketbox.domain.reports.identity import verify_identity

PAGE = Path(__file__).parents[2] / "docs" / "use" / "reports.md"
SECRET = "idkey_" + "s" * 36
ANN = {"id": 4711, "name": "Zoë Example", "email": "zoe@example.org"}
PYTHON = f"""
from types import SimpleNamespace
print(sign_identity(SimpleNamespace(**{ANN!r})))
"""
JAVASCRIPT = f"console.log(signIdentity({json.dumps(ANN)}));"
PHP = f"echo sign_identity(json_decode({json.dumps(json.dumps(ANN))}));"


def read_example(language: str, word: str) -> str:
    """The example in a language that contains a word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [each for each in blocks if word in each]
    return found


@pytest.mark.parametrize(("language", "word", "command", "call"), [
    ("python", "def sign_identity", [sys.executable, "-c"], PYTHON),
    ("js", "function signIdentity", [str(NODE), "--input-type=module", "--eval"], JAVASCRIPT),
    pytest.param("php", "function sign_identity", ["php", "-r"], PHP, marks=pytest.mark.long),
])  # fmt: skip
def test_example_signs_an_identity_that_is_accepted(language: str, word: str, command: list[str], call: str) -> None:
    environment = {**os.environ, "TICKETBOX_IDENTITY_SECRET": SECRET}
    program = read_example(language, word) + call
    signed = subprocess.run([*command, program], env=environment, capture_output=True, text=True, check=True)
    claims = verify_identity(signed.stdout.strip(), (SECRET,), int(time.time() * 1000))
    assert (claims.sub, claims.name, claims.email) == ("4711", ANN["name"], ANN["email"])
