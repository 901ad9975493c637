"""The names of values that pages declare, in a project's capture policy."""

import pytest

from tests.support.server import World, expect_error, ok

NAMES = ["app.flags", "meta:build", "$release", "meta:og:title"]


def test_names_are_kept_until_they_are_replaced(world: World) -> None:
    path = f"/projects/{world.project}"
    ok(world.owner.web.patch(path, json={"capture_policy": {"declared_names": [*NAMES, NAMES[0]]}}))
    changed = ok(world.owner.web.patch(path, json={"capture_policy": {"replay": 60}}))
    assert changed["capture_policy"]["declared_names"] == NAMES
    cleared = ok(world.owner.web.patch(path, json={"capture_policy": {"declared_names": []}}))
    assert cleared["capture_policy"]["declared_names"] == []


@pytest.mark.parametrize("wrong", ["", "meta:", "app..flags", "app.flags()", "localStorage['x']", "a" * 101])
def test_what_names_no_value_is_refused(world: World, wrong: str) -> None:
    given = {"capture_policy": {"declared_names": ["app.flags", wrong]}}
    refused = world.owner.web.patch(f"/projects/{world.project}", json=given)
    problem = expect_error(refused, 400, "invalid_request")
    assert "declared_names" in str(problem)
