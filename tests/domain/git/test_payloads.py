"""What is read from the deliveries of GitHub, GitLab, Gitea and Forgejo."""

import time

import pytest

from tests.support.git_payloads import (
    GITEA,
    GITHUB,
    GITLAB,
    HEAD,
    NONE,
    Payload,
    build_check_suite,
    build_commit,
    build_gitlab_push,
    build_headers,
    build_merge_request,
    build_pipeline,
    build_pull_request,
    build_push,
    build_status,
    encode,
)
from ticketbox.domain.git import github_payload, gitlab_payload
from ticketbox.domain.git.changes import GitChanges, LinkChange, clean_url, read_time
from ticketbox.domain.git.records import Checks, GitLinkKind, GitState
from ticketbox.domain.git.signatures import Provider, is_signed, read_signature
from ticketbox.domain.git.ticket_references import read_branch, read_message

SECRET = "a secret"
GITHUB_AND_GITEA = (Provider.GITHUB, Provider.GITEA)


def read(payload: Payload, provider: Provider = Provider.GITHUB) -> GitChanges:
    body = encode(payload)
    if provider is Provider.GITLAB:
        return gitlab_payload.read_payload(body)
    return github_payload.read_payload(provider, body)


def read_link(payload: Payload, provider: Provider = Provider.GITHUB) -> LinkChange:
    (link,) = read(payload, provider).links
    return link


@pytest.mark.parametrize("provider", Provider)
def test_signature_of_each_provider_is_accepted_and_others_are_not(provider: Provider) -> None:
    headers = {name.lower(): value for name, value in build_headers(provider, SECRET, b"{}").items()}
    signature = read_signature(headers)
    assert signature is not None
    assert signature.provider is provider
    assert is_signed(signature, ["another", SECRET], b"{}")
    assert not is_signed(signature, ["another"], b"{}")
    assert not is_signed(signature, [], b"{}")
    if provider is not Provider.GITLAB:
        assert not is_signed(signature, [SECRET], b"{} ")


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"x-hub-signature-256": "sha1=ab"}, {"x-hub-signature-256": "sha256="}, {"x-hub-signature": "sha1=ab"},
        {"x-gitlab-token": ""}, {"x-gitea-signature": ""},
    ],
)  # fmt: skip
def test_delivery_without_a_signature_has_none(headers: dict[str, str]) -> None:
    assert read_signature(headers) is None


def test_signature_with_other_characters_is_refused_without_an_error() -> None:
    signature = read_signature({"x-hub-signature-256": "sha256=é☃"})
    assert signature is not None
    assert not is_signed(signature, [SECRET], b"{}")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("WEB-42: keep the cart", ["WEB-42"]),
        ("See WEB-1, web-2, t-4k7m2q9x and WEB-1", ["WEB-1", "t-4k7m2q9x"]),
        ("https://tickets.example/t/WEB-3", ["WEB-3"]),
        ("AWEB-42x UTF8 WEB-0 t-short", []),
        (" ".join(f"WEB-{n}" for n in range(1, 100)), [f"WEB-{n}" for n in range(1, 21)]),
        ("<!-- WEB-1 --> `WEB-2`\n\n> WEB-3\n\n~~~\nWEB-4\n~~~\n\n    WEB-5\n\n**WEB-6**", ["WEB-6"]),
        ("[the cart](https://tickets.example/t/WEB-3)", ["WEB-3"]),
    ],
)
def test_tickets_that_a_text_names(text: str, named: list[str]) -> None:
    assert read_message(text).named == named


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("Fixes WEB-42", ["WEB-42"]),
        ("fix: WEB-1. closes: WEB-2\nResolved WEB-3", ["WEB-1", "WEB-2", "WEB-3"]),
        ("Closes WEB-1, WEB-2 and WEB-3, and t-4k7m2q9x; WEB-5", ["WEB-1", "WEB-2", "WEB-3", "t-4k7m2q9x"]),
        ("Fixes https://tickets.example/t/WEB-3", ["WEB-3"]),
        ("Fixes WEB-1\nWEB-2 is next", ["WEB-1"]),
        ("Prefixes WEB-42, fixture WEB-42, fix the cart of WEB-42", []),
        ("Fixes " * 3_000 + "WEB-42", ["WEB-42"]),
        ("**Fixes** WEB-1, closes [WEB-2](https://tickets.example/t/WEB-2) and **WEB-3**", ["WEB-1", "WEB-2", "WEB-3"]),
        ("Fixes:\n- WEB-1\n- WEB-2, the cart\n\n\n- WEB-3\n\nWEB-4", ["WEB-1", "WEB-2", "WEB-3"]),
        ("Not only the cart. Fixes WEB-1; isn't new, fixes WEB-2", ["WEB-1", "WEB-2"]),
        # what a reader doesn't see, or isn't said by the author
        ("<!-- to close a ticket, write: Fixes WEB-1 -->", []),
        ("Docs <!--\nFixes WEB-1\n-->\n\n<!--\n\nFixes WEB-1\n\n-->", []),
        ("Write `Fixes WEB-1` and ``fixes ` WEB-1``, or Fixes `WEB-1`", []),
        ("```\nFixes WEB-1\n```\n\n~~~\nFixes WEB-1\n~~~\n\nSo:\n\n    Fixes WEB-1\n\n```\nFixes WEB-1", []),
        ("> Fixes WEB-1\nlazily fixes WEB-1\n\n- > Fixes WEB-1", []),
        # what is denied, and what isn't the word
        ("This does not fix WEB-1", []),
        ("It doesn't yet really fix WEB-1, it won’t close WEB-2 and never\nfixed WEB-3", []),
        ("bug-fix WEB-1, auto\u2011close WEB-1, un-resolved WEB-1", []),
        # reverts
        ('Revert "Fixes WEB-9: cart"\n\nThis reverts commit 7638417db6d59f3c431d3e1f261cc637155684cd.', []),
        ('Revert "Fix WEB-1 "cart""\n\nReverts o/r#2', []),
        ("Put the old cart back, which closes WEB-1\n\nThis reverts merge request !12", []),
        ("revert(cart)!: fix WEB-1\n\nFixes WEB-2", ["WEB-2"]),
        ('Cart (#12)\n\n* Revert "Fixes WEB-1…\n\n* Fixes WEB-2', ["WEB-2"]),
        ('Reapply "Fixes WEB-9: cart"\n\nThis reapplies it.', ["WEB-9"]),
    ],
)
def test_tickets_that_a_text_fixes(text: str, fixed: list[str]) -> None:
    assert read_message(text).fixed == fixed


def test_branch_names_tickets_in_lower_case_too() -> None:
    assert read_branch("fix/web-1-cart") == ["WEB-1"]
    assert read_branch("t-4k7m2q9x/WEB-2-and-web-2") == ["t-4k7m2q9x", "WEB-2"]


@pytest.mark.parametrize(
    "unit", ["[", "a*", "`a``", "<!-- ", "](", "a\n", "- ", "> ", "not ", 'Revert "', "fixes:\n- "]
)
def test_long_message_is_read_in_moments(unit: str) -> None:
    text = "WEB-1 " + unit * 10_000
    started = time.process_time()
    read_message(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(("provider", "base"), [(Provider.GITHUB, GITHUB), (Provider.GITEA, GITEA)])
def test_pull_request(provider: Provider, base: str) -> None:
    link = read_link(build_pull_request("Keep the cart", "Fixes WEB-42", branch="t-4k7m2q9x-cart", base=base), provider)
    assert link.url.startswith(base)
    assert (link.kind, link.name, link.title) == (GitLinkKind.PULL_REQUEST, "#7", "Keep the cart")
    assert (link.state, link.head, link.lands) == (GitState.OPEN, HEAD, False)
    assert (link.tickets, link.fixes) == (["t-4k7m2q9x", "WEB-42"], ["WEB-42"])
    merged = read_link(build_pull_request("Fixes WEB-42", state="closed", merged=True, base=base), provider)
    assert (merged.state, merged.lands) == (GitState.MERGED, True)
    stacked = read_link(build_pull_request("Fixes WEB-42", state="closed", merged=True, target="cart-2"), provider)
    assert (stacked.state, stacked.lands) == (GitState.MERGED, False)
    closed = read_link(build_pull_request("Fixes WEB-42", state="closed"), provider)
    assert (closed.state, closed.lands) == (GitState.CLOSED, False)


def test_merge_request() -> None:
    link = read_link(build_merge_request("Keep the cart", "Fixes WEB-42"), Provider.GITLAB)
    assert (link.kind, link.name, link.state, link.lands) == (GitLinkKind.PULL_REQUEST, "!7", GitState.OPEN, False)
    assert (link.url, link.head, link.fixes) == (f"{GITLAB}/-/merge_requests/7", HEAD, ["WEB-42"])
    merged = read_link(build_merge_request("Fixes WEB-42", state="merged"), Provider.GITLAB)
    assert (merged.state, merged.lands) == (GitState.MERGED, True)
    assert not read_link(build_merge_request("Fixes WEB-42", state="merged", target="x"), Provider.GITLAB).lands
    assert read_link(build_merge_request("WEB-42", state="closed"), Provider.GITLAB).state is GitState.CLOSED


def test_push_names_tickets_by_its_branch_and_its_commits() -> None:
    commits = (build_commit("Fixes WEB-42\n\nThe cart"), build_commit("Tidy up"))
    branch, commit = read(build_push("WEB-7/ümlaut", *commits)).links
    assert (branch.kind, branch.name, branch.tickets) == (GitLinkKind.BRANCH, "WEB-7/ümlaut", ["WEB-7"])
    assert (branch.url, branch.state, branch.head) == (f"{GITHUB}/tree/WEB-7/%C3%BCmlaut", GitState.OPEN, HEAD)
    assert (commit.kind, commit.name, commit.title) == (GitLinkKind.COMMIT, HEAD[:10], "Fixes WEB-42")
    assert (commit.state, commit.fixes, commit.lands) == (None, ["WEB-42"], False)
    (landed,) = read(build_push("main", *commits)).links
    assert (landed.state, landed.lands) == (GitState.MERGED, True)
    assert not read({**build_push("WEB-7"), "ref": "refs/tags/WEB-7"})


@pytest.mark.parametrize("provider", [Provider.GITHUB, Provider.GITLAB])
def test_push_of_many_commits_reads_all_that_name_tickets(provider: Provider) -> None:
    build = build_gitlab_push if provider is Provider.GITLAB else build_push
    commits = [build_commit("Fixes WEB-1"), *(build_commit(f"Tidy up {n}") for n in range(2_000))]
    assert read_link(build("main", *commits), provider).fixes == ["WEB-1"]
    links = read(build("main", *(build_commit(f"WEB-{n}") for n in range(1, 151))), provider).links
    assert [link.tickets for link in links] == [[f"WEB-{n}"] for n in range(51, 151)]


def test_push_to_gitlab() -> None:
    branch, commit = read(build_gitlab_push("WEB-7", build_commit("Fixes WEB-42", base=GITLAB)), Provider.GITLAB).links
    assert (branch.url, branch.tickets, branch.state) == (f"{GITLAB}/-/tree/WEB-7", ["WEB-7"], GitState.OPEN)
    assert (commit.fixes, commit.lands) == (["WEB-42"], False)
    (landed,) = read(build_gitlab_push("main", build_commit("Fixes WEB-42", base=GITLAB)), Provider.GITLAB).links
    assert landed.lands
    assert read_link(build_gitlab_push("WEB-7", after=NONE), Provider.GITLAB).state is GitState.CLOSED


@pytest.mark.parametrize(
    ("payload", "state"),
    [
        (build_push("WEB-7", after=NONE), GitState.CLOSED),
        ({**build_push("WEB-7"), "ref": "WEB-7", "ref_type": "branch", "pusher_type": "user"}, GitState.CLOSED),
        ({**build_push("WEB-7"), "ref": "WEB-7", "ref_type": "branch", "master_branch": "main"}, GitState.OPEN),
        ({**build_push("WEB-7"), "ref": "WEB-7", "ref_type": "branch", "sha": HEAD}, GitState.OPEN),
    ],
)
@pytest.mark.parametrize("provider", GITHUB_AND_GITEA)
def test_created_and_deleted_branch(provider: Provider, payload: Payload, state: GitState) -> None:
    link = read_link(payload, provider)
    assert (link.state, link.head) in {(GitState.CLOSED, None), (GitState.OPEN, HEAD), (GitState.OPEN, None)}
    assert link.state is state


@pytest.mark.parametrize(
    ("payload", "provider", "state"),
    [
        (build_check_suite(None), Provider.GITHUB, Checks.PENDING),
        (build_check_suite("success"), Provider.GITHUB, Checks.PASSING),
        (build_check_suite("neutral"), Provider.GITHUB, Checks.PASSING),
        (build_check_suite("timed_out"), Provider.GITHUB, Checks.FAILING),
        (build_status("pending"), Provider.GITEA, Checks.PENDING),
        (build_status("success"), Provider.GITEA, Checks.PASSING),
        (build_status("error"), Provider.GITEA, Checks.FAILING),
        (build_pipeline("running"), Provider.GITLAB, Checks.PENDING),
        (build_pipeline("success"), Provider.GITLAB, Checks.PASSING),
        (build_pipeline("failed"), Provider.GITLAB, Checks.FAILING),
    ],
)
def test_checks(payload: Payload, provider: Provider, state: Checks) -> None:
    (check,) = read(payload, provider).checks
    assert (check.head, check.state) == (HEAD, state)


@pytest.mark.parametrize("provider", Provider)
def test_other_deliveries_say_nothing(provider: Provider) -> None:
    assert not read({}, provider)
    assert not read({"zen": "Keep it logically awesome.", "hook_id": 1, "repository": {"html_url": GITHUB}}, provider)
    assert not read({"object_kind": "note", "issue": {"title": "WEB-42"}, "action": "opened"}, provider)


def test_links_that_no_browser_should_open_are_left_out() -> None:
    payload = build_pull_request("WEB-42", base="javascript:alert(1)")
    assert not read(payload)
    assert not read(build_push("WEB-7", base="data:text/html,"))
    assert not read(build_merge_request("WEB-42") | {"object_attributes": {"url": "file:///etc", "title": "WEB-42"}},
                    Provider.GITLAB)  # fmt: skip


def test_titles_are_one_line_without_characters_that_mislead() -> None:
    assert read_link(build_pull_request("WEB-42 \u202egnp\x07.exe\nmore")).title == "WEB-42 gnp.exe"
    assert len(read_link(build_pull_request("WEB-42" + "x" * 5_000)).title) == 300


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-02T10:00:00Z", 1_793_613_600_000),
        ("2026-11-02T11:00:00+01:00", 1_793_613_600_000),
        ("2026-11-02 10:00:00 UTC", 1_793_613_600_000),
        ("yesterday", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_times(text: str | None, at: int | None) -> None:
    assert read_time(text) == at


def test_url_with_a_login_is_no_link() -> None:
    for url in ("https://github.com@evil.example/x", "https://u:p@evil.example/", "javascript:alert(1)", "https://"):
        assert clean_url(url) is None, url
    assert clean_url("https://git.example/a/@b?c=d@e") == "https://git.example/a/@b?c=d@e"
