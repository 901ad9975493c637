"""Somebody guesses a password from every address that they can get or claim, and the owner still signs in."""

import itertools
import secrets
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.support.operation_cases import draw_address
from tests.support.seed import NO_REFILLS, PatchedServer
from tests.support.server import PASSWORD, Box, Person, World, copy_initialized_file, ok

pytestmark = pytest.mark.long

PER_ADDRESS, PER_ADDRESS_AND_ACCOUNT, FROM_ANYWHERE, WITH_DEVICE = 30, 10, 20, 10  # docs/use/limits.md
FORWARDED = "X-Forwarded-For"
Headers = list[tuple[str, str]]


def draw_network() -> str:
    """The first four groups of an IPv6 address: a network that nobody else uses."""
    return f"2001:db8:{secrets.randbelow(65_536):x}:{secrets.randbelow(65_536):x}"


def draw_host() -> str:
    """The last four groups of an IPv6 address."""
    return ":".join(f"{secrets.randbelow(65_536):x}" for _ in range(4))


def sign_in(client: httpx.Client, email: str, password: str, headers: Headers) -> httpx.Response:
    """Sign in with exactly these headers, and the answer's cookies left where they are."""
    request = client.build_request("POST", "/session", json={"email": email, "password": password})
    rest = [(name, text) for name, text in request.headers.items() if name != FORWARDED.lower()]
    answer = client.send(httpx.Request("POST", request.url, headers=[*rest, *headers], content=request.read()))
    client.cookies.clear()
    return answer


def expect_at_most(per_minute: int, tries: int, attempt: Callable[[int], httpx.Response]) -> None:
    """Expect that of many wrong guesses only those of the limit are answered."""
    statuses = [attempt(number).status_code for number in range(tries)]
    assert set(statuses) == {401, 429}
    assert statuses.count(401) <= per_minute < tries


def rotate_in_network() -> Iterator[Headers]:
    """Every address of one /64."""
    network = draw_network()
    while True:
        yield [(FORWARDED, f"{network}:{draw_host()}")]


def respell_network() -> Iterator[Headers]:
    """The same, in the spellings of RFC 4291."""
    network = [f"{secrets.randbelow(65_536):x}" for _ in range(2)]
    short, long_ = ":".join(network), ":".join(group.zfill(4) for group in network)
    spellings = [
        f"2001:db8:{short}::",
        f"2001:0DB8:{long_.upper()}::",
        f"2001:0db8:{long_}:0:0:0:",
        f"2001:DB8:{short}::0:",
    ]
    for number, spelling in enumerate(itertools.cycle(spellings)):
        yield [(FORWARDED, f"{spelling}{number + 1:x}")]


def respell_ipv4() -> Iterator[Headers]:
    """One IPv4 address as itself, mapped in decimals and in hexadecimals, and behind a translator (RFC 6052)."""
    address = draw_address()
    digits = "".join(f"{int(each):02x}" for each in address.split("."))
    high, low = digits[:4], digits[4:]
    spellings = [
        address, f"::ffff:{address}", f"::FFFF:{high}:{low}", f"0:0:0:0:0:ffff:{high.upper()}:{low}",
        f"0000:0000:0000:0000:0000:ffff:{address}", f"64:ff9b::{address}", f"64:ff9b::{high}:{low}",
    ]  # fmt: skip
    for spelling in itertools.cycle(spellings):
        yield [(FORWARDED, spelling)]


def prepend_claims() -> Iterator[Headers]:
    """What a client writes before the proxy adds its address, in one header or two."""
    real = draw_address()
    while True:
        claim = draw_address()
        yield [(FORWARDED, f"{claim}, {real}")]
        yield [(FORWARDED, f"{claim},\t {draw_network()}::1 ,{real}")]
        yield [(FORWARDED, claim), (FORWARDED, real)]
        yield [(FORWARDED, f"{claim}, 127.0.0.1, {real}")]
        yield [(FORWARDED, f"{claim}, {real}, 127.0.0.1")]
        yield [("Forwarded", f"for={claim}"), ("X-Real-IP", claim), ("True-Client-IP", claim), (FORWARDED, real)]


def claim_nonsense() -> Iterator[Headers]:
    """What no proxy writes: all of it counts as one address."""
    for number in itertools.count():
        yield [(FORWARDED, f"_hidden{number}")]
        yield [(FORWARDED, f"1.2.3.{number + 256}")]
        yield [(FORWARDED, f"{draw_address()}, nobody-{number}")]


def rotate_zones() -> Iterator[Headers]:
    """Addresses of the link, with the zone that a system adds to them."""
    for number in itertools.count():
        yield [(FORWARDED, f"fe80::{number + 1:x}%eth{number}")]


@pytest.mark.parametrize(
    "claims", [rotate_in_network, respell_network, respell_ipv4, prepend_claims, claim_nonsense, rotate_zones]
)
def test_attack_by_claimed_addresses_gets_the_tries_of_one(
    world: World, claims: Callable[[], Iterator[Headers]]
) -> None:
    client, headers = world.box.client(), claims()
    expect_at_most(
        PER_ADDRESS_AND_ACCOUNT, 50, lambda _: sign_in(client, world.owner.email, "a wrong guess", next(headers))
    )
    assert sign_in(client, world.owner.email, PASSWORD, next(headers)).status_code == 429


def test_attack_on_many_accounts_from_one_ipv6_network_is_slowed_down(world: World) -> None:
    client, headers = world.box.client(), rotate_in_network()
    emails = [Person(world.box, "Vic").email for _ in range(5)]

    def spray(number: int) -> httpx.Response:
        email = emails[number % 5] if number % 2 else f"nobody-{secrets.token_hex(4)}@example.org"
        return sign_in(client, email, "a wrong guess", next(headers))

    expect_at_most(PER_ADDRESS, 100, spray)


def spell_differently(email: str) -> list[str]:
    """An address in other cases, and with characters whose lower case is an ASCII letter or looks like one."""
    return [
        email.upper(), email.title(), email.replace("k", "\u212a"), email.replace("s", "\u017f"),
        email.replace("k", "\uff4b"), email.replace(".", "\uff0e"), email.replace("@", "@\u00ad"), f"{email}.",
    ]  # fmt: skip


def test_attack_after_120_tries_from_120_networks_is_refused_with_the_right_password(world: World) -> None:
    """In every spelling, from every network, with every cookie but that of the owner, who signs in meanwhile."""
    vic, eve, client = Person(world.box, "Kass"), Person(world.box, "Eve"), world.box.client()
    home = f"{draw_network()}::1"
    laptop = world.box.client(**{FORWARDED: home})
    devices: list[str] = []
    for _ in range(2):  # the first device is replaced by the second
        ok(laptop.post("/session", json={"email": vic.email, "password": PASSWORD}))
        devices.append(laptop.cookies[f"{world.box.cookie}-device"])
    planted = world.box.client()
    ok(planted.post("/session", json={"email": eve.email, "password": PASSWORD}))
    device = f"{world.box.cookie}-device"
    cookies = ["", devices[0], planted.cookies[device], planted.cookies[world.box.cookie], "tok_nonsense"]
    networks = [home, *(f"{draw_network()}::1" for _ in range(20)), *(draw_address() for _ in range(20))]
    routes = itertools.cycle(itertools.product(networks, cookies))

    def attack(password: str, email: str = vic.email) -> httpx.Response:
        address, cookie = next(routes)
        return sign_in(client, email, password, [(FORWARDED, address), ("Cookie", f"{device}={cookie}")])

    expect_at_most(FROM_ANYWHERE + PER_ADDRESS_AND_ACCOUNT, 120, lambda _: attack("a wrong guess"))
    for email in [vic.email] * 5 + spell_differently(vic.email):
        assert attack(PASSWORD, email).status_code != 201
    for address in (home, networks[1], draw_address()):
        answer = laptop.post("/session", json={"email": vic.email, "password": PASSWORD}, headers={FORWARDED: address})
        assert ok(answer)["user"]["id"] == vic.id


def test_attack_by_api_and_page_has_the_tries_of_one(world: World) -> None:
    vic, client = Person(world.box, "Vic"), world.box.client()
    page = {"Sec-Fetch-Site": "same-origin", "Origin": world.box.url}

    def attack(number: int, password: str = "a wrong guess") -> httpx.Response:
        address = {FORWARDED: f"{draw_network()}::1"}
        given = {"email": vic.email, "password": password}
        if number % 2:
            return client.post("/session", json=given, headers=address)
        return httpx.post(f"{world.box.url}/signin", data=given, headers={**page, **address})

    expect_at_most(FROM_ANYWHERE, 100, attack)
    for number in range(2):
        assert attack(number, PASSWORD).status_code != 201


def test_attack_with_a_stolen_device_is_slowed_down_by_it(world: World) -> None:
    """A device that was stolen helps against nobody else's limits, and has its own."""
    vic, laptop = Person(world.box, "Vic"), world.box.client()
    ok(laptop.post("/session", json={"email": vic.email, "password": PASSWORD}))
    cookie = ("Cookie", f"{world.box.cookie}-device={laptop.cookies[f'{world.box.cookie}-device']}")
    client = world.box.client()
    expect_at_most(
        WITH_DEVICE + FROM_ANYWHERE, 120,
        lambda _: sign_in(client, vic.email, "a wrong guess", [(FORWARDED, draw_address()), cookie]),
    )  # fmt: skip
    other = Person(world.box, "Other").email
    address = draw_address()
    expect_at_most(
        PER_ADDRESS_AND_ACCOUNT, 60, lambda _: sign_in(client, other, "a wrong guess", [(FORWARDED, address), cookie])
    )


@pytest.fixture(params=[("127.0.0.1", "10.9.8.7/32"), ("::1", "127.0.0.1/32"), ("::1", None)])
def direct(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that its clients reach without the proxy that it trusts."""
    host, proxy = request.param
    flags = ["--host", host, *(["--trusted-proxy", proxy] if proxy else [])]
    with PatchedServer(NO_REFILLS, copy_initialized_file(tmp_path_factory.mktemp("direct")), *flags) as running:
        yield running


def test_attack_past_the_proxy_claims_addresses_in_vain(direct: Box) -> None:
    """The claims name the owner's network, the proxy and this machine."""
    vic, client = Person(direct, "Vic"), direct.client()
    home = vic.web.headers[FORWARDED]
    claims = [f"{draw_network()}::1", home, "10.9.8.7", "127.0.0.1", "::1", f"{home}, 10.9.8.7", f"{home}, 127.0.0.1"]

    def attack(number: int) -> httpx.Response:
        headers = [(FORWARDED, claims[number % len(claims)]), ("Forwarded", f"for={draw_address()}")]
        return sign_in(client, vic.email, "a wrong guess", headers)

    expect_at_most(PER_ADDRESS_AND_ACCOUNT, 60, attack)
