"""What redaction takes out, what it leaves, and that hostile text can't slow it down."""

import time
from typing import Any

import pytest
from msgspec import inspect

from tests.support.streams import decode_stream, encode_stream
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.captures.actions import ActionEntry, ActionKind, ActionTarget
from ticketbox.domain.captures.capture import ConsoleEntry, Level, NetworkEntry, Page, Redaction, Stream
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.fields import LINE, URL
from ticketbox.domain.captures.intake.entry_sequence import KINDS
from ticketbox.domain.captures.redaction import secret_values
from ticketbox.domain.captures.redaction.redactor import Redactor, redact_text
from ticketbox.domain.captures.redaction.secret_names import KeyKind
from ticketbox.domain.captures.redaction.secret_values import is_secret_value
from ticketbox.domain.captures.redaction.storage_shape import StorageShaper

S = "Zq9xW7vK2mP4sT8u"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        # addresses and forms
        (f"https://h/?a=1&token={S}&b=2", "https://h/?a=1&token=[redacted]&b=2"),
        (f"https://h/#access_token={S}&x=1", "https://h/#access_token=[redacted]&x=1"),
        (f"https://h/x;jsessionid={S}", "https://h/x;jsessionid=[redacted]"),
        (f"https://h/?key={S}", "https://h/?key=[redacted]"),
        (f"https://h/cb?code={S}&state=1", "https://h/cb?code=[redacted]&state=1"),
        (
            f"https://h/?X-Amz-Signature={S}&X-Amz-Date=1",
            "https://h/?X-Amz-Signature=[redacted]&X-Amz-Date=1",
        ),
        (f"https://ann:{S}@h/x", "https://h/x"),
        (f"https://{S}@h/x", "https://h/x"),
        (f"postgres://ann:p@{S}@db/x", "postgres://db/x"),
        (f"to=https%3A%2F%2Fann%3A{S}%40h%2Fx", "to=https%3A%2F%2Fh%2Fx"),
        (f"/login?next=%2Fcb%3Ftoken%3D{S}", "/login?next=%2Fcb%3Ftoken%3D[redacted]"),
        (f"password={S}&x=1", "password=[redacted]&x=1"),
        (f"x=1&%70assw%6Frd={S}", "x=1&password=[redacted]"),
        (f"user%5Btoken%5D={S}&y=2", "user%5Btoken%5D=[redacted]&y=2"),
        (f'name="password"\r\n\r\n{S}\r\n--b', 'name="password"\r\n\r\n[redacted]\r\n--b'),
        # JSON, whole, cut, nested, escaped
        (f'{{"password":"{S}","a":1}}', '{"password":"[redacted]","a":1}'),
        (f'{{"accessToken" : "{S}"}}', '{"accessToken" : "[redacted]"}'),
        (f'{{"API-Key":"a\\"{S}"}}', '{"API-Key":"[redacted]"}'),
        (f'{{"secret":{{"a":"}}{S}"}},"b":2}}', '{"secret":"[redacted]","b":2}'),
        (f'{{"tokens":["{S}","{S}"],"b":2}}', '{"tokens":"[redacted]","b":2}'),
        ('{"cvv":123,"ssn": 123456789}', '{"cvv":"[redacted]","ssn": "[redacted]"}'),
        (f'{{"password":"{S}', '{"password":"[redacted]'),
        (f'{{"session":{{"a":["{S}"', '{"session":"[redacted]"'),
        (f'{{"p":"{{\\"pwd\\":\\"{S}\\",\\"ok\\":1}}"}}', '{"p":"{\\"pwd\\":\\"[redacted]\\",\\"ok\\":1}"}'),
        (f'{{"pass\\u0077ord":"{S}"}}', '{"password":"[redacted]"}'),
        (f'"https://h/?a=1\\u0026token={S}\\u0026b=1"', '"https://h/?a=1\\u0026token=[redacted]\\u0026b=1"'),
        # other texts
        (f"Cookie: a={S}; b={S}\nAccept: x", "Cookie: [redacted]\nAccept: x"),
        (f"authorization: Digest {S} {S}", "authorization: [redacted]"),
        (f"API key: {S}", "API key: [redacted]"),
        (f"{{ api_key: '{S}', b: 1 }}", "{ api_key: '[redacted]', b: 1 }"),
        (f'Map(1) {{"token" => "{S}"}}', 'Map(1) {"token" => "[redacted]"}'),
        (f"<w:Password>{S} b</w:Password>ok", "<w:Password>[redacted]</w:Password>ok"),
        ("password: hunter", "password: [redacted]"),
        # other separators and blocks
        (f"password -> {S}", "password -> [redacted]"),
        (f'FormData {{ password → "{S}" }}', 'FormData { password → "[redacted]" }'),
        (f"password[0]={S}&a=1", "password[0]=[redacted]&a=1"),
        (f"Your API key\n{S}\nCopy", "Your API key\n[redacted]\nCopy"),
        (f"auth:\n  password: |\n    {S}\n  a: 1", "auth:\n  password: |\n    [redacted]\n  a: 1"),
        (f"password: %s {S}", "password: %s [redacted]"),
        (f"password: my {S}<x&y later", "password: [redacted]"),
        # lists and tables
        (f"Key (id, api_key)=(7, {S}) exists", "Key (id, api_key)=(7, [redacted]) exists"),
        (
            f"INSERT INTO u (name, password) VALUES ('a', '{S}'), ('b', '{S}')",
            "INSERT INTO u (name, password) VALUES ('a', '[redacted]'), ('b', '[redacted]')",
        ),
        (
            f'INSERT INTO u (name, password) VALUES (?, ?) with params ["a", "{S}"]',
            'INSERT INTO u (name, password) VALUES (?, ?) with params ["a", "[redacted]"]',
        ),
        (f"name,password,role\nann,{S},admin\nbob,x", "name,password,role\nann,[redacted],admin\nbob,x"),
        (f"| a | token |\n|---|---|\n| 1 | {S} |", "| a | token |\n|---|---|\n| 1 | [redacted] |"),
        # a label beside its value
        (f"<dt>Password</dt> <dd>{S}</dd>", "<dt>Password</dt> <dd>[redacted]</dd>"),
        ("Your code is 839204.", "Your code is [redacted]."),
        ("839204 is your Shop code", "[redacted] is your Shop code"),
        # arguments of calls
        (f"#1 Session->login('ann', '{S}')", "#1 Session->login('ann', '[redacted]')"),
        (f'{{"method":"login","params":["ann","{S}"]}}', '{"method":"login","params":["ann","[redacted]"]}'),
        # names
        (f'{{"pwdHash":"{S}"}}', '{"pwdHash":"[redacted]"}'),
        (f'{{"tokenId":"{S}{S}"}}', '{"tokenId":"[redacted]"}'),
        (f"/verify?state={S}{S}&hash={S}{S}", "/verify?state=[redacted]&hash=[redacted]"),
        # disguises
        (f"p\u0430ssword={S}", "password=[redacted]"),
        (f"pass\u200bword={S}", "password=[redacted]"),
        (f"\uff50\uff57\uff44\uff1a{S}", "pwd\uff1a[redacted]"),
        (f"&#112;assword={S}", "password=[redacted]"),
        ("s=eyJwYXNzd29yZCI6Imh1bnRlcjIyIn0=&a=1", "s=[redacted]&a=1"),
        # GraphQL: the value of a variable; the query stays whole
        (
            f'{{"query":"mutation L($p:String!){{login(password:$p){{id}}}}","variables":{{"e":"a","p":"{S}"}}}}',
            '{"query":"mutation L($p:String!){login(password:$p){id}}","variables":{"e":"a","p":"[redacted]"}}',
        ),
        # shapes
        (f"got Bearer {S} back", "got Bearer [redacted] back"),
        ("Basic YW5uOmh1bnRlcjI=", "Basic [redacted]"),
        ("at eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!", "at [redacted]!"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("eyJghp_abcdefghijklmnopqrstuvwxyz0123456789", "eyJ[redacted]"),
        ("Basic ghp_abcdefghijklmnopqrstuvwxyz0123456789", "Basic [redacted]"),
        ("xghp_abcdefghijklmnopqrstuvwxyz0123456789", "x[redacted]"),
        ("github_pat_11ABCDEFG0abcdefghijkl_mnop", "[redacted]"),
        ("glpat-abcdefghij0123456789", "[redacted]"),
        ("xoxb-1234567890-abcdefghij", "[redacted]"),
        ("sk_live_abcdefghij0123456789", "[redacted]"),
        ("AIzaSyA-abcdefghijklmnopqrstuvwxyz01234", "[redacted]"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
        (f"{PEM}\nok", "[redacted]\nok"),
        (PEM[:-20], "[redacted]"),
        (PEM.replace("\n", "\\n"), "[redacted]"),
    ],
)
def test_secrets_are_removed(text: str, clean: str):
    assert redact_text(text)[0] == clean
    assert redact_text(text)[1] > 0
    assert redact_text(clean) == (clean, 0)


def test_own_secrets_are_removed():
    assert redact_text(f"x {generate_secret()} y") == ("x [redacted] y", 1)


@pytest.mark.parametrize(
    "text",
    [
        "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
        "Unexpected token: expired",
        "token is undefined",
        '{"token":null,"password":"","secret":false}',
        '{"key":"value","code":"E_FAILED","author":"ann","monkey":"x"}',
        "max_tokens=4096",
        "https://h/?code=DE&keyboard=1&page=2#top",
        "bearer authentication is required",
        "Basic usage",
        "WWW-Authenticate: Bearer realm",
        "webpack://react@18.2/index.js",
        "f@https://h/app.js:1:2",
        "ssh://git@github.com/a/b",
        "cursor eyJpZCI6MTIzNDU2fQ",
        "if (password>3) return",
        '<div class="pin">hello</div>',
        "100%25 %41 \\u0041 caf\\u00e9",
        "className=a",
        "İstanbul TOKEN",
        "mat-card:nth-of-type(2) > button",
        "app-otp:nth-of-type(1)",
        "#card:nth-of-type(2) input:first-child",
        'input[name="password"]:nth-of-type(2)',
        "user-auth:not(.open)",
        "login(password:$p){id} $p:String",
        '{"state":"open","hash":"9e107d9d372bb6826bd81d3542a419d6","ticket":"TB-12"}',
        "src/token.ts -> dist/token.js 12ms",
        '{"properties":{"password":{"type":"string"}},"session":{"active":true,"count":3}}',
        "name,password\nann,",
        "Password\nAt least 8 characters",
        "PWD=/home/ann12",
        "cursor eyJpZCI6MTIzNDU2LCJuYW1lIjoiYSJ9",
    ],
)
def test_ordinary_text_is_unchanged(text: str):
    assert redact_text(text) == (text, 0)


def test_locator_stays_whole_around_its_texts():
    target = ActionTarget(selectors=["my-card:nth-of-type(2) >> session=a1b2c3", f'role=link[name="token {S}{S}1"]'])
    entry = ActionEntry(seq=1, ts=1, kind=ActionKind.CLICK, target=target)
    redactor = Redactor()
    redactor.redact_actions([entry])
    assert target.selectors == ["my-card:nth-of-type(2) >> session=a1b2c3", 'role=link[name="token [redacted]"]']
    assert redactor.counts == Redaction(keys=1)


@pytest.mark.parametrize(
    ("arguments", "clean"),
    [
        (["token:", S, "retry", "3 of 5"], ["token:", "[redacted]", "retry", "3 of 5"]),
        (["user %s password: %s", "ann", S], ["user %s password: %s", "ann", "[redacted]"]),
        (["%s of %d", "token", S], ["%s of %d", "token", "[redacted]"]),
        (["%c%s", "color: red1234", S], ["%c%s", "color: red1234", S]),
    ],
)
def test_argument_is_named_by_the_text_before_it(arguments: list[str], clean: list[str]):
    entry = ConsoleEntry(seq=1, ts=1, level=Level.LOG, args=arguments)
    Redactor().redact_console([entry])
    assert entry.args == clean


class TestExtraRules:
    def test_key_is_matched_in_any_spelling(self):
        redactor = Redactor(["customer_ref"])
        assert redactor.redact_text(f'{{"customerRef":"{S}"}}') == '{"customerRef":"[redacted]"}'
        assert redactor.redact_url(f"/?Customer-Ref={S}&a=1") == "/?Customer-Ref=[redacted]&a=1"
        assert redactor.redact_text("the customer_ref field") == "the customer_ref field"
        assert redactor.counts == Redaction(extra=2)

    def test_literal_is_removed_everywhere(self):
        redactor = Redactor(["text:ACME-1", "text:acme_*"])
        assert redactor.redact_text("id ACME-12, acme_abc.def!") == "id [redacted]2, [redacted]"
        assert redactor.redact_text("acme-1") == "acme-1"

    @pytest.mark.parametrize("rule", ["text:(a+)+$", "text:.*", "(a+)+", "[", "text:", "text:*", "", "  ", "*", "\\"])
    def test_rule_is_never_a_regular_expression(self, rule: str):
        text = "a" * 200 + "! [ \\ plain"
        assert Redactor([rule]).redact_text(text) == text

    def test_literal_is_matched_exactly(self):
        text = "abc a.c " + "a" * 40 + "! (a+)+$"
        assert Redactor(["text:a.c", "text:(a+)+$"]).redact_text(text) == f"abc [redacted] {'a' * 40}! [redacted]"

    def test_number_of_rules_is_bounded(self):
        rules = [f"text:word{n}." for n in range(101)]
        assert Redactor(rules).redact_text("word99. word100.") == "[redacted] word100."


@pytest.mark.parametrize(
    "key",
    """password passwd userPassword passphrase secret client_secret apiKey api-key X-API-KEY access_key_id
    private_key authorization credential sessionId csrf xsrf-value jwt credit_card cardNumber cardNo cvv cvc
    security_code SAMLResponse client_assertion token id_token token2 token_value session auth pwd pw pass
    cookie otp totp pin ssn sid sig signature card code_verifier user[token] a.b.token""".replace("\n", " ").split(),
)
def test_secret_names(key: str):
    assert S not in redact_text(f'{{"a":1,"{key}":"{S}"}}')[0]
    assert S not in redact_text(f"https://h/?a=1&{key}={S}")[0]


@pytest.mark.parametrize(
    "key", ["author", "keyboard", "monkey", "pinned", "tokenizer", "passive", "cardinal", "side", "signal", "id"]
)
def test_ordinary_names(key: str):
    assert redact_text(f'{{"{key}":"{S}"}} ?{key}={S} {key}: {S}')[1] == 0


class TestHeaders:
    def test_identity_is_removed_and_unknown_fields_are_blanked(self):
        redactor = Redactor()
        headers = {
            "Cookie": S, "set-cookie": S, "Authorization": S, "Proxy-Authorization": S,
            "X-Api-Key": S, "X-Unknown": "plain", "X-Empty": "",
            "Content-Type": "text/html", "Referer": f"https://h/?token={S}", "sec-ch-ua": "x",
        }  # fmt: skip
        assert redactor.redact_headers(headers) == {
            "X-Api-Key": "[redacted]", "X-Unknown": "[redacted]", "X-Empty": "",
            "Content-Type": "text/html", "Referer": "https://h/?token=[redacted]", "sec-ch-ua": "x",
        }  # fmt: skip
        assert redactor.counts == Redaction(headers=6, query=1)

    def test_redactions_by_the_browser_are_not_counted_again(self):
        redactor = Redactor()
        assert redactor.redact_headers({"X-Api-Key": "[redacted]"}) == {"X-Api-Key": "[redacted]"}
        assert redactor.counts.total == 0


def fill(type_: inspect.Type, text: str) -> Any:
    """A value of a type whose texts are this text, cut to what the type allows. A text with a pattern is left out."""
    match type_:
        case inspect.Metadata(type=inner):
            return fill(inner, text)
        case inspect.StructType(cls=cls, fields=fields):
            return cls(**{each.name: fill(each.type, text) for each in fields})
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return fill(inner, text)
        case inspect.ListType(item_type=inner, min_length=least):
            return [fill(inner, text)] * (least or 1)
        case inspect.DictType(key_type=key, value_type=value):
            return {name: fill(value, text) for name in ("accept", fill(key, text))}
        case inspect.StrType(pattern=None, max_length=length):
            return text[:length]
        case inspect.StrType():
            return None
        case inspect.EnumType(cls=cls):
            return next(iter(cls))
        case inspect.BoolType():
            return False
        case inspect.IntType(ge=least) | inspect.FloatType(ge=least):
            return least or 1
        case _:
            raise AssertionError(f"no value for {type_}")


def full_entries(stream: Stream, text: str) -> list[Any]:
    """One entry of a stream, with this text in every field."""
    return [fill(inspect.type_info(KINDS[stream]), text)]


def redact(stream: Stream, entries: list[Any]) -> Redaction:
    redactor = Redactor()
    getattr(redactor, f"redact_{stream}")(entries)
    return redactor.counts


@pytest.mark.parametrize("stream", list(Stream))
def test_every_field_of_every_stream_is_redacted(stream: Stream):
    entries = full_entries(stream, "tok_" + "Ab1" * 9)
    redact(stream, entries)
    assert b"Ab1Ab1" not in encode_stream(entries)
    assert decode_stream(stream, encode_stream(entries))


@pytest.mark.parametrize("stream", list(Stream))
def test_lengthened_text_keeps_its_bounds(stream: Stream):
    entries = full_entries(stream, ("pw=x&" * LINE)[:LINE])
    for entry in entries:
        if isinstance(entry, NetworkEntry):
            entry.url = ("pw=x&" * URL)[:URL]
    assert decode_stream(stream, encode_stream(entries)) == entries
    assert redact(stream, entries).total > 0
    assert decode_stream(stream, encode_stream(entries)) == entries


def test_page_is_redacted():
    page = Page(url=f"https://h/?sid={S}", title=f"Bearer {S}", referrer=f"https://a:{S}@h/")
    Redactor().redact_page(page)
    assert page == Page(url="https://h/?sid=[redacted]", title="Bearer [redacted]", referrer="https://h/")


def test_environment_is_redacted():
    said = Environment(browser=f"Chrome Bearer {S}", os=f"password={S}", language=f"x-token={S}", timezone=f"sid={S}")
    Redactor().redact_environment(said)
    assert S not in repr(said)
    assert said.browser == "Chrome Bearer [redacted]"


def test_every_field_of_page_and_environment_is_redacted():
    secret = "tok_" + "Ab1" * 9
    page, environment = (fill(inspect.type_info(each), secret) for each in (Page, Environment))
    redactor = Redactor()
    redactor.redact_page(page)
    redactor.redact_environment(environment)
    for start in environment.storage.start:
        for values in (start.local, start.session):
            values.update({name: StorageShaper(0).shape(name, value) for name, value in values.items()})
    assert "Ab1Ab1" not in repr(page)
    assert "Ab1Ab1" not in repr(environment)


HOSTILE = [
    "token=x&", '"token":"', 'secret:{', '"secret":{"a":"', "\\", '\\"', "eyJ", "eyJabcdefghijkl", "://",
    "Bearer ", "-----BEGIN RSA PRIVATE KEY-----", "://a@", "%", "%25", "%3A%2F%2F", "%3a%2f%2fa", "tok_",
    "tokentoken", "key", "pass%", "token=       ", "[redacted]", "ghp_", "{[", 'token:{"', 'token:"\\', "İ",
    '"token":\\"', "Cookie: ", "<token>", "%22token%22%3A%22", "token=a,", 'token=a"', "token-",
    "-----BEGIN ", "key://", "key-=", "?code=a,", "secret=is,", "cookie=is ", "curl ", "curl -u ", "mysql -", ".key-",
    'secret:{"type":"string",', "password|", "password,a\n", "(password)=(", "(a,password) values (1,2", "login('a',",
    "password\n", "password\t", "<td>password</td><td>", "$a:B password:$a variables:{", '"variables":{"a":', "state=",
    "eyJabcdefghijklmnopqrst ", "/feed/", "token a b ", "token: |\n ", "password: %s ", "&#112;", "\u0430a", "a\u200b",
    "password: [type=a, input_value=", '"phone":"', '"code":"1234",', "your code ", "1234 is your ", "password[0]",
]  # fmt: skip
TAILS = [
    ('"token":"', "\\"), ('token={"', '"\\'), ("token=", "\\"), ("token={", "\\"), ("token=", ","),
    ("-----BEGIN PRIVATE KEY-----", "-----END "), ("https://", "a:"), ("Basic ", "a"), ("eyJ", "a."),
]  # fmt: skip


@pytest.mark.parametrize(("head", "unit"), [("", unit) for unit in HOSTILE] + TAILS)
def test_hostile_text_takes_linear_time(head: str, unit: str):
    """A quarter of a megabyte, the longest text an entry may hold; quadratic patterns take minutes."""
    text = head + unit * (262_144 // len(unit))
    start = time.process_time()
    redact_text(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("unit", ["key://", "key-=", "?code=a,", "secret=is,", "cookie=is "])
def test_harmless_value_is_read_up_to_600_characters(unit: str, monkeypatch: pytest.MonkeyPatch):
    """Each of these keys has all the rest of the text as its value, which isn't secret."""
    judged: list[int] = []

    def judge(value: str, kind: KeyKind, name: str) -> bool:
        judged.append(len(value))
        return is_secret_value(value, kind, name)

    monkeypatch.setattr(secret_values, "is_secret_value", judge)
    text = unit * 500
    assert redact_text(text) == (text, 0)
    assert len(judged) >= 499
    assert max(judged) == 600


@pytest.mark.parametrize("length", [599, 600, 601, 5_000])
def test_long_secret_is_removed_whole(length: int):
    assert redact_text(f"password={'a1' * length}&b=1") == ("password=[redacted]&b=1", 1)
    assert redact_text(f"Cookie: {'a=1; ' * length}\nx") == ("Cookie: [redacted]\nx", 1)


def test_commands_in_a_row_are_read_once():
    """Reading 400 characters after each of them would take a second."""
    text = "bearer is " + "curl " * 52_000
    start = time.process_time()
    assert redact_text(text) == (text, 0)
    assert time.process_time() - start < 0.5
    assert redact_text("libcurl " + "curl -sS -o x.libcurl " * 3 + "-u ann:hunter22")[1] == 1


def test_long_ordinary_stream_is_quick():
    words = "the quick component rendered with props: value of author.key in session storage, not a secret "
    entries = [
        ConsoleEntry(seq=n, ts=n, level=Level.LOG, args=[f"{n} {words * 10}"], stack=f"f@https://h/{n}.js:1:2\n" * 8)
        for n in range(2_000)
    ]
    start = time.process_time()
    counts = redact(Stream.CONSOLE, entries)
    assert time.process_time() - start < 1.5
    assert counts.total == 0
