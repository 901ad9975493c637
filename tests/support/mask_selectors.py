"""CSS selectors that a project can hide by, and texts that aren't."""

VALID = [
    ".customer-name", "#total", "td", "*", "a.b#c", "main > .card ~ p + b", "#orders td:nth-child(2)",
    "tr:nth-of-type(2n + 1)", "li:nth-last-child(odd)", "[data-customer]", "[data-kind='a, b']", '[href^="/p" i]',
    "[lang|=de]", ":not(.open, [hidden])", "p:is( h1 , h2 > b ):first-child", ":where(a:not(.b))", "x-card.größe",
    "input:disabled", "._a", "-moz-box",
]  # fmt: skip
INVALID = [
    "", " ", " .a", ".a ", ".a, .b", "..a", ".", "#", ".1a", "#1", "a >", "> a", "a > > b", "[a", "[a=]", "[a=b", "a]",
    "p::before", ":hover", ":has(a)", ":first-childx", ":first-child(", ":not(", ":not()", ":not(a", "a)",
    ":nth-child()", ":nth-child(x)", ":not(a,)", ".a{}", ".a;b", "a/**/b", "<p>", "a\\62", "[a='b\n']", "@media", "a!",
    "--", "a||b",
    ":is(" * 9 + "a" + ")" * 9,
]  # fmt: skip
