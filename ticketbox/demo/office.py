"""The demo's tickets of the back office."""

from ticketbox.demo.story import (
    Shot,
    Story,
    archives,
    assigns,
    box,
    marks,
    moves,
    resolves,
    says,
    starts,
    stops,
)
from ticketbox.demo.streams import OFFICE, failure, loading, log, request

BACK = f"{OFFICE}/assets/office-b04e11.js"

REFUND = Story(
    project="Back office",
    ago=41,
    by="dana/extension",
    title="Refunded orders are listed twice",
    description="Order **10480** was refunded in two parts and stands in the list twice, with the whole sum each time.",
    priority="high",
    labels=["bug", "orders", "accounting"],
    shot=Shot(
        host=OFFICE,
        scene="orders",
        page="/orders?state=all&page=1",
        title="Orders · Back office",
        console=[log(3.1, "warn", "Each child in a list should have a unique key.", "10480", source=f"{BACK}:940:3")],
        network=[
            *loading(OFFICE, "/orders", 8),
            request(
                3.4,
                "GET",
                f"{OFFICE}/api/orders?state=all&page=1",
                200,
                312,
                size=18_440,
                got='{"orders":[{"number":10482},{"number":10481},{"number":10480},{"number":10480}]}',
            ),
        ],
    ),
    steps=[
        marks(0.1, "dana/web", box("highlight", 44, 276, 1192, 88, "the same order")),
        assigns(0.2, "dana/web", "jonas"),
        says(
            5,
            "jonas/agent",
            "The join with `refund` multiplies the rows: one for each refund. "
            "`SELECT DISTINCT` would hide the wrong sum as well, so I'd aggregate refunds before the join.",
        ),
        says(6, "jonas/web", "Agreed, please aggregate. And the export has the same query."),
    ],
)

REPORT = Story(
    project="Back office",
    ago=17,
    by="dana/extension",
    title="Sales report shows NaN and Infinity % after a month without sales",
    priority="medium",
    labels=["bug", "reports"],
    shot=Shot(
        host=OFFICE,
        scene="reports",
        page="/reports/sales?months=6",
        title="Sales · Back office",
        console=[
            log(5, "info", "report: 6 months, 1 without data"),
            log(4.8, "error", "chart: value out of range", "Infinity", source=f"{BACK}:5120:17", repeat=2),
        ],
        network=[
            *loading(OFFICE, "/reports/sales", 9),
            request(5.2, "GET", f"{OFFICE}/api/reports/sales", 200, 1_840, got='{"months":[120,160,140,0,190,210]}'),
        ],
        errors=[
            failure(
                4.8, "RangeError", "Invalid percentage: Infinity", f"percent {BACK}:5101:11", f"Trend {BACK}:5119:9"
            )
        ],
        health={"network": {"status": "partial", "reason": "limit", "dropped": 212}},
    ),
    steps=[assigns(2, "priya/web", "mei")],
)

IMPORT = Story(
    project="Back office",
    ago=5,
    by="sam/extension",
    title="Stock import stands at the last row for ever",
    description="12,480 of 12,481 rows since three quarters of an hour. Cancel does nothing either.",
    priority="high",
    labels=["bug", "stock"],
    shot=Shot(
        host=OFFICE,
        scene="stock",
        page="/stock/import/8812",
        title="Stock import · Back office",
        console=[
            log(2_580, "info", "import 8812: started"),
            log(2_519, "info", "import 8812: 12480/12481"),
            log(1_800, "warn", "event stream closed, reconnecting", repeat=143, source=f"{BACK}:7702:5"),
        ],
        network=[
            *loading(OFFICE, "/stock/import/8812", 2_600),
            *(
                request(
                    1_800 - 300 * place,
                    "GET",
                    f"{OFFICE}/api/imports/8812/progress",
                    502,
                    60_001,
                    mime="text/html",
                    size=150,
                )
                for place in range(6)
            ),
            request(30, "DELETE", f"{OFFICE}/api/imports/8812", None, None, error="net::ERR_TIMED_OUT"),
        ],
    ),
    steps=[
        says(0.4, "sam/web", "The last row of the file has a comma in the name of the article, perhaps that?"),
        assigns(0.5, "dana/web", "jonas"),
    ],
)

INVOICE = Story(
    project="Back office",
    ago=260,
    by="dana/extension",
    title="Long company names run over the date on invoices",
    priority="low",
    labels=["design", "invoices"],
    shot=Shot(
        host=OFFICE,
        scene="invoice",
        page="/invoices/0931/print",
        title="Invoice 0931",
        health={"console": {"status": "disabled", "reason": "policy"}},
        network=loading(OFFICE, "/invoices/0931/print", 3),
    ),
    steps=[
        assigns(4, "dana/web", "mei"),
        says(52, "mei/web", "The name breaks after 40 characters now."),
        resolves(52, "mei/web"),
        moves(52, "mei/web", "Done"),
        archives(180, "dana/web"),
    ],
)

RIGHTS = Story(
    project="Back office",
    ago=27,
    by="sam/extension",
    title="Warehouse accounts get 403 on the customers' page",
    description="Since the release on Tuesday. We need the phone numbers for deliveries.",
    priority="high",
    labels=["bug", "permissions"],
    shot=Shot(
        host=OFFICE,
        scene="customers",
        page="/customers",
        title="Customers · Back office",
        network=[
            *loading(OFFICE, "/customers", 6),
            request(
                2.4,
                "GET",
                f"{OFFICE}/api/customers?limit=50",
                403,
                19,
                got='{"error":"missing permission customers.read"}',
            ),
        ],
        errors=[
            failure(
                2.3,
                "HttpError",
                "403 missing permission customers.read",
                f"fetchJson {BACK}:212:13",
                f"loadCustomers {BACK}:6101:20",
                kind="unhandledrejection",
            )
        ],
    ),
    steps=[
        assigns(1, "dana/web", "priya"),
        says(
            2,
            "jonas/agent",
            "`roles.yaml` lost `customers.read` for *warehouse* in commit `8f2ac01` (“tidy roles”). "
            "Was that meant? If not, one line brings it back.",
        ),
        says(3, "priya/web", "Not meant. Please bring it back, and a test that lists each role's permissions."),
        starts(3.2, "jonas/agent", "warehouse-customers-read", minutes=120),
        moves(3.2, "jonas/agent", "In progress"),
        stops(4.5, "jonas/agent"),
        says(4.5, "jonas/agent", "Done on `warehouse-customers-read`, with the test. Waiting for a review."),
        moves(4.6, "jonas/agent", "Review"),
    ],
)

INVITE = Story(
    project="Back office",
    ago=98,
    by="dana/extension",
    title="Inviting says both “sent” and “could not send”",
    priority="low",
    labels=["bug", "team"],
    shot=Shot(
        host=OFFICE,
        scene="team",
        page="/team",
        title="Team · Back office",
        console=[log(1.1, "error", "mailer timeout after 3000 ms", source=f"{BACK}:8011:9")],
        network=[
            *loading(OFFICE, "/team", 20),
            request(
                4.2,
                "POST",
                f"{OFFICE}/api/invitations",
                201,
                3_012,
                sent='{"email":"ines@lumenandoak.example"}',
                got='{"id":"inv_51","mail":"timeout"}',
            ),
        ],
    ),
    steps=[says(2, "ci/rest", "The nightly run saw it as well: `team.spec.ts › invites a colleague`, 3 of 40 times.")],
)

STORIES = [
    REFUND,
    REPORT,
    IMPORT,
    INVOICE,
    RIGHTS,
    INVITE,
    Story(
        project="Back office",
        ago=220,
        by="dana/web",
        title="Export of orders with the accountant's columns",
        labels=["feature", "accounting"],
        priority="medium",
        description="| column | from |\n|---|---|\n| Beleg | invoice |\n| Konto | country |\n| Betrag | gross |",
        steps=[
            assigns(10, "dana/web", "priya"),
            moves(60, "priya/web", "In progress"),
            says(61, "priya/web", "Waiting for the list of accounts by country."),
        ],
    ),
    Story(
        project="Back office",
        ago=90,
        by="sam/web",
        title="Bigger type on the packing screen",
        labels=["design"],
        priority="low",
        description="We read it from two metres away.",
    ),
    Story(
        project="Back office",
        ago=70,
        by="ci/rest",
        title="Nightly: dependency audit found 1 moderate advisory",
        labels=["security", "dependencies"],
        priority="medium",
        steps=[
            starts(4, "jonas/agent", "bump-xml-parser"),
            says(4.3, "jonas/agent", "Updated the XML parser; nothing else changes in the lock file."),
            stops(4.4, "jonas/agent"),
            resolves(20, "jonas/web"),
            moves(20, "jonas/web", "Done"),
        ],
    ),
    Story(
        project="Back office",
        ago=14,
        by="priya/web",
        title="Two people can pack the same order at once",
        labels=["bug", "orders"],
        priority="urgent",
        description="It happened twice this week. The second one should see who packs it already.",
        steps=[assigns(0.1, "priya/web", "jonas"), assigns(0.1, "priya/web", "mei")],
    ),
    Story(
        project="Back office",
        ago=330,
        by="dana/web",
        title="Old price lists in the archive",
        labels=["question"],
        steps=[
            says(20, "priya/web", "They have to stay for ten years."),
            resolves(21, "dana/web"),
            archives(60, "dana/web"),
        ],
    ),
]
