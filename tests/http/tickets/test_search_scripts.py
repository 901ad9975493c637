"""Search in every script: words without spaces, accents, emoji and versions."""

from tests.http.tickets.test_search import find, get_highlights, mark_matches
from tests.support.mcp_client import NEWEST, talk
from tests.support.server import World, ok


def test_words_inside_runs_without_spaces_are_found(world: World) -> None:
    ticket = world.ticket("提交订单后购物车没有清空", description="カートが空です。ชำระเงินไม่ได้ 장바구니가 비어 있다")[
        "id"
    ]
    world.ticket("物购 单订", description="トーカ ガート เงนชำระ 니바구")
    for q in (
        "购物车",
        "提交",
        "订单",
        "订单*",
        "车",
        "カート",
        "ชำระเงิน",
        "เงิน",
        "바구니",
        "title:清空",
        '"订单后购" カー',
    ):
        assert find(world.api, q) == find(world.api, q, typing=True) == [ticket], q
    for q in ("购车", "ガトー", "เงิม", "바니", "清空购", "空清", "title:カート", "-购物车 提交"):
        assert find(world.api, q) == [], q
    found = talk(world, NEWEST, lambda client: client.call_tool("search_tickets", {"query": "没有清空"}))
    assert found.structured_content is not None
    assert [each["id"] for each in found.structured_content["items"]] == [ticket]
    # a single character marks the pair that it begins
    marked = {
        "购物车": "提交订单后[购物车]没有清空",
        "车": "提交订单后购物[车没]有清空",
        "单后 物车没": "提交订[单后]购[物车没]有清空",
    }
    for q, title in marked.items():
        assert mark_matches(get_highlights(world.api, q)["title"]) == title
    assert "ชำระ[เงิน]ไม่ได้ 장바구" in mark_matches(get_highlights(world.api, "เงิน")["excerpt"]["parts"])
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "购" * 200}))
    assert find(world.api, "购" * 100) == [ticket]


def test_accents_and_case_of_every_script_are_ignored(world: World) -> None:
    accented = "Ελλάδα Ἀρχὴ ёлка שָׁלוֹם كَتَبَ Đà Nẵng"
    plain = "ΕΛΛΑΔΑ αρχη ЕЛКА שלום كتب Đa Nang"
    first, second = world.ticket(accented)["id"], world.ticket(plain)["id"]
    for word in [*accented.split(), *plain.split()]:
        assert find(world.api, word) == find(world.api, word, typing=True) == [second, first], word
    assert find(world.api, "ελλ*") == find(world.api, "Ἑλλα", typing=True) == [second, first]
    (hit, _) = ok(world.api.get("/search", params={"q": "שלום αρχη -חדש"}))["items"][::-1]
    assert mark_matches(hit["highlights"]["title"]) == "Ελλάδα [Ἀρχὴ] ёлка [שָׁלוֹם] كَتَبَ Đà Nẵng"
    similar = ok(world.api.get("/similar", params={"title": "Ελλάδα Ἀρχὴ ёлка"}))["items"]
    assert [each["id"] for each in similar] == [first]


def test_emoji_versions_keys_and_quotes_are_found(world: World) -> None:
    ticket = world.ticket("Crash🐞 in v1.2.3-rc.1", labels=['he said "x"'])
    world.ticket("Other 🐛 in v1.3.2")
    for q in ("🐞", "1.2.3", "v1.2.3", "V1.2", f"#{ticket['key']}", r'label:"he said \"x\""'):
        assert find(world.api, q) == [ticket["id"]], q
