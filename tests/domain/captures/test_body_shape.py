"""Bodies keep their structure and formats; their values become stand-ins."""

import json

import pytest

from tests.support.redaction_corpus import list_secrets
from ticketbox.domain.captures.capture import Redaction
from ticketbox.domain.captures.redaction.body_shape import MAX_ITEMS, BodyShaper
from ticketbox.domain.captures.redaction.secret_scanner import SecretScanner


def shape(*bodies: str) -> list[str]:
    shaper = BodyShaper()
    for body in bodies:
        shaper.count(body)
    return [shaper.shape(body) for body in bodies]


@pytest.mark.parametrize(
    ("body", "shaped"),
    [
        ('{"ok": true, "no": null, "empty": "", "list": []}', '{"ok": true, "no": null, "empty": "", "list": []}'),
        ('[0, 7, -3, 42, 1729, -12.50, 0.25, 1e9]', '[0, 7, -3, 11, 1001, -10.01, 0.01, 1e9]'),
        ('["7", "12.50", "007"]', '["7", "10.01", "001"]'),
        ('{"name": "Anna Müller", "also": "Anna Müller"}', '{"name": "Xxxx Xxxxxb", "also": "Xxxx Xxxxxb"}'),
        ('["Ann", "Bob"]', '["Xxb", "Xxc"]'),
        ('["ann@shop.example", "https://a.example/x?y=1"]', '["xxx@xxxx.xxxxxxb", "https://x.xxxxxxx/x?x=1"]'),
        ('["2026-11-22", "2026-11-22T10:30:00.000Z", "2026-11-22 10:30"]',
         '["2026-01-02", "2026-01-02T00:00:00.000Z", "2026-01-02 00:00"]'),
        ('["5f0c1e3a-77c4-4a51-9a58-0f1f3f4f7c11", "9f86d081884c7d65"]',
         '["00000000-0000-4000-8000-000000000001", "0000000000000001"]'),
        ('{"[redacted]": "Bearer [redacted]"}', '{"[redacted]": "Xxxxxb [redacted]"}'),
        ('{"ann@shop.example": 1, "user_17": 2, "u9f86d081": 3}',
         '{"xxx@xxxx.xxxxxxb": 1, "user_17": 2, "x0x00x001": 3}'),
        ('"a\\"b\\u00e9"', '"xxxb"'),
        ('{"text": "cut in the mid', '{"text": "xxx xx xxx xxb"'),
        ("code=SPRING&count=3&mail=ann%40shop.example", "code=XXXXXB&count=3&mail=xxx%40xxxx.xxxxxxb"),
        ("Hello Anna,\nyour code is 4711", "Xxxxx Xxxx, xxxx xxxx xx 0001"),
        ("c2VjcmV0IHRleHQ=", "x0XxxxX0XXXxxXB="),
        ("", ""),
    ],
)  # fmt: skip
def test_values_become_stand_ins(body: str, shaped: str) -> None:
    assert shape(body) == [shaped]


def test_words_that_repeat_in_the_capture_stay() -> None:
    bodies = ['{"status": "open", "by": "Ann"}', '[{"status": "open"}]', "status=open&by=Bob"]
    assert shape(*bodies) == ['{"status": "open", "by": "Xxb"}', '[{"status": "open"}]', "status=open&by=Xxc"]
    assert shape('["open"]') == ['["xxxb"]']
    assert shape('["hunter2", "hunter2"]') == ['["xxxxxx1", "xxxxxx1"]']


@pytest.mark.parametrize(
    ("body", "shaped"),
    [
        ('{"kind": "READY_STATE", "x": "BAD_USER_INPUT", "name": "ANNA"}',
         '{"kind": "READY_STATE", "x": "BAD_USER_INPUT", "name": "XXXB"}'),
        ('{"__typename": "AssetConnection", "elementName": "tf-histogram-dashboard", "plugin": "scalars"}', None),
        ('[{"type": "H1", "children": "Hello Anna"}]', '[{"type": "H1", "children": "Xxxxx Xxxb"}]'),
        ('{"status": 404, "age": 42, "roles": ["admin", "order:read"], "user_type": "trial"}',
         '{"status": 404, "age": 11, "roles": ["admin", "order:read"], "user_type": "trial"}'),
        ('{"status": "on holiday until May", "type": "ann@shop.example", "role": "k3Jd92xQ81"}',
         '{"status": "xx xxxxxxx xxxxx Xxb", "type": "xxx@xxxx.xxxxxxb", "role": "x0Xx00xX01"}'),
        ('{"code": "SPRING", "errorCode": "card_declined"}', '{"code": "XXXXXB", "errorCode": "card_declined"}'),
        ('{"code": "ABC1_9921_A", "type": "a12345"}', '{"code": "XXX0_0000_B", "type": "x00001"}'),
        ('{"operationName": "Find", "query": "query Find { user(name: \\"Anna\\", age: 42) { id } }"}',
         '{"operationName": "Find", "query": "query Find { user(name: \\"\\", age: 0) { id } }"}'),
        ('{"query": "mutation { pay(note: \\"never closed }"}', '{"query": "xxxxxxxx { xxx(xxxx: xxxxxx xxxxxb }"}'),
        ('{"query": "red lamp"}', '{"query": "xxx xxxb"}'),
        ('{"jsonrpc": "2.0", "method": "cart.add", "params": {"name": "Anna"}}',
         '{"jsonrpc": "2.0", "method": "cart.add", "params": {"name": "Xxxb"}}'),
        ('{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "ecf4edb46db40b5132295c0291d62"}}}',
         None),
    ],
)  # fmt: skip
def test_what_routes_a_call_or_steers_a_page_stays(body: str, shaped: str | None) -> None:
    assert shape(body) == [shaped or body]


def test_steering_value_stays_wherever_it_is() -> None:
    assert shape('{"filter": "trial"}', '{"plan_type": "trial"}')[0] == '{"filter": "trial"}'


def test_equal_values_have_equal_substitutes_in_all_bodies() -> None:
    first, second = shape('{"id": 1729, "code": "A-1"}', '{"cart": 1729, "text": "A-1", "other": 1730}')
    assert json.loads(first) == {"id": 1001, "code": "X-1"} | {"code": json.loads(second)["text"]}
    assert json.loads(second)["cart"] == json.loads(first)["id"] != json.loads(second)["other"]


def test_ids_in_addresses_stay_and_no_other_value_gets_them() -> None:
    shaper = BodyShaper()
    shaper.keep_address("https://shop.example/people/per_4f1a9c02d7/orders/11?page=42&name=Anna&at=2026-11-22#row-7a")
    shaped = (
        '{"id": "per_4f1a9c02d7", "order": 11, "row": "row-7a", "name": "Xxxb", "host": "xxxx.xxxxxxb", "other": 12}'
    )
    body = shaped.replace("Xxxb", "Anna").replace("xxxx.xxxxxxb", "shop.example").replace("12", "24")
    assert shaper.shape(body) == shaped


def test_paths_and_names_of_the_query_in_addresses_stay() -> None:
    shaper = BodyShaper()
    shaper.keep_address("https://shop.example/api/articles.json?word=lamp&ann%40shop=1#/top")
    shaper.keep_address("https://shop.example/users/17?page")
    body = (
        '{"/api/articles.json": {"name": "word", "in": "query"}, "x": ["lamp", "articles.json", "/users/17", "page"]}'
    )
    shaped = body.replace("lamp", "xxxb").replace('"articles.json', '"xxxxxxxx.xxxb').replace("/users/17", "/xxxxx/01")
    shaper.count(body)
    assert shaper.shape(body) == shaped


def test_texts_of_nothing_but_keys_and_repeated_words_stay() -> None:
    body = '{"id": "orders", "of": "orders", "children": ["orders.children", "orders/id", "ida.id", "ida.berg", "of."]}'
    shaped = body.replace("ida.id", "xxx.xb").replace("ida.berg", "xxx.xxxb").replace("of.", "xb.")
    assert shape(body) == [shaped]


def test_messages_of_socket_io_keep_their_kind_and_event() -> None:
    bodies = ['42["notify",{"text":"Ann"}]', '42/admin,17["Say hello",{"text":"Bob"}]', '0{"sid":"Kim"}', '[17, "Kay"]']
    shaped = ['42["notify",{"text":"Xxb"}]', '42/admin,17["Xxx xxxxb",{"text":"Xxc"}]', '0{"sid":"Xxd"}', '[11, "Xxe"]']
    assert shape(*bodies) == shaped


def test_long_arrays_are_cut() -> None:
    body = json.dumps({"items": [[each] for each in range(MAX_ITEMS + 50)], "after": [1, 2]})
    found = json.loads(shape(body)[0])
    assert len(found["items"]) == MAX_ITEMS
    assert found["after"] == [1, 2]
    assert shape(json.dumps([1] * MAX_ITEMS)) == [json.dumps([1] * MAX_ITEMS)]


def test_no_secret_of_the_corpus_survives() -> None:
    scanner, survivors = SecretScanner(), list[str]()
    for sample in list_secrets():
        for body in (sample.text, json.dumps({"text": sample.text}), json.dumps([{sample.text: sample.text}] * 2)):
            (shaped,) = shape(scanner.scrub(body, Redaction()))
            survivors += [secret for secret in (sample.secret,) if secret in shaped]
    assert survivors == []
