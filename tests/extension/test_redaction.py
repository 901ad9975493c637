"""The extension redacts exactly what the server does, with the same counts, and shapes bodies alike."""

import ast
import inspect
import json
import random
import string
import time

import msgspec
import pytest

from tests.domain.captures import test_redaction
from tests.extension.node import run_module
from tests.support.redaction_corpus import list_harmless_lines, list_secrets
from tests.support.unseen import list_unseen_harmless_lines, list_unseen_secrets
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.captures.capture import Redaction
from ticketbox.domain.captures.redaction.body_shape import BodyShaper
from ticketbox.domain.captures.redaction.secret_scanner import SecretScanner

RULES = ["customer_ref", "text:ACME-1", "text:acme_*", "Order.No", "text:(a+)+$", "[", "format:email"]
PIECES = [
    "password", "user[token]", "API-Key", "accessToken", "customerRef", "code", "key", "pin", "cookie",
    "authorization", "max_tokens", "author", "order no", "=", ":", ": ", " => ", "&", "?", "#", ";", "\n", "\r\n\r\n",
    '"', "'", "`", '\\"', '\\\\\\"', "\\u0022", "\\u003d", "%22", "%3D", "%253D", "%26", "&quot;", "{", "}", "[", "]",
    ",", " ", "<", ">", "/", "</password>", "@", "://", "https://", "postgres://ann:", "%3A%2F%2F", "%40", "Bearer ",
    "basic ", "YW5uOmh1bnRlcjI=", "realm", "[redacted]", "null", "12", "4096", "hunter", "Q7Zq9xW7vK2mP4sT8u9Z",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "ACME-12", "acme_abc.def",
    "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "%70assw%6Frd", "pass\\u0077ord", "naïve ✓",
    "İ", "\\", "\t", "password ", "recovery code", "contraseña", '"name":"token","value":',
    "<input name=csrf value=", "[",
    "<password>", "<![CDATA[", "is hunter2 ", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "/reset/",
    "ann@h.example", "curl -u ", "ann:", " -p", "mysql ", " --password ", "密码", "：", "＝", "\u3000", "パスワードは",
    "пароль", "Токен", "ключ ", "не", "请输入", "验证码", " -> ", "->", " → ", " => ", "[0]", "[]", ":nth-of-type(",
    "$p", "$p:String", "password:$p", '"variables":{"p":"', "(a,password) values ('x','", "(api_key)=(", "|", "\n",
    "name,password\n", "ann,hunter22x", "state=", "hash", "nonce", "ticket", "Id", "%s ", "Your code is 839204",
    "eyJwYXNzd29yZCI6Imh1bnRlcjIyIn0=", "<dt>Password</dt><dd>", "</dd>", "pаss", "pass\u200bword", "ｐｗｄ", "&#112;",
    "\x82", "\ufffd", ": |\n  ", '"method":"login","params":["ann","', "login('ann', '", "identified by '",
    "Duplicate entry '", "' for key 'token'", " [type=a, input_value='", "expected ", " got ",
]  # fmt: skip


def list_server_texts() -> list[str]:
    """Every text in the server's tests of redaction."""
    names = dict(vars(test_redaction))
    result: list[str] = []
    for node in ast.walk(ast.parse(inspect.getsource(test_redaction))):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            value = eval(compile(ast.Expression(node), "test_redaction", "eval"), names) if _is_plain(node) else None
            if isinstance(value, str):
                result.append(value)
    return result


def list_corpus() -> list[str]:
    """The whole corpus of secrets and harmless lines, and the unseen ones."""
    samples = (*list_secrets(), *(sample for number in (1, 2, 3) for sample in list_unseen_secrets(number)))
    return [*(sample.text for sample in samples), *list_harmless_lines(), *list_unseen_harmless_lines()]


def _is_plain(node: ast.Constant | ast.JoinedStr) -> bool:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names <= {"S", "PEM"} and not any(isinstance(each, ast.Call) for each in ast.walk(node))


def generate_texts(count: int) -> list[str]:
    """Random texts of pieces that matter to redaction; the same in every run."""
    dice = random.Random(5)
    letters = string.ascii_letters + string.digits + " .,:;=&?%\\\"'"
    return [
        "".join(
            dice.choice(PIECES) if dice.random() < 0.8 else "".join(dice.choices(letters, k=dice.randint(1, 6)))
            for _ in range(dice.randint(1, 14))
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "rules",
    [pytest.param([], id="default rules"), pytest.param(RULES, id="with project rules", marks=pytest.mark.long)],
)
def test_extension_and_server_redact_alike(rules: list[str]) -> None:
    texts = [*list_server_texts(), *list_corpus(), generate_secret(), *generate_texts(20_000)]
    scanner = SecretScanner(rules)
    differing: list[tuple[str, str, str]] = []
    redacted = 0
    for text, (clean, counts) in zip(
        texts, run_module("extension/redact.mjs", {"rules": rules, "texts": texts}), strict=True
    ):
        expected = Redaction()
        wanted = scanner.scrub(text, expected)
        redacted += clean != text
        if (clean, counts) != (wanted, msgspec.to_builtins(expected)):
            differing.append((text, wanted, clean))
    assert differing == []
    # the comparison is meaningful only if some texts are redacted and some aren't
    assert 0.1 < redacted / len(texts) < 0.9


@pytest.mark.long
def test_extension_and_server_redact_hostile_texts_alike_and_in_linear_time() -> None:
    hostile = [("", unit) for unit in test_redaction.HOSTILE] + test_redaction.TAILS
    texts = [head + unit * (length // len(unit)) for head, unit in hostile for length in (590, 610, 65_536)]
    started = time.monotonic()
    cleaned = run_module("extension/redact.mjs", {"rules": [], "texts": texts})
    assert time.monotonic() - started < 30  # one quadratic pattern takes minutes
    for text, (clean, _) in zip(texts, cleaned, strict=True):
        assert clean == SecretScanner().scrub(text, Redaction()), text[:100]


def test_extension_and_server_shape_bodies_alike() -> None:
    texts = [*list_server_texts(), *list_corpus(), *generate_texts(5_000), *PIECES]
    values = [0, -7, 1729, -12.5, 0.125, 1e300, 12345678901234567890, True, None, "2026-11-22T10:30:00Z", "open"]
    captures = [[text, json.dumps([text, {text: values}], ensure_ascii=len(text) % 2 == 0)] for text in texts]
    captures += [[f"a={text}&b=open" for text in texts[:50]], [json.dumps(texts[:500])[:-7], '{"cut": "in\\']]

    documents = ('query Q { a(b: "x", c: 1.5) # x\n }', '{ a(b: """x "y" z""") }', '{ a(b: "x }', "A_B", "a.b")
    keys = ("type", "event_types", "code", "errorCode", "query", "sha256Hash", "method", "__typename")
    captures += [[json.dumps({key: [text, 404], "x": text})] for key in keys for text in (*texts[:200], *documents)]

    words = ["orders.children", "orders/lamp", "/cart/lamps", "lamp:children", "ida.berg"]
    for text in (*texts[:200], *words):
        items = [text, {"orders": words, "children": text, "in": "query", "x": ["lamp", "lamp"]}]
        captures += [[f"{head}{json.dumps(items)}"] for head in ("42", "42/admin,7", "1/", "")]

    def address(bodies: list[str]) -> str:
        return f"https://shop.example/cart/1729/{bodies[-1]}/10?{bodies[0]}=42#a1b2"

    def list_kept(bodies: list[str]) -> list[str]:
        return bodies[1:] if len(bodies[0]) % 3 == 0 else []

    def shape(bodies: list[str]) -> list[str]:
        shaper = BodyShaper()
        shaper.keep_address(address(bodies))
        for body in bodies:
            shaper.count(body)
        for body in list_kept(bodies):
            shaper.keep_numbers(body)
        return [shaper.shape(body) for body in bodies]

    wanted = [shape(bodies) for bodies in captures]
    found = run_module("extension/shape.mjs", [[[address(bodies)], bodies, list_kept(bodies)] for bodies in captures])
    assert [each for each in zip(captures, wanted, found, strict=True) if each[1] != each[2]] == []
    assert sum(bodies != shaped for bodies, shaped in zip(captures, found, strict=True)) > len(captures) / 2
