"""Secrets that redaction must remove, and harmless lines that it must keep.

The formats are those that public scanners know (gitleaks, trufflehog, detect-secrets, Sentry's scrubbers). Every secret
is generated here, and prefixes are written in parts, so that no scanner mistakes this file for a leak.
"""

# ruff: noqa: E501

import base64
import json
import random
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from tests.support.harmless_lines import FIELDS, LINES
from tests.support.token_formats import DIGITS, HEX, LOWER, TOKENS, UPPER, WORD

HARMLESS_LINES = 1_000


class Sample(NamedTuple):
    """A text with a secret: no part of 6 characters of `secret` may be left."""

    kind: str
    text: str
    secret: str


class Source:
    """Random characters; the same in each run."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self.choice, self.randint, self.randrange = self._dice.choice, self._dice.randint, self._dice.randrange

    def take(self, length: int, alphabet: str = WORD) -> str:
        """Random characters; with an alphabet of letters and digits, at least one of each."""
        text = "".join(self._dice.choices(alphabet, k=length))
        if length < 8 or not set(DIGITS) & set(alphabet):
            return text
        places = self._dice.sample(range(length), 4)
        for place, kind in zip(places, (LOWER, UPPER, DIGITS, DIGITS), strict=True):
            allowed = [each for each in alphabet if each in kind]
            if allowed:
                text = text[:place] + self._dice.choice(allowed) + text[place + 1 :]
        return text

    def uuid(self) -> str:
        """A random UUID."""
        return str(uuid.UUID(int=self._dice.getrandbits(128), version=4))


NAMES = [
    "password", "user_password", "newPassword", "PASSWORD", "passwd", "pwd", "passphrase", "passcode", "secret",
    "client_secret", "clientSecret", "api_key", "apiKey", "X-Api-Key", "access_token", "accessToken",
    "refreshToken", "id_token", "auth_token", "authToken", "bearer_token", "csrf_token", "xsrfToken",
    "csrfmiddlewaretoken", "authenticity_token", "sessionId", "session_id", "PHPSESSID", "JSESSIONID",
    "connect.sid", "sessionKey", "masterKey", "encryptionKey", "signing_key", "private_key", "privateKey",
    "secretAccessKey", "aws_secret_access_key", "accountKey", "SharedAccessKey", "otpCode", "otp", "device_code",
    "recovery_codes", "backupCodes", "mnemonic", "seedPhrase", "verification_code", "authCode", "code_verifier",
    "client_assertion", "SAMLResponse", "jwt", "credentials", "ssn", "cvv", "cvc", "cardNumber", "card_number",
    "securityCode", "x-amz-security-token", "subscriptionKey", "webhookSecret", "hmac_key", "licenseKey",
    "db_password", "DATABASE_PASSWORD", "rootPassword", "smtp_pass", "redis_pw", "connectionString", "oauth_token",
    "twitter_token", "pushToken", "resetToken", "invite_token", "wifi_psk", "passwort", "kennwort", "mot_de_passe",
    "contraseña", "contrasena", "senha", "wachtwoord", "lösenord", "adgangskode", "salasana", "heslo", "пароль",
]  # fmt: skip

SYNTAXES: list[tuple[str, Callable[[str, str], str]]] = [
    ("JSON", lambda name, value: json.dumps({"id": 7, name: value, "ok": True}, ensure_ascii=False)),
    ("form", lambda name, value: f"a=1&{quote(name)}={value}&b=2"),
    ("query", lambda name, value: f"GET https://shop.example/api/v2/items?page=2&{quote(name)}={value}#top"),
    ("escaped JSON", lambda name, value: json.dumps({"body": json.dumps({name: value}, ensure_ascii=False)}, ensure_ascii=False)),
    ("assignment", lambda name, value: f"{name} = '{value}'"),
    ("environment", lambda name, value: f"export {name}={value} && npm start"),
    ("Go", lambda name, value: f'{name} := "{value}"'),
    ("YAML", lambda name, value: f"user: ann\n{name}: {value}\nport: 80"),
    ("object", lambda name, value: f"{{ user: 'ann', '{name}': '{value}' }}"),
    ("pair", lambda name, value: json.dumps({"name": name, "value": value}, ensure_ascii=False)),
    ("pair with type", lambda name, value: json.dumps({"name": name, "type": "text", "value": value}, ensure_ascii=False)),
    ("reversed pair", lambda name, value: json.dumps({"value": value, "name": name}, ensure_ascii=False)),
    ("list", lambda name, value: json.dumps([["accept", "*/*"], [name, value]], ensure_ascii=False)),
    ("call", lambda name, value: f"setItem('{name}', '{value}')"),
    ("XML", lambda name, value: f"<user><{name}>{value}</{name}></user>"),
    ("CDATA", lambda name, value: f"<a:{name} type='x'><![CDATA[{value}]]></a:{name}>"),
    ("input", lambda name, value: f'<input type=hidden name={name} value="{value}">'),
    ("meta", lambda name, value: f'<meta name="{name}" content="{value}" />'),
    ("Map", lambda name, value: f'Map(2) {{"a" => 1, "{name}" => "{value}"}}'),
    ("multipart", lambda name, value: f'form-data; name="{name}"\r\n\r\n{value}\r\n--x'),
]  # fmt: skip

PROSE = [
    "password {}", "Your password is {}", "log in with password {} please", "the new password was {}", "Passwort {} ist abgelaufen",
    "my password: {}", "using api key {} for this call", "Your API key is {}", "got token {} from the server", "access token {} expired",
    "secret {} was rotated", "Password reset: new password is '{}'", "default pwd {}", "passphrase {}", "contraseña {}",
    "use password {}, then press Enter", "auth token {}", "refresh token is {}",
]  # fmt: skip
LINKS = [
    "https://shop.example/reset-password/{}", "https://shop.example/users/password/reset/{}", "/invite/{}", "/invitations/{}/accept",
    "https://shop.example/auth/magic-link/{}", "/magic/{}", "/verify-email/{}", "/account/confirm/{}", "/activate/{}?lang=de",
    "https://shop.example/#/reset/{}", "/unsubscribe/{}", "/login/token/{}", "/join/{}", "/one-time/{}", "/recover/{}", "/signin/{}",
    "/share/accept/{}", "/en/confirm-email/{}/", "open /workspace/invite/{} to join", "/passwordless/{}",
]  # fmt: skip
HOOKS = [
    "https://hooks.slack.com/services/T012AB3CD/B045EF6GH/{}", "https://discord.com/api/webhooks/123456789012345678/{}",
    "https://discordapp.com/api/webhooks/123456789012345678/{}", "https://hooks.slack.com/workflows/T012AB3CD/A045EF6GH/{}",
    "https://acme.webhook.office.com/webhookb2/{}", "https://hooks.zapier.com/hooks/catch/1234567/{}/",
    "https://open.feishu.cn/open-apis/bot/v2/hook/{}", "https://chat.example/hooks/{}",
]  # fmt: skip


def list_secrets() -> list[Sample]:
    """All samples with a secret."""
    return list(_generate_secrets(Source(16)))


def list_harmless_lines() -> list[str]:
    """Lines like those of real applications: the log of a server, a console, responses, stacks."""
    source = Source(17)
    lines: dict[str, None] = {}
    turn = 0
    while len(lines) < HARMLESS_LINES:
        line = LINES[turn % len(LINES)]
        for field, values in FIELDS.items():
            while field in line:
                line = line.replace(field, values(source), 1)
        lines[line] = None
        turn += 1
    return list(lines)


def _generate_secrets(source: Source) -> Iterator[Sample]:
    contexts: list[Callable[[str], str]] = [
        lambda secret: f"connected with {secret} after 12 ms",
        lambda secret: json.dumps({"data": {"id": 3, "note": secret}}),
        lambda secret: f"https://api.example/v1/run?x={quote(secret, safe='')}&page=1",
    ]
    for number, (_, prefix, alphabet, length, end) in enumerate(TOKENS):
        secret = "".join(prefix) + source.take(length, alphabet) + end
        yield Sample("known formats", contexts[number % 2](secret), secret[-8:])
    for number, name in enumerate(NAMES):
        for step in range(2):
            kind, build = SYNTAXES[(2 * number + 7 * step) % len(SYNTAXES)]
            if not name.isascii() and kind in ("XML", "CDATA", "multipart", "environment"):
                kind, build = SYNTAXES[0]
            value = source.take(source.randint(10, 24))
            yield Sample("names: " + kind, build(name, value), value)
    for template in PROSE:
        value = source.take(12)
        yield Sample("prose", template.format(value), value)
    for template in (*LINKS, *LINKS):
        value = source.choice((source.take(24), source.take(40, HEX), source.uuid()))
        yield Sample("links", template.format(value), value)
    for template in HOOKS:
        value = source.take(24)
        yield Sample("webhook addresses", template.format(value), value)
    yield from _generate_numbers(source)
    yield from _generate_others(source)


def _generate_numbers(source: Source) -> Iterator[Sample]:
    for prefix, length in [
        ("4", 16),
        ("51", 16),
        ("55", 16),
        ("2221", 16),
        ("34", 15),
        ("37", 15),
        ("6011", 16),
        ("3530", 16),
    ]:
        for separator in ("", " ", "-"):
            digits = prefix + source.take(length - len(prefix) - 1, DIGITS)
            digits += next(each for each in DIGITS if _is_card(digits + each))
            sizes = (4, 6, 5) if length == 15 else (4, 4, 4, 4)
            parts = [digits[sum(sizes[:n]) : sum(sizes[: n + 1])] for n in range(len(sizes))]
            yield Sample("card numbers", f"charging {separator.join(parts)} now", parts[-1])
    for country, length in [
        ("DE", 22),
        ("GB", 22),
        ("FR", 27),
        ("NL", 18),
        ("ES", 24),
        ("CH", 21),
        ("AT", 20),
        ("PL", 28),
    ]:
        for spaced in (False, True):
            body = ("ABNA" if country in ("GB", "NL") else "") + source.take(length, DIGITS)
            body = body[: length - 4]
            check = 98 - int("".join(str(int(each, 36)) for each in f"{body}{country}00")) % 97
            number = f"{country}{check:02}{body}"
            shown = " ".join(number[n : n + 4] for n in range(0, length, 4)) if spaced else number
            yield Sample("IBANs", f'{{"account": "{shown}", "currency": "EUR"}}', shown[-9:])


def _is_card(digits: str) -> bool:
    return sum(sum(divmod(int(each) * (1 + place % 2), 10)) for place, each in enumerate(reversed(digits))) % 10 == 0


def _generate_others(source: Source) -> Iterator[Sample]:
    value = source.take(24)

    def build(kind: str, *templates: str) -> Iterator[Sample]:
        for template in templates:
            value = source.take(20)
            yield Sample(kind, template.replace("{}", value), value)

    yield from build(
        "headers", "Authorization: Bearer {}", "authorization: Digest username=ann, response={}", "Cookie: sid={}; theme=dark",
        "Set-Cookie: session={}; HttpOnly", "curl -H 'X-Api-Key: {}' https://h/", 'curl --header "Authorization: Token {}" h',
        "Proxy-Authorization: Basic x{}", 'X-WSSE: UsernameToken Username="ann", PasswordDigest="{}", Nonce="1"',
        "x-goog-api-key: {}", "Ocp-Apim-Subscription-Key: {}", "bearer {}", "X-Auth-Token: {}", "DPoP-Secret: {}",
    )  # fmt: skip
    yield from build(
        "addresses", "https://ann:{}@shop.example/", "postgres://app:{}@db:5432/shop", "redis://:{}@cache:6379/0",
        "mongodb+srv://root:{}@c0.example/test", "amqp://guest:{}@mq", "https://{}@github.example/a/b.git", "ftp://ann:{}@files",
        "?next=%2Fcb%3Ftoken%3D{}", "https://h/cb#access_token={}&token_type=bearer", "https://h/cb?code={}&state=1",
        "https://blob.example/c?sv=2022&sig={}&se=1", "https://s3.example/a?X-Amz-Signature={}&X-Amz-Date=1", "wss://h/s?key={}",
        "Server=db;Database=shop;User Id=sa;Password={};", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};",
        "Endpoint=sb://a/;SharedAccessKeyName=root;SharedAccessKey={}", "jdbc:mysql://db/shop?user=ann&password={}",
    )  # fmt: skip
    yield from build(
        "documents", '<wsse:Password Type="#PasswordText">{}</wsse:Password>', '<add key="DbPassword" value="{}" />',
        '<setting name="ApiKey" value="{}"/>', "<key>AuthToken</key>\n<string>{}</string>", '<input value="{}" type="password">',
        '<property name="hibernate.connection.password" value="{}"/>', "<password>\n  {}\n</password>",
        '{"headers":[{"name":"authorization","value":"Bearer {}"}]}', "{name: 'password', value: '{}'}",
        '[["authorization","Bearer {}"],["accept","*/*"]]', 'data-token="{}"', 'kind: Secret\ndata:\n  password: {}',
        "machine h login ann password {}", '{\\"key\\":\\"api_key\\",\\"value\\":\\"{}\\"}', "params: [password=[{}], user=[ann]]",
        'UserDto(name=ann, password={}, age=3)', "--password={} --user ann", "--token {}", "{:token=>\"{}\"}", "password=%22{}%22",
    )  # fmt: skip
    yield from build(
        "command lines", "curl -u ann:{} https://h/", "curl -su ann:{} -X POST https://h/", "curl --user ann:{} https://h/",
        "curl -sS https://h/ -H 'Accept: */*' --user 'ann:{}'", 'curl -uann:{} h', 'sh -c "curl -u \\"ann:{}\\" h"', "curl --proxy-user=ann:{} h",
        "mysql -uroot -p{} shop", "mysqldump -h db -u root -p'{}' shop > shop.sql", "mariadb --password {} shop", "mysql --password='{}'",
        "sshpass -p {} ssh h", "docker login -u ann -p {}", "redis-cli -h cache -a {} ping", "deploy --token {} --dry-run",
    )  # fmt: skip
    yield from build(
        "other scripts", "密码：{}", "密碼: {}", "新密码是 {}", "口令＝{}", "令牌： {}", "密钥：　{}", '{"密码":"{}"}', "パスワード：{}", "パスワードは {} です",
        "トークン：{}", "認証コード：{}", "비밀번호: {}", "비밀번호는 {}", "암호：{}", "토큰: {}", "пароль {}", "Пароль： {}", "ваш токен: {}", "секрет={}",
        "Ключ API: {}", "password：{}", "api_key＝{}",
    )  # fmt: skip
    for line, secret in (("mysql --password hunterhunter shop", "hunterhunter"), ("验证码：482913", "482913"), ("暗証番号：4821", "4821"),
                         ("인증번호: 593021", "593021"), ("Код подтверждения: 381220", "381220")):  # fmt: skip
        yield Sample("other scripts" if not line.isascii() else "command lines", line, secret)
    yield from build(
        "hashes",
        "$2b$12$" + "abcdefghijklmnopqrstuvABCDEFGHIJK" + "{}",
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ${}",
        "pbkdf2_sha256$600000$abc${}=",
        "$6$rounds=5000$saltsalt${}abcdefghijklmnop",
    )
    parts = [
        base64.urlsafe_b64encode(each.encode()).decode().rstrip("=")
        for each in ('{"alg":"HS256"}', '{"sub":"1"}', value)
    ]
    yield Sample("known formats", f"jwt cookie {'.'.join(parts)} seen", parts[-1])
    yield Sample(
        "headers",
        "Basic " + base64.b64encode(f"ann:{value}".encode()).decode(),
        base64.b64encode(value.encode()).decode()[4:-4],
    )
    for owner in ("RSA ", "EC ", "OPENSSH ", "", "PGP "):
        body, block = source.take(64), " BLOCK" if owner == "PGP " else ""
        name = f"{owner}PRIVATE" + f" KEY{block}"
        yield Sample("private keys", f"-----BEGIN {name}-----\n{body}\n-----END {name}-----", body)
    for line in ("password: correct horse battery staple", "mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow",
                 "seed phrase: zoo vapor tackle olive ridge candy", "passphrase = tango violet unicorn seven"):  # fmt: skip
        yield Sample("values with spaces", line, line.rsplit(" ", 1)[-1])
    for line, secret in (("Your verification code is 482913", "482913"), ("PIN 4711", "4711"), ("otp: 918273", "918273"),
                         ('{"pin":"4821"}', "4821"), ('{"cvv":123}', "123"), ('{"recovery_codes":["abcd-efgh","ijkl-mnop"]}', "ijkl-mnop"),
                         ("backup code 4829 1733", "1733"), ("security code: 3381", "3381")):  # fmt: skip
        yield Sample("codes", line, secret)
