"""Sites that the extension's "Record this site" adds to a project."""

from tests.support.server import World, expect_error, ok


def test_site_becomes_a_pattern_once(world: World) -> None:
    extension = world.owner.client("tickets:write")
    path = f"/projects/{world.project}/sites"
    for _ in range(2):
        project = ok(extension.post(path, json={"origin": "http://localhost:5173"}))
        assert project["url_patterns"] == ["http://localhost:5173/*"]
    ok(extension.post(path, json={"origin": "https://shop.example"}))
    other = world.new_project("Other")
    unchanged = ok(extension.post(f"/projects/{other}/sites", json={"origin": "https://shop.example"}))
    assert unchanged["url_patterns"] == []  # its pages go to the first project
    (listed,) = (each for each in ok(world.api.get("/projects"))["items"] if each["id"] == world.project)
    assert listed["url_patterns"] == ["http://localhost:5173/*", "https://shop.example/*"]


def test_only_an_admin_adds_a_site_and_the_refusal_names_one(world: World) -> None:
    path, site = f"/projects/{world.project}/sites", {"origin": "https://shop.example"}
    member, viewer, admin = world.join("Mo"), world.join("Vi", "viewer"), world.join("Ada", "admin")
    refused = expect_error(member.client("tickets:write").post(path, json=site), 403, "forbidden")
    assert refused["detail"] == "this requires the role admin, which these have: Ann, Ada"
    expect_error(viewer.web.post(path, json=site), 403, "forbidden")
    expect_error(admin.client("read").post(path, json=site), 403, "insufficient_scope")
    assert ok(admin.client("tickets:write").post(path, json=site))["url_patterns"] == ["https://shop.example/*"]
    assert ok(member.client("tickets:write").post(path, json=site))["id"] == world.project  # nothing to add any more


def test_address_that_is_no_origin_is_refused(world: World) -> None:
    extension = world.owner.client("tickets:write")
    for wrong in ("https://shop.example/", "https://*.example", "file://", "https://a b", "https://a@b", "shop"):
        refused = extension.post(f"/projects/{world.project}/sites", json={"origin": wrong})
        expect_error(refused, 400, "invalid_request")
    assert ok(world.api.get("/projects"))["items"][0]["url_patterns"] == []


def test_full_list_of_patterns_is_refused(world: World) -> None:
    patterns = [f"https://{number}.example/*" for number in range(50)]
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"url_patterns": patterns}))
    refused = world.owner.client("tickets:write").post(
        f"/projects/{world.project}/sites", json={"origin": "https://shop.example"}
    )
    expect_error(refused, 400, "invalid_request")
