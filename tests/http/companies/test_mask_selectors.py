"""The parts of a project's pages that recordings hide (docs/use/captures.md, "Hidden parts of pages")."""

import httpx
import pytest

from tests.http.reports.test_reports import SHOP, Reporter
from tests.support.server import World, expect_error, ok


def test_selectors_are_kept_until_they_are_replaced(world: World) -> None:
    path = f"/projects/{world.project}"
    chosen = [".customer-name", "#orders td:nth-child(2)"]
    ok(world.owner.web.patch(path, json={"capture_policy": {"mask_selectors": chosen}}))
    # a client that doesn't know them doesn't show what they hide
    changed = ok(world.owner.web.patch(path, json={"capture_policy": {"replay": 60}}))
    assert changed["capture_policy"]["mask_selectors"] == chosen
    (listed,) = ok(world.api.get("/projects"))["items"]
    assert listed["capture_policy"]["mask_selectors"] == chosen
    cleared = ok(world.owner.web.patch(path, json={"capture_policy": {"mask_selectors": []}}))
    assert cleared["capture_policy"]["mask_selectors"] == []
    project = world.new_project("Other", capture_policy={"mask_selectors": chosen})
    found = {each["id"]: each["capture_policy"]["mask_selectors"] for each in ok(world.api.get("/projects"))["items"]}
    assert found[project] == chosen


@pytest.mark.parametrize("wrong", ["a, b", "::before", "a" * 201, ""])
def test_wrong_selector_is_refused_with_its_place(world: World, wrong: str) -> None:
    given = {"capture_policy": {"mask_selectors": [".fine", wrong]}}
    refused = world.owner.web.patch(f"/projects/{world.project}", json=given)
    expect_error(refused, 400, "invalid_request")
    assert refused.json()["errors"][0]["field"] == "capture_policy.mask_selectors[1]"
    many = {"capture_policy": {"mask_selectors": [".a"] * 21}}
    expect_error(world.owner.web.patch(f"/projects/{world.project}", json=many), 400, "invalid_request")


def test_pages_of_a_key_read_them_and_others_do_not(world: World) -> None:
    chosen = {"mask_selectors": [".customer-name"], "declared_names": ["app.flags"]}
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": chosen}))
    reporter = Reporter(world)

    def read(origin: str, key: str) -> httpx.Response:
        headers = {"Origin": origin, "X-Forwarded-For": reporter.address}
        return httpx.get(f"{world.box.url}/api/v1/reports/{key}", headers=headers)

    answer = read(SHOP, reporter.key["key"])
    assert ok(answer) == {**chosen, "accepts_pictures": True}
    assert answer.headers["access-control-allow-origin"] == SHOP
    refused = read("https://evil.example", reporter.key["key"])
    expect_error(refused, 403, "forbidden")
    assert refused.headers["access-control-allow-origin"] == "https://evil.example"  # the page may read why
    expect_error(read(SHOP, "pub_" + "x" * 36), 404, "not_found")
