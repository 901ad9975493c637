"""Screenshots for the demo: pages of an invented shop and its back office, drawn, in trouble."""

from collections.abc import Callable

from ticketbox.demo.sheet import AMBER, FAINT, GREEN, LINE, PAPER, RED, Sheet

SHOP, OFFICE = "#2f5d50", "#3a4a8c"


def shop(current: int = 0) -> Sheet:
    """A page of the shop."""
    return Sheet("Lumen & Oak", SHOP, ["Lamps", "Tables", "Sale", "Journal", "Account", "Cart (3)"], current)


def office(current: int = 0) -> Sheet:
    """A page of the back office."""
    return Sheet("L&O  Back office", OFFICE, ["Orders", "Stock", "Invoices", "Customers", "Reports", "Team"], current)


def cart() -> Sheet:
    """A cart whose total is no number."""
    page = shop(5)
    page.text(40, 90, "Your cart", size=30)
    rows = [
        ("Item", "Quantity", "Price", "Sum"),
        ("Arc floor lamp, brass", "1", "249.00", "249.00"),
        ("Oak side table", "2", "129.00", "258.00"),
        ("Gift card", "1", "-", "NaN"),
    ]
    page.table(150, [520, 200, 220, 160], rows, wrong=[3])
    page.card(840, 370, 400, 200)
    page.text(870, 400, "Subtotal\nShipping\n\nTotal", size=18)
    page.text(1100, 400, "NaN EUR\n0.00 EUR\n\nNaN EUR", size=18, color=RED)
    page.button(870, 510, "Go to checkout", width=340, faint=True)
    return page


def checkout() -> Sheet:
    """A payment that ended in nothing."""
    page = shop(5)
    page.banner(80, "Something went wrong. Please try again later.")
    page.text(40, 150, "Payment", size=30)
    page.field(40, 210, "Name on card", "Mara Lindqvist")
    page.field(40, 310, "Card number", "4000 0000 0000 3220")
    page.field(40, 410, "Valid until", "11 / 28", width=160)
    page.field(240, 410, "Code", "***", width=160)
    page.button(40, 520, "Pay 636.00 EUR", width=360, faint=True)
    page.card(700, 200, 540, 300)
    page.text(730, 225, "Your order", size=22)
    page.text(730, 275, "Arc floor lamp, brass\nOak side table x 2\nShipping\n\nTotal", size=17)
    page.text(1110, 275, "249.00\n258.00\n129.00\n\n636.00", size=17)
    return page


def listing() -> Sheet:
    """Products whose pictures don't load."""
    page = shop(0)
    page.text(40, 85, "Lamps", size=30)
    page.text(40, 130, "24 of 61 shown, newest first", color=FAINT)
    things = [
        ("Arc floor lamp", "249.00", "#c9b38a"),
        ("Dome pendant", "119.00", None),
        ("Reading lamp", "79.00", None),
        ("Paper globe", "39.00", "#d8d2c4"),
        ("Clamp light", "45.00", None),
        ("Oak tripod", "189.00", "#a98f6a"),
        ("Night light", "19.00", None),
        ("Wall washer", "99.00", "#b8c0c8"),
    ]
    for place, (name, price, tint) in enumerate(things):
        page.product(40 + 305 * (place % 4), 165 + 275 * (place // 4), name, f"{price} EUR", tint)
    return page


def product() -> Sheet:
    """A product that can't be put into the cart."""
    page = shop(1)
    page.pen.rectangle((40, 90, 640, 620), fill="#b79c74")
    page.pen.rounded_rectangle((180, 300, 500, 350), 8, fill=PAPER)
    for leg in (200, 460):
        page.pen.rectangle((leg, 350, leg + 20, 520), fill=PAPER)
    page.text(690, 100, "Oak side table", size=32)
    page.text(690, 160, "129.00 EUR", size=24)
    page.text(690, 220, "Solid oak, oiled. 45 x 45 x 52 cm.\nReady to send in 2 days.", color=FAINT)
    page.text(690, 300, "Colour", size=14, color=FAINT)
    for place, (tint, name) in enumerate((("#b79c74", "Natural"), ("#5a4632", "Smoked"), ("#1f2430", "Black"))):
        page.pen.ellipse((690 + 110 * place, 325, 730 + 110 * place, 365), fill=tint)
        page.text(686 + 110 * place, 372, name, size=13, color=FAINT)
    page.button(690, 430, "Add to cart", width=300)
    page.text(690, 490, "undefined is not available in undefined", color=RED)
    return page


def account() -> Sheet:
    """An address form that complains about a right postcode."""
    page = shop(4)
    page.text(40, 90, "Delivery address", size=30)
    page.field(40, 150, "Name", "Mara Lindqvist")
    page.field(40, 250, "Street", "Vasagatan 12")
    page.field(40, 350, "Postcode", "111 20", width=160, error="Please enter a valid postcode")
    page.field(240, 350, "City", "Stockholm", width=160)
    page.field(40, 460, "Country", "Sweden")
    page.button(40, 570, "Save", faint=True)
    return page


def narrow_menu() -> Sheet:
    """A menu that covers the page on a phone."""
    page = shop(2)
    page.card(440, 70, 400, 680)
    page.text(470, 90, "Lumen & Oak", size=22, color=SHOP)
    for place, item in enumerate(("Lamps", "Tables", "Sale", "Journal", "Account")):
        page.pen.rectangle((440, 140 + 60 * place, 840, 198 + 60 * place), fill=PAPER, outline=LINE)
        page.text(470, 160 + 60 * place, item, size=18)
    page.button(470, 380, "Close", faint=True)
    page.ghosts(470, 480, 6, 340)
    return page


def blank() -> Sheet:
    """A page that never filled."""
    page = shop(3)
    page.ghosts(40, 100, 3, 700)
    page.ghosts(40, 260, 9, 1100)
    return page


def search() -> Sheet:
    """A search that finds nothing though there is something."""
    page = shop(0)
    page.field(40, 80, "Search", "oak & brass", width=700)
    page.text(40, 190, 'No results for "oak &amp;amp; brass"', size=26)
    page.text(40, 240, "Check the spelling, or try another word.", color=FAINT)
    return page


def orders() -> Sheet:
    """A list with an order twice."""
    page = office(0)
    page.text(40, 85, "Orders", size=30)
    rows = [
        ("Number", "Customer", "Date", "State", "Total"),
        ("10482", "M. Lindqvist", "today", "paid", "636.00"),
        ("10481", "J. Okafor", "today", "packed", "79.00"),
        ("10480", "A. Fontaine", "today", "refunded", "-249.00"),
        ("10480", "A. Fontaine", "today", "refunded", "-249.00"),
        ("10479", "S. Ito", "yesterday", "sent", "438.00"),
        ("10478", "P. Novak", "yesterday", "sent", "119.00"),
    ]
    page.table(140, [160, 340, 280, 220, 160], rows, wrong=[3, 4])
    page.button(40, 480, "Next page")
    return page


def reports() -> Sheet:
    """A chart that turned upside down at a month without sales."""
    page = office(4)
    page.text(40, 85, "Sales", size=30)
    page.bars(40, 140, [120, 160, 140, 0, 190, 210], ["May", "Jun", "Jul", "Aug", "Sep", "Oct"])
    page.card(720, 140, 520, 300)
    page.text(750, 165, "This month", size=20)
    page.text(750, 210, "NaN EUR", size=44, color=RED)
    page.text(750, 280, "Infinity % against August", size=18, color=RED)
    page.banner(470, "Figures are delayed by up to undefined minutes.", AMBER)
    return page


def stock() -> Sheet:
    """An import that stands still."""
    page = office(1)
    page.text(40, 85, "Stock: import from a file", size=30)
    page.card(40, 140, 1200, 220)
    page.text(70, 165, "stock-all.csv", size=20)
    page.text(70, 200, "12,480 of 12,481 rows", color=FAINT)
    page.pen.rounded_rectangle((70, 240, 1210, 264), 12, fill=LINE)
    page.pen.rounded_rectangle((70, 240, 1208, 264), 12, fill=OFFICE)
    page.text(70, 290, "Importing... this takes about a minute.  (started 43 minutes ago)", color=FAINT)
    page.button(70, 390, "Cancel", faint=True)
    return page


def invoice() -> Sheet:
    """An invoice whose lines run into each other."""
    page = office(2)
    page.card(240, 80, 800, 650)
    page.text(280, 110, "Invoice 0931", size=26)
    page.text(280, 160, "Haus am See Gasthof- und Veranstaltungsbetriebsgesellschaft mbH", size=18)
    page.text(560, 168, "Date of delivery: today", size=18)
    rows = ["Arc floor lamp, brass          4        996.00", "Oak side table                     8     1,032.00"]
    for place, row in enumerate(rows):
        page.text(280, 260 + 50 * place, row, size=17)
    page.pen.line((280, 380, 1000, 380), fill=LINE, width=2)
    page.text(280, 400, "VAT 19 %", size=17)
    page.text(860, 400, "385.32", size=17)
    page.text(280, 440, "Total", size=22)
    page.text(850, 440, "2,028.00", size=22, color=RED)
    return page


def customers() -> Sheet:
    """A page that refuses somebody who may."""
    page = office(3)
    page.banner(80, "403  You don't have permission to see customers.")
    page.ghosts(40, 170, 8, 900)
    return page


def team() -> Sheet:
    """An invitation that says two things at once."""
    page = office(5)
    page.banner(80, "The invitation was sent.", GREEN)
    page.banner(140, "Could not send the invitation: timeout.")
    page.field(40, 220, "E-mail address", "ines@lumenandoak.example")
    page.field(40, 320, "Role", "Warehouse")
    page.button(40, 430, "Invite")
    return page


SCENES: dict[str, Callable[[], Sheet]] = {
    scene.__name__: scene
    for scene in (
        cart,
        checkout,
        listing,
        product,
        account,
        narrow_menu,
        blank,
        search,
        orders,
        reports,
        stock,
        invoice,
        customers,
        team,
    )
}


def screenshot(scene: str) -> bytes:
    """The picture of a scene, by its name."""
    return SCENES[scene]().png()
