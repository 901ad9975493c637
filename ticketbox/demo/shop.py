"""The demo's tickets of the web shop."""

from ticketbox.demo.story import (
    Shot,
    Story,
    archives,
    arrow,
    assigns,
    box,
    marks,
    moves,
    resolves,
    says,
    starts,
    stops,
)
from ticketbox.demo.streams import SHOP, failure, loading, log, request

APP = f"{SHOP}/assets/app-6f1c2d.js"
BLOCKED = {"status": "blocked", "reason": "csp"}


CART = Story(
    project="Web shop",
    ago=52,
    by="priya/extension",
    title="Cart total is NaN when a gift card is in it",
    description=(
        "Put a lamp, two tables and a gift card into the cart: the **total is NaN** and checkout can't be pressed.\n\n"
        "Without the gift card all is well. Two customers wrote about it this morning."
    ),
    priority="urgent",
    labels=["bug", "cart", "customer report"],
    shot=Shot(
        scene="cart",
        page="/cart",
        title="Your cart · Lumen & Oak",
        console=[
            log(21.0, "info", "cart: restored 3 items from the session"),
            log(20.6, "debug", "price rules loaded", '{"vat":0.25,"currency":"EUR"}'),
            log(9.2, "warn", "price missing for sku", "GIFT-50", source=f"{APP}:2114:9"),
            log(9.1, "error", "cart total is not a number", '{"subtotal":null,"shipping":0}', source=f"{APP}:2140:15"),
            log(3.0, "warn", "checkout disabled: invalid total", repeat=4, source=f"{APP}:2302:7"),
        ],
        network=[
            *loading(SHOP, "/cart", 22),
            request(
                20.9,
                "GET",
                f"{SHOP}/api/cart",
                200,
                61,
                got='{"items":[{"sku":"ARC-1","qty":1,"price":24900},{"sku":"OAK-S","qty":2,"price":12900},'
                '{"sku":"GIFT-50","qty":1,"price":null,"value":5000}]}',
            ),
            request(
                9.4,
                "POST",
                f"{SHOP}/api/cart/quote",
                422,
                48,
                sent='{"total":null}',
                got='{"error":"total must be a number"}',
            ),
            request(
                2.8,
                "POST",
                f"{SHOP}/api/cart/quote",
                422,
                51,
                sent='{"total":null}',
                got='{"error":"total must be a number"}',
            ),
        ],
        errors=[
            failure(
                9.1,
                "TypeError",
                "Cannot read properties of null (reading 'toFixed')",
                f"formatMoney {APP}:2098:23",
                f"CartTotals {APP}:2133:11",
                f"render {APP}:811:5",
                count=5,
            ),
        ],
    ),
    steps=[
        marks(
            0.2,
            "priya/web",
            box("rectangle", 56, 286, 1170, 40, "no price here"),
            arrow(760, 470, 1090, 415, "and so this"),
        ),
        assigns(0.3, "priya/web", "jonas"),
        says(0.4, "dana/web", "This one first, please. The gift card campaign starts on Monday."),
        starts(49.6, "jonas/agent", "gift-card-nan", minutes=600),
        says(
            50.1,
            "jonas/agent",
            "Reproduced. `GET /api/cart` gives gift cards `price: null` with their amount in `value`; `formatMoney` "
            "and the sum in `CartTotals` take `price` alone.\n\n"
            "Plan: read `price ?? value` when the cart is loaded, and refuse anything else there instead of "
            "letting `NaN` through. A test with the recorded answer comes with it.",
        ),
        moves(50.2, "jonas/agent", "In progress"),
    ],
)

PAYMENT = Story(
    project="Web shop",
    ago=30,
    by="mei/extension",
    title="Payment fails with “Something went wrong” when the bank asks back",
    description="Card with 3-D Secure. The bank's window never opens; the page only says that something went wrong.",
    priority="high",
    labels=["bug", "checkout", "payments"],
    shot=Shot(
        scene="checkout",
        page="/checkout/payment?access_token=7c1f90b2e4",
        title="Payment · Lumen & Oak",
        console=[
            log(40, "info", "checkout: step 3 of 3"),
            log(6.3, "warn", "challenge requested", '{"version":"2.2.0","flow":"redirect"}', source=f"{APP}:3310:13"),
            log(
                6.1,
                "error",
                "Uncaught DOMException: Blocked a frame from accessing a cross-origin frame.",
                source=f"{APP}:3342:21",
            ),
        ],
        network=[
            *loading(SHOP, "/checkout/payment", 42),
            request(
                7.9,
                "POST",
                f"{SHOP}/api/payments",
                202,
                880,
                sent='{"order":"10483","amount":63600,"currency":"EUR"}',
                got='{"state":"challenge"}',
            ),
            request(
                6.2,
                "GET",
                "https://acs.bank.example/challenge/91ac",
                None,
                30,
                kind="document",
                error="net::ERR_BLOCKED_BY_RESPONSE",
            ),
            request(1.1, "GET", f"{SHOP}/api/payments/pay_7712", 504, 10_003, mime="text/html", size=162),
        ],
        errors=[
            failure(
                6.1,
                "SecurityError",
                "Blocked a frame from accessing a cross-origin frame",
                f"openChallenge {APP}:3342:21",
                f"submit {APP}:3301:9",
                kind="unhandledrejection",
            ),
        ],
    ),
    steps=[
        marks(0.1, "mei/web", box("redact", 44, 334, 352, 36), box("ellipse", 30, 72, 760, 64, "not helpful")),
        assigns(1, "dana/web", "jonas"),
        says(2, "dana/web", "Is it every bank, or this one? Support has four reports, all from the same bank."),
        says(3, "mei/web", "Tried with three cards: only this bank, it answers with `X-Frame-Options: DENY`."),
    ],
)

PICTURES = Story(
    project="Web shop",
    ago=120,
    by="mei/extension",
    title="Half of the product pictures don't load",
    priority="high",
    labels=["bug", "images"],
    shot=Shot(
        scene="listing",
        page="/lamps",
        title="Lamps · Lumen & Oak",
        console=[
            log(4 - place * 0.2, "error", f"Failed to load resource: {what}")
            for place, what in enumerate(
                ("net::ERR_CERT_DATE_INVALID", "net::ERR_CERT_DATE_INVALID", "net::ERR_CERT_DATE_INVALID")
            )
        ],
        network=[
            *loading(SHOP, "/lamps", 5),
            *(
                request(
                    4.2 - place * 0.1,
                    "GET",
                    f"https://img{place % 2 + 1}.lumenandoak.example/p/{name}.webp",
                    None if place % 2 else 200,
                    None if place % 2 else 38,
                    kind="image",
                    mime="image/webp",
                    size=31_000,
                    error="net::ERR_CERT_DATE_INVALID" if place % 2 else None,
                )
                for place, name in enumerate(("arc", "dome", "globe", "reading", "tripod", "clamp", "washer", "night"))
            ),
        ],
        errors=[
            failure(
                4,
                "",
                "Failed to load image",
                kind="resource",
                count=4,
                source="https://img2.lumenandoak.example/p/dome.webp",
            ),
        ],
    ),
    steps=[
        says(0.6, "jonas/agent", "All four are on `img2`: its certificate ran out at 06:00 UTC. `img1` is fine."),
        assigns(0.7, "dana/web", "dana"),
        says(1.1, "dana/web", "Renewed, and the renewal is automatic now on both."),
        resolves(1.2, "dana/web"),
        moves(1.2, "dana/web", "Done"),
    ],
)

COLOUR = Story(
    project="Web shop",
    ago=75,
    by="priya/extension",
    title="“undefined is not available in undefined” below Add to cart",
    description="Choose *Smoked*, then *Natural* again.",
    priority="medium",
    labels=["bug", "product page"],
    shot=Shot(
        scene="product",
        page="/tables/oak-side-table?colour=natural",
        title="Oak side table · Lumen & Oak",
        console=[log(2.2, "warn", "variant not found", "null", source=f"{APP}:1720:9", repeat=2)],
        network=[
            *loading(SHOP, "/tables/oak-side-table", 31),
            request(2.3, "GET", f"{SHOP}/api/stock?sku=OAK-S&variant=", 404, 29, got='{"error":"no such variant"}'),
        ],
        errors=[],
        late=12.4,
        health={
            "console": {"status": "partial", "reason": "late_start"},
            "errors": {"status": "empty", "reason": "late_start"},
        },
    ),
    steps=[
        assigns(1, "priya/web", "mei"),
        moves(20, "mei/web", "In progress"),
        starts(20, "mei/web", "fix/variant-null"),
        says(21, "mei/web", "The query keeps `variant=` empty after the second choice. Easy."),
        stops(23, "mei/web"),
        moves(23, "mei/web", "Review"),
    ],
)

POSTCODE = Story(
    project="Web shop",
    ago=160,
    by="sam/extension",
    title="Swedish postcodes with a space are refused",
    description="`111 20` is how everybody writes it.",
    priority="medium",
    labels=["bug", "forms", "good first issue"],
    shot=Shot(
        scene="account",
        page="/account/address",
        title="Delivery address · Lumen & Oak",
        console=[log(1.2, "debug", "validate", '{"field":"postcode","rule":"^[0-9]{5}$"}')],
        network=loading(SHOP, "/account/address", 44),
    ),
    steps=[
        assigns(2, "priya/web", "mei"),
        starts(26, "jonas/agent", "postcode-space", minutes=120),
        says(
            26.6,
            "jonas/agent",
            "The rule is `^[0-9]{5}$`. It now allows a space for SE, NL and GR; the test has 14 cases.",
        ),
        stops(26.7, "jonas/agent"),
        moves(26.7, "jonas/agent", "Review"),
        says(28, "mei/web", "Looks right. Released."),
        resolves(28.1, "mei/web"),
        moves(28.1, "mei/web", "Done"),
    ],
)

MENU = Story(
    project="Web shop",
    ago=22,
    by="mei/extension",
    title="Phone: the menu can't be closed after turning the device",
    priority="medium",
    labels=["bug", "mobile"],
    shot=Shot(
        scene="narrow_menu",
        page="/sale",
        title="Sale · Lumen & Oak",
        phone=True,
        console=[log(0.8, "warn", "ResizeObserver loop completed with undelivered notifications.", repeat=18)],
        network=loading(SHOP, "/sale", 9),
    ),
    steps=[
        marks(
            0.1,
            "mei/web",
            {"kind": "pen", "geometry": {"points": [[462, 372], [560, 430], [660, 372], [560, 384]]}},
            {"kind": "text", "geometry": {"x": 690, "y": 392, "size": 22}, "text": "does nothing"},
        ),
    ],
)

JOURNAL = Story(
    project="Web shop",
    ago=9,
    by="sam/extension",
    title="Journal stays empty in the preview",
    description="Only on the preview host. The page's security policy seems to be much stricter there.",
    priority="low",
    labels=["preview"],
    shot=Shot(
        scene="blank",
        page="/journal/oiling-oak",
        title="Oiling oak · Lumen & Oak",
        host="https://preview.lumenandoak.example",
        health={"console": BLOCKED, "network": BLOCKED, "errors": BLOCKED},
    ),
    steps=[
        says(
            0.5,
            "jonas/agent",
            "No streams here: the preview's content-security policy kept the recorder out. "
            "The screenshot shows placeholders only. Could somebody send that page's `Content-Security-Policy`?",
        )
    ],
)

SEARCH = Story(
    project="Web shop",
    ago=200,
    by="priya/extension",
    title="Search escapes & twice and finds nothing",
    priority="medium",
    labels=["bug", "search"],
    shot=Shot(
        scene="search",
        page="/search?q=oak+%26+brass",
        title="Search · Lumen & Oak",
        network=[
            *loading(SHOP, "/search", 7),
            request(1.4, "GET", f"{SHOP}/api/search?q=oak+%26amp%3Bamp%3B+brass", 200, 44, got='{"hits":[]}'),
        ],
    ),
    steps=[
        assigns(3, "dana/web", "mei"),
        says(30, "mei/web", "Two layers escape. Removed the one in the template."),
        resolves(31, "mei/web"),
        moves(31, "mei/web", "Done"),
        archives(130, "dana/web"),
    ],
)

STORIES = [
    CART,
    PAYMENT,
    PICTURES,
    COLOUR,
    POSTCODE,
    MENU,
    JOURNAL,
    SEARCH,
    Story(
        project="Web shop",
        ago=300,
        by="dana/web",
        title="Offer to keep the cart on another device",
        labels=["idea"],
        description="Customers ask for it now and then. An address by mail would do.",
        priority="low",
    ),
    Story(
        project="Web shop",
        ago=140,
        by="priya/web",
        title="Price in the page's title for search engines",
        labels=["idea", "seo"],
        priority="low",
        steps=[says(3, "dana/web", "Only if it is never out of date.")],
    ),
    Story(
        project="Web shop",
        ago=66,
        by="ci/rest",
        title="Nightly: checkout.spec.ts is flaky on WebKit",
        description="Failed in 5 of the last 30 runs, always at the same line:\n\n"
        "```\nexpect(total).toHaveText('636.00 EUR')\n  received: ''\n```",
        labels=["tests", "flaky"],
        priority="medium",
        steps=[
            assigns(5, "jonas/web", "jonas"),
            says(
                6,
                "jonas/agent",
                "The test reads the total before the quote has come back. `await expect.poll` "
                "instead of a bare read; 200 runs without a failure.",
            ),
        ],
    ),
    Story(
        project="Web shop",
        ago=48,
        by="mei/web",
        title="Keyboard: focus is lost when the cart's drawer opens",
        labels=["accessibility"],
        priority="medium",
        description="- [x] Esc closes it\n- [ ] focus goes into the drawer\n- [ ] and back to the button",
        steps=[assigns(0.1, "mei/web", "mei"), moves(20, "mei/web", "In progress")],
    ),
    Story(
        project="Web shop",
        ago=3,
        by="jonas/agent",
        title="Sum of the cart is computed in three places",
        labels=["cleanup"],
        priority="low",
        description="Found while working on the gift card: `CartTotals`, `MiniCart` and the quote each add up prices "
        "on their own. One function would have spared us the NaN.",
    ),
    Story(
        project="Web shop",
        ago=400,
        by="priya/web",
        title="Remove the old newsletter banner",
        labels=["cleanup"],
        steps=[resolves(40, "mei/web"), moves(40, "mei/web", "Done"), archives(220, "priya/web")],
    ),
]
