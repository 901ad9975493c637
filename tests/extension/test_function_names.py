"""The extension names functions as the server does."""

from pathlib import Path

from tests.extension.node import ROOT, run_module
from ticketbox.domain.captures.source_maps.functions import FunctionScopes

APP = Path(__file__).parents[1] / "support" / "bundled_app" / "src"
ODD = [
    "class A extends B { #x() { y } static async *z() { y } get w() { y } constructor() { y } }",
    "const f = async (a: Map<string, number>): Promise<void> => { y }; const g: G = (a) => a / 2 / 3;",
    "if (a) { y } else for (;;) { y } x = { m() { y }, 'n': function* () { y }, [k]: () => y }",
    'const pattern = /[/{]"(\\d+)/u, größe = () => `${{ a: () => 1 }}`, b = a / c; // {',
    "function f() { /* } */ ' { ' } } ) ( [ {",
    "(" * 1_200 + "function f() { y }",
]


def test_both_name_the_same_functions() -> None:
    files = [*APP.rglob("*.js"), *sorted((ROOT / "web" / "src" / "recorder").glob("*.ts"))]
    texts = [*(text for path in files if (text := path.read_text()).isascii()), *ODD]
    given = [(text, list(range(0, len(text), 7))) for text in texts]
    scopes = [(FunctionScopes(text), offsets) for text, offsets in given]
    expected = [[found.find(offset) for offset in offsets] for found, offsets in scopes]
    assert run_module("extension/name_functions.mjs", given) == expected
    assert len({name for names in expected for name in names}) > 50
