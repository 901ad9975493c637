"""Lines as real applications write them, none of which holds a secret."""

# ruff: noqa: E501

from collections.abc import Callable
from typing import Any

_WORDS = [
    "checkout",
    "cart",
    "order",
    "invoice",
    "profile",
    "settings",
    "search",
    "product",
    "report",
    "upload",
    "image",
    "user",
    "team",
    "comment",
    "label",
    "board",
    "ticket",
    "column",
    "session",
    "history",
    "billing",
    "export",
]

# The fields of lines, and how they are filled. `source` has `take`, `choice`, `randint` and `uuid`.
FIELDS: dict[str, Callable[[Any], str]] = {
    "§word": lambda source: source.choice(_WORDS),
    "§Word": lambda source: source.choice(_WORDS).capitalize(),
    "§n": lambda source: str(source.randint(1, 99)),
    "§N": lambda source: str(source.randint(100, 99_999)),
    "§ms": lambda source: str(1_760_000_000_000 + source.randint(0, 10**10)),
    "§float": lambda source: f"0.{source.randrange(10**16):016}",
    "§hex": lambda source: source.take(8, "0123456789abcdef"),
    "§sha": lambda source: source.take(40, "0123456789abcdef"),
    "§md": lambda source: source.take(32, "0123456789abcdef"),
    "§uuid": lambda source: source.uuid(),
    "§ip": lambda source: ".".join(str(source.randint(1, 250)) for _ in range(4)),
    "§time": lambda source: f"2026-1{source.randint(0, 2)}-{source.randint(10, 28)}T{source.randint(10, 23)}:{source.randint(10, 59)}:07.{source.randint(100, 999)}Z",
    "§v": lambda source: f"{source.randint(0, 19)}.{source.randint(0, 30)}.{source.randint(0, 9)}",
    "§sri": lambda source: f"sha512-{source.take(86)}==",
}  # fmt: skip

LINES = r"""
§ip - - [22/Nov/2026:10:1§n:07 +0000] "GET /api/v1/§words?page=§n&sort=-created HTTP/1.1" 200 §N "-" "Mozilla/5.0 (X11; Linux x86_64)"
§ip - ann [22/Nov/2026:10:1§n:07 +0000] "POST /signin HTTP/1.1" 401 §N "https://shop.example/signin" "curl/8.5.0"
§time INFO  [main] c.e.shop.§WordService - §Word §N created in §n ms
§time WARN  o.s.web.servlet.PageNotFound - No mapping for GET /§word/§N
time="§time" level=info msg="request completed" method=GET path=/§word status=200 duration=§nms trace=§md
{"level":"error","ts":§ms,"caller":"api/§word.go:§N","msg":"§word not found","id":§N}
{"id":"§uuid","name":"§Word §n","status":"active","created_at":"§time","count":§N}
{"items":[{"id":§N,"title":"§Word","price":§n.99},{"id":§N,"title":"§Word","price":§n.50}],"next_cursor":null,"total":§N}
TypeError: Cannot read properties of undefined (reading '§word') at §WordList (https://shop.example/assets/app-§hex.js:§n:§N)
    at async §WordPage.load (webpack-internal:///./src/§word/index.ts:§n:§n)
    at Object.<anonymous> (/srv/app/node_modules/§word/dist/index.js:§n:§n)
Uncaught (in promise) Error: Request failed with status code §N
Warning: Each child in a list should have a unique "key" prop. Check the render method of `§WordList`.
[vite] hot updated: /src/§word/§Word.svelte
webpack §v compiled with §n warnings in §N ms
GET https://cdn.shop.example/§word/§hex.png net::ERR_ABORTED 404 (Not Found)
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Unexpected token: expired
token is undefined
Invalid token at position §n
The token expired §n minutes ago
Password must be at least §n characters
{"errors":{"password":["This field is required."],"email":["Enter a valid address."]}}
{"errors":{"password":"is too short (minimum is 8 characters)"}}
password: required
password: must contain a digit
secret: must not be empty
Forgot your password?
Password changed successfully
Wrong password for user §N
Enter your password to continue
usage: login <user> <password> [options]
Please reset your password within §n days
{"password_changed_at":"§time","passwordPolicy":"strong","password_expires":null}
{"has_password":true,"password_set":false,"otp_enabled":true}
secretary: Ann §Word
The secretary of the §word team left
{"secretary":"Ann Miller","treasurer":"Bob Stone"}
pin: top-left
pin: bottom
{"pin":{"x":§n,"y":§n},"label":"here"}
{"pin":"left","pinned":true}
card: { title: '§Word', size: 'large' }
{"card":{"type":"§word","width":§N},"cards":[§n,§n]}
<Card title="§Word" variant="outlined">
/api/§words?key=name&order=asc
/settings?key=theme
?key=§word&value=§n
{"key":"§word","value":"§Word §n"}
{"key":"ArrowDown","code":"ArrowDown","keyCode":40}
keydown key=Enter code=Enter target=§word
translation key "§word.title" is missing for locale de
foreign key constraint fails (`shop`.`§word`, CONSTRAINT `fk_§word` FOREIGN KEY (`§word_id`))
duplicate key value violates unique constraint "§word_pkey"
Key (id)=(§N) already exists.
cache key §word:§N:list hit
{"cacheKey":"§word-§N","ttl":§N}
{"partitionKey":"§word#§N","sortKey":"item#§n"}
error code: §N
{"code":"E_§N","message":"§Word failed"}
status code §N, retrying in §n s
exit code §n
{"code":"not_found","status":404,"title":"Not found"}
?code=DE&lang=de
country code DE, area code §n
Process exited with code 1 and signal null
max_tokens=4096 temperature=0.7
{"usage":{"prompt_tokens":§N,"completion_tokens":§N,"total_tokens":§N}}
tokens: §N in, §n out
{"token_type":"bearer","expires_in":3600,"scope":"read write"}
tokenizer loaded: §N tokens in the vocabulary
session: active
session started at §time
{"session":"active","sessions":§n}
Session expired. Please sign in again.
{"auth":"google","mode":"popup"}
auth: enabled
authentication is required
bearer authentication is required
Basic usage
WWW-Authenticate: Bearer realm="shop"
{"cookie":"accepted","banner":false}
This site uses cookies.
cookies: enabled
cookie policy accepted
signature: verified
{"signature":"valid","algorithm":"RS256"}
function signature: (a: number, b: string) => void
author: Ann §Word <ann§n@shop.example>
{"author":"ann","authors":["ann","bob"],"authority":"shop"}
keyboard layout: de
{"passed":§n,"failed":0,"pass":§n,"skipped":§n}
Tests: §n passed, §n failed
pass §n of 3
§n passing (§Nms)
passive event listener added to §word
compass heading §n
bypass cache for §word
side: left, sidebar: open
sid
design: §word v§n
assign §word to ann
signal SIGTERM received, closing §n connections
https://shop.example/§words/§N?tab=§word&keyboard=1#details
https://shop.example/§word/§uuid/edit
https://shop.example/assets/§word-§hex.js?v=§float
https://shop.example/reset-password
https://shop.example/invite/teammates
https://shop.example/verify-email/success
/account/confirm/order
/join/our-newsletter-2026
/share/board/§N
/password/reset/sent
POST /api/v1/tokens 201 §nms
DELETE /sessions/current 204
GET /hooks/list 200
etag: "§md"
if-none-match: W/"§hex"
x-request-id: §uuid
traceparent: 00-§md-§hex§hex-01
<script src="/a.js" integrity="§sri" crossorigin="anonymous"></script>
commit §sha
Merge branch 'feature/§word-§n' into main
digest: sha256:§md§md
Docker image shop/§word:§v (§hex)
revision §sha built at §time
{"sha":"§sha","ref":"refs/heads/main"}
order number §N-§N-§n shipped
tracking number 1Z§N
phone +49 30 §N §N
{"phone":"+1 555 010 §n§n","zip":"§N"}
timestamp §ms, delta §float
{"ts":§ms,"duration":§float,"lat":52.520008,"lon":13.404954}
{"x":§float,"y":§float,"z":-§float}
requestAnimationFrame took §n.§n ms
Largest Contentful Paint: §N.§n ms
[HMR] Updated modules: ./src/§word.tsx
React does not recognize the `isActive` prop on a DOM element.
A cookie associated with a cross-site resource was set without the `SameSite` attribute.
Access to fetch at 'https://api.shop.example/§word' from origin 'https://shop.example' has been blocked by CORS policy
Refused to load the script because it violates the following Content Security Policy directive: "script-src 'self'"
Failed to load resource: the server responded with a status of §N ()
DevTools failed to load source map: Could not load content for https://shop.example/§word.js.map
ResizeObserver loop completed with undelivered notifications.
[Violation] 'click' handler took §Nms
localStorage keys: theme, §word, lang
Object { id: §N, name: "§word", done: false }
Array(3) [ "§word", "password", "email" ]
["email","password","remember"]
fields: ['name', 'password', 'phone']
<input type="password" name="password" placeholder="Password" autocomplete="current-password">
<label for="password">Password</label>
<div class="pin">hello</div>
<button class="token" data-id="§N">§Word</button>
<p>Your session is about to end.</p>
<svg viewBox="0 0 §n §n"><path d="M§n §nL§n §n"/></svg>
.§word-card { padding: §npx; color: #§hex }
SELECT id, title FROM §word WHERE id = §N LIMIT §n
INSERT INTO §words (title, done) VALUES ('§Word', 0)
UPDATE users SET last_seen = §ms WHERE id = §N
Execution time: §float s, rows=§N
java.lang.NullPointerException: Cannot invoke "§Word.getId()" because "§word" is null
  File "/srv/shop/§word.py", line §n, in load
KeyError: '§word'
panic: runtime error: index out of range [§n] with length §n
goroutine §n [running]: main.(*§Word).Handle(0xc000§hex, 0x§n)
kube-system coredns-§hex Running 0 §nd
Pulled image "registry.example/§word:§v" in §n.§ns
disk usage at §n% on /dev/sda1
[nodemon] restarting due to changes...
npm WARN deprecated §word@§v: this package is no longer supported
added §N packages in §ns
pip install §word==§v
CMake Warning at CMakeLists.txt:§n
feature flag "new-§word" is on
locale=de-DE timezone=Europe/Berlin viewport=1440x900
user_id=§N team_id=§n role=admin
{"user":{"id":§N,"role":"member","verified":true}}
{"type":"click","target":"button.§word","x":§N,"y":§N}
{"event":"page_view","path":"/§word","referrer":""}
websocket closed with code 1006
EventSource reconnects in §N ms
queue §word: §n waiting, §n running
retry §n of 5 after §N ms
rate limit: §n of 60 remaining
{"limit":60,"remaining":§n,"reset":§ms}
IBAN is required
card number is invalid
Your card was declined
{"card_brand":"visa","last4":"4242","exp_month":§n}
verification email sent to the address of user §N
Two-factor authentication is enabled
the PIN pad opens after §n s
shipping: standard, pinned: no
mapping §word => §word_§n
spinning up §n workers
keyframes: §n, easing: ease-in
monkey patching §word
className=§word-§n
if (password.length < §n) return
const token = useToken()
token: ${TOKEN}
password: "********"
api_key=<your-key>
Authorization header is missing
credentials: include
credentials: 'same-origin'
fetch('/api/§word', { credentials: 'include' })
secure: true, httpOnly: true, sameSite: 'lax'
nonce mismatch for §word
hash: #§word
{"hash":"§md","size":§N}
file §word-§hex.css (§n kB)
blob:https://shop.example/§uuid
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
webpack://react@18.2/index.js
f@https://h/app.js:1:2
ssh://git@github.com/a/b
cursor eyJpZCI6MTIzNDU2fQ
İstanbul TOKEN
100%25 %41 \u0041 caf\u00e9
docker run -u 1000:1000 nginx
curl -u 'user:$PASS' https://shop.example/§word
curl https://shop.example:8080/§word -o out.json
mysql -h db -P 3306 -u root -p shop
usage: tool --password PASSWORD --token-ttl §N
the option --password must be given
git push -u origin feature:main
密码：请输入密码
密码必须至少8位
パスワードを入力してください
비밀번호를 입력하세요
令牌：已过期
암호화: AES256
секретарь: Анна
пароль: не менее 8 символов
токен: истёк
""".strip().splitlines()
