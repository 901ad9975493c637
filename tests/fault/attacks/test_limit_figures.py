"""Somebody runs into every limit and ceiling: the metrics count each refusal, under the limit's name."""

import itertools
import secrets
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.fault.attacks.test_account_discovery import accept, ask_for_taken
from tests.http.core.test_metrics import Figures, figures
from tests.support.authenticator import Phone
from tests.support.operation_cases import draw_address
from tests.support.passkey_device import PasskeyDevice
from tests.support.seed import NO_REFILLS, PatchedServer
from tests.support.server import PASSWORD, Box, Person, World, copy_initialized_file, ok
from ticketbox.domain.accounts.secrets import generate_secret

pytestmark = pytest.mark.long

BUCKETS, CEILINGS, CODES = (
    "ticketbox_bucket_refusals_total", "ticketbox_ceiling_refusals_total", "ticketbox_refusals_total",
)  # fmt: skip
Attempt = Callable[[int], httpx.Response]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server with low ceilings that nobody else asks anything."""
    flags = (
        "--trusted-proxy", "127.0.0.1/32", "--max-reads-per-minute", "500", "--max-writes-per-minute", "50",
        "--max-companies-per-account", "2", "--max-storage-per-company", "20kB", "--max-reports-per-minute", "20",
        "--max-reports-per-day", "40",
    )  # fmt: skip
    with PatchedServer(NO_REFILLS, copy_initialized_file(tmp_path_factory.mktemp("limits")), *flags) as running:
        yield running


def find_growth(before: Figures, after: Figures, name: str) -> dict[str, float]:
    """The labels under which a figure grew, and by how much."""
    grown = {key: value - before.get(key, 0) for key, value in after.items() if key[0] == name}
    return {labels[0][1]: count for (_, labels), count in grown.items() if count}


def attack_sign_in(world: World) -> dict[str, Attempt]:
    """Guesses at passwords, from one address or many, with a device or without."""
    one, box = draw_address(), world.box
    accounts = [Person(box, "Vic").email for _ in range(3)]
    laptop = box.client()
    ok(laptop.post("/session", json={"email": accounts[2], "password": PASSWORD}))
    client = box.client()

    def guess(email: str, address: str) -> httpx.Response:
        return client.post("/session", json={"email": email, "password": "x"}, headers={"X-Forwarded-For": address})

    return {
        "of an address": lambda number: guess(f"nobody-{number}@example.org", one),
        "of an address to an account": lambda _: guess(accounts[0], "198.51.100.1"),
        "of unknown addresses to an account": lambda _: guess(accounts[1], draw_address()),
        "of a device": lambda _: laptop.post("/session", json={"email": accounts[2], "password": "x"}),
    }


def attack_account(world: World) -> dict[str, Attempt]:
    """What somebody with a session tries."""
    eve, mallory, box = Person(world.box, "Eve"), Person(world.box, "Mallory"), world.box
    phone = Phone(Person(box, "Phil"))
    wrong = {"current_password": "wrong"}
    return {
        "passwords": lambda _: eve.web.post("/session/confirmation", json=wrong),
        "new addresses": lambda number: eve.web.patch("/profile", json={"email": f"{number}-{eve.email}"}),
        "taken addresses": lambda _: ask_for_taken(mallory, world.owner.email),
        "codes": lambda _: phone.web.post("/profile/second-factor/disable", json={"code": "000000"}),
    }


def attack_unknown(world: World) -> dict[str, Attempt]:
    """What somebody without any credential tries, from an address each."""
    box = world.box
    clients = [box.client() for _ in range(10)]
    keys = f"/projects/{world.project}/report-keys"
    key, spent = (
        ok(world.owner.web.post(keys, json={"kind": "link", "name": "Shop", "per_day": per_day}))["key"]
        for per_day in (40, 5)
    )
    invitation = ok(world.owner.web.post(f"/companies/{world.company}/invitations", json={}))["secret"]
    app = {"redirect_uris": ["http://127.0.0.1:33418/callback"], "client_name": "Agent"}
    grant = {"grant_type": "refresh_token", "client_id": "unknown", "refresh_token": generate_secret()}
    report = [("title", (None, "No receipt came"))]
    signature = PasskeyDevice(box.url).sign({"challenge": "eA"})

    def guess_token(_: int) -> httpx.Response:
        return clients[0].get("/me", headers={"Authorization": f"Bearer {generate_secret()}"})

    return {
        "bad credentials": guess_token,
        "no credential": lambda _: clients[1].get(f"{box.url}/signin"),
        "invitations": lambda _: clients[2].get(f"/invitations/accept/{generate_secret()}"),
        "new passwords": lambda _: clients[8].post(f"{box.url}/password", data={"email": "eve@example.org"}),
        "links for passwords": lambda _: clients[9].get(f"{box.url}/password/mbx_nothing"),
        "passkeys begun": lambda _: clients[3].post("/session/passkey/options", json={}),
        "passkeys answered": lambda _: clients[4].post("/session/passkey", json=signature),
        "registrations": lambda _: clients[5].post(f"{box.url}/oauth/register", json=app),
        "app tokens": lambda _: clients[6].post(f"{box.url}/oauth/token", data=grant),
        "taken addresses invited": lambda _: accept(box, invitation, world.owner.email, draw_address()),
        "reports of an address": lambda _: clients[7].post(f"/reports/{key}", files=report),
        "reports of a key": lambda _: box.client().post(f"/reports/{key}", files=report),
        "reports of a day": lambda _: box.client().post(f"/reports/{spent}", files=report),
    }


def attack_budgets(world: World) -> dict[str, Attempt]:
    """What somebody with a token calls too often."""
    limits = {"reads_per_minute": 5, "writes_per_minute": 3}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    client = world.owner.client("tickets:write", company_id=world.company)
    return {
        "reads": lambda _: client.get("/me"),
        "writes": lambda _: client.post("/tickets", json={"title": "x", "project_id": world.project}),
    }


def test_attack_on_every_rate_limit_is_counted_under_its_name(box: Box) -> None:
    """Each limit has a name that no other has, and each 429 is counted once."""
    world = World(box)
    names: dict[str, str] = {}
    for prepare in (attack_sign_in, attack_account, attack_unknown, attack_budgets):
        for limit, attempt in prepare(world).items():
            before = figures(box)
            for number in itertools.count():
                if attempt(number).status_code == 429:
                    break
                assert number < 700, f"{limit}: not limited"
            after = figures(box)
            grown = find_growth(before, after, BUCKETS)
            assert list(grown.values()) == [1], (limit, grown)
            assert find_growth(before, after, CODES).get("rate_limited") == 1, limit
            (names[limit],) = grown
    assert len(set(names.values())) == len(names), names


def test_attack_on_every_ceiling_is_counted_under_its_name(box: Box) -> None:
    world = World(box)
    company, keys = f"/companies/{world.company}", f"/projects/{world.project}/report-keys"
    ticket, web = world.ticket()["id"], world.owner.web
    noise = {"file": ("x.bin", b"\x01" + secrets.token_bytes(30_000))}
    key = {"kind": "link", "name": "Shop"}
    attacks: dict[str, Callable[[], httpx.Response]] = {
        "reads": lambda: web.patch(company, json={"limits": {"reads_per_minute": 501, "writes_per_minute": None}}),
        "writes": lambda: web.patch(company, json={"limits": {"reads_per_minute": None, "writes_per_minute": 51}}),
        "storage": lambda: world.api.post(f"/tickets/{ticket}/attachments", files=noise),
        "companies": lambda: [web.post("/companies", json={"name": f"Company {number}"}) for number in range(2)][-1],
        "reports a minute": lambda: web.post(keys, json={**key, "per_minute": 21}),
        "reports a day": lambda: web.post(keys, json={**key, "per_day": 41}),
    }
    names: dict[str, str] = {}
    for ceiling, attack in attacks.items():
        before = figures(box)
        assert attack().status_code in {400, 403, 507}, ceiling
        grown = find_growth(before, figures(box), CEILINGS)
        assert list(grown.values()) == [1], (ceiling, grown)
        (names[ceiling],) = grown
    assert len(set(names.values())) == len(names), names
