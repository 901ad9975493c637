"""How the tokens of services are built, with prefixes in parts, so that no scanner mistakes this file for a leak."""

# ruff: noqa: E501

import string

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"

# prefix in parts, alphabet, length, end
TOKENS: list[tuple[str, tuple[str, ...], str, int, str]] = [
    ("AWS", ("AK", "IA"), UPPER + "234567", 16, ""), ("AWS", ("AS", "IA"), UPPER + "234567", 16, ""),
    ("AWS", ("AR", "OA"), UPPER + "234567", 16, ""), ("AWS", ("AB", "SK"), WORD, 120, "=="),
    ("Google", ("AI", "za", "Sy"), WORD + "-_", 33, ""), ("Google", ("ya", "29.a0A"), WORD + "-_", 120, ""),
    ("Google", ("GOC", "SPX-"), WORD + "-_", 28, ""), ("Google", ("1/", "/0e"), WORD + "-_", 60, ""),
    *[("GitHub", ("gh", f"{each}_"), WORD, 36, "") for each in "pousr"], ("GitHub", ("github", "_pat_11"), WORD + "_", 80, ""),
    *[("GitLab", ("gl", f"{each}-"), WORD + "-_", 20, "") for each in ("pat", "dt", "rt", "ft", "soat")],
    ("GitLab", ("gl", "ptt-"), HEX, 40, ""), ("GitLab", ("GR13", "48941"), WORD, 20, ""),
    ("Slack", ("xo", "xb-", "123456789012-1234567890123-"), WORD, 24, ""), ("Slack", ("xo", "xp-", "123456789012-"), WORD, 32, ""),
    ("Slack", ("xa", "pp-1-", "A012BCDEF3G-1234567890123-"), HEX, 64, ""), ("Slack", ("xo", "xe.xo", "xp-1-"), UPPER + DIGITS, 160, ""),
    ("Stripe", ("sk", "_live_"), WORD, 24, ""), ("Stripe", ("rk", "_live_"), WORD, 24, ""), ("Stripe", ("sk", "_test_"), WORD, 99, ""),
    ("Stripe", ("wh", "sec_"), WORD, 32, ""),
    ("OpenAI", ("sk-", "proj-"), WORD + "-_", 74, ""), ("OpenAI", ("sk", "-"), WORD, 48, ""), ("OpenAI", ("sk-", "svcacct-"), WORD + "-_", 74, ""),
    ("Anthropic", ("sk-", "ant-", "api03-"), WORD + "-_", 93, "AA"), ("OpenRouter", ("sk-", "or-v1-"), HEX, 64, ""),
    ("npm", ("np", "m_"), WORD, 36, ""), ("PyPI", ("py", "pi-AgEI"), WORD + "-_", 120, ""),
    ("Azure", ("", ""), WORD + "+/", 86, "=="), ("Azure", ("aB", "c8Q~"), WORD + "_~.-", 34, ""), ("Azure", ("", ""), WORD, 76, "AZ" + "DOabcd"),
    *[("DigitalOcean", ("do", f"{each}_v1_"), HEX, 64, "") for each in "opr"],
    ("Atlassian", ("ATA", "TT3x"), WORD + "-_=", 186, ""), ("Atlassian", ("AT", "BB"), WORD, 32, ""), ("Atlassian", ("AT", "CTT3x"), WORD + "-_=", 186, ""),
    ("SendGrid", ("S", "G."), WORD + "-_", 22, "." + "aB3_x9Kq" * 5 + "Zz1"),
    ("Hugging Face", ("h", "f_"), LOWER + UPPER, 34, ""), ("Hugging Face", ("api", "_org_"), LOWER + UPPER, 34, ""),
    *[("Shopify", ("shp", f"{each}_"), HEX, 32, "") for each in ("at", "ca", "pa", "ss")],
    ("Linear", ("lin", "_api_"), WORD, 40, ""), ("Linear", ("lin", "_oauth_"), HEX, 64, ""),
    ("Vault", ("hv", "s."), WORD + "-_", 95, ""), ("Vault", ("hv", "b."), WORD + "-_", 140, ""), ("Vault", ("", "s."), WORD, 24, ""),
    ("Terraform", ("aB3dE6gH9jK2mN", ".atlas", "v1."), WORD + "-_=", 64, ""), ("Databricks", ("da", "pi"), HEX, 32, ""),
    ("Discord", ("M", "TIzNDU2Nzg5MDEyMzQ1Njc4", ".GaBcDe."), WORD + "-_", 38, ""),
    ("Telegram", ("12345", "67890:A", "A"), WORD + "-_", 33, ""), ("Twilio", ("S", "K"), HEX, 32, ""),
    ("Mailgun", ("ke", "y-"), HEX, 32, ""), ("Mailchimp", ("", ""), HEX, 32, "-us" + "12"), ("Brevo", ("xkey", "sib-"), HEX, 64, "-aB3dE6gH9jK2mN5p"),
    ("Facebook", ("EA", "AM"), WORD, 120, ""), ("Square", ("sq0", "atp-"), WORD + "-_", 22, ""), ("Square", ("sq0", "csp-"), WORD + "-_", 43, ""),
    ("Notion", ("nt", "n_"), WORD, 46, ""), ("Notion", ("sec", "ret_"), WORD, 43, ""), ("Dropbox", ("s", "l.B"), WORD + "-_", 130, ""),
    ("Airtable", ("pa", "t"), WORD, 14, "." + "0a1b2c3d" * 8), ("Asana", ("1/", "1201234567890123:"), HEX, 32, ""),
    ("Doppler", ("dp", ".pt."), WORD, 43, ""), ("Dynatrace", ("dt", "0c01."), UPPER + DIGITS, 24, "." + "A1B2C3D4" * 8),
    ("EasyPost", ("EZ", "AK"), WORD, 54, ""), ("Fly", ("fo", "1_"), WORD + "-_", 43, ""), ("Fly", ("fm", "2_"), WORD, 120, "="),
    ("Grafana", ("gl", "c_"), WORD, 60, "="), ("Grafana", ("gl", "sa_"), WORD, 32, "_0a1B2c3d"),
    ("Postman", ("PM", "AK-"), HEX, 24, "-" + "0a1b2c3d4e" * 3 + "0a1b"), ("Pulumi", ("pu", "l-"), HEX, 40, ""), ("Prefect", ("pn", "u_"), WORD, 36, ""),
    ("PlanetScale", ("pscale", "_tkn_"), WORD + "-_", 43, ""), ("PlanetScale", ("pscale", "_pw_"), WORD + "-_", 43, ""),
    ("RubyGems", ("ruby", "gems_"), HEX, 48, ""), ("NuGet", ("oy", "2"), LOWER + DIGITS, 43, ""), ("crates.io", ("ci", "o"), WORD, 32, ""),
    ("Clojars", ("CLO", "JARS_"), HEX, 60, ""), ("Docker", ("dckr", "_pat_"), WORD + "-_", 27, ""),
    ("Artifactory", ("AK", "Cp"), WORD, 69, ""), ("Artifactory", ("cm", "Vmd"), WORD, 59, ""),
    ("Sentry", ("sntr", "yu_"), HEX, 64, ""), ("Sentry", ("sntr", "ys_eyJpYXQiO"), WORD, 90, "_" + "aB3dE6gH9j" * 4),
    ("New Relic", ("NR", "AK-"), UPPER + DIGITS, 27, ""), ("Heroku", ("HR", "KU-AA"), WORD + "-_", 58, ""), ("Netlify", ("nf", "p_"), WORD, 36, ""),
    ("Supabase", ("sb", "p_"), HEX, 40, ""), ("Groq", ("gs", "k_"), WORD, 52, ""), ("Perplexity", ("pp", "lx-"), WORD, 48, ""),
    ("xAI", ("xa", "i-"), WORD, 80, ""), ("Replicate", ("r", "8_"), WORD, 37, ""), ("LangSmith", ("lsv", "2_pt_"), HEX, 32, "_0a1b2c3d4e"),
    ("Figma", ("fig", "d_"), WORD + "-_", 40, ""), ("Typeform", ("tf", "p_"), WORD + "-_", 59, ""), ("Contentful", ("CF", "PAT-"), WORD + "-_", 43, ""),
    ("CircleCI", ("CCI", "PAT_"), WORD, 22, "_" + "0a1b2c3d" * 5), ("Buildkite", ("bk", "ua_"), HEX, 40, ""), ("SonarQube", ("sq", "p_"), HEX, 40, ""),
    ("Octopus", ("AP", "I-"), UPPER + DIGITS, 26, ""), ("Tailscale", ("ts", "key-auth-"), WORD, 18, "-aB3dE6gH9jK2mN5pQ8"),
    ("OpenShift", ("sha", "256~"), WORD + "-_", 43, ""), ("Cloudflare", ("v1", ".0-"), HEX, 24, "-" + "0a1b2c3d" * 18 + "0a"),
    ("Alibaba", ("LT", "AI"), WORD, 20, ""), ("Tencent", ("AK", "ID"), WORD, 32, ""), ("Yandex", ("AQ", "VN"), WORD + "-_", 36, ""),
    ("Adafruit", ("ai", "o_"), WORD, 28, ""), ("Adobe", ("p8", "e-"), WORD, 32, ""), ("Duffel", ("duffel", "_live_"), WORD + "-_", 43, ""),
    ("Frame.io", ("fio", "-u-"), WORD + "-_", 64, ""), ("age", ("AGE-SEC", "RET-KEY-1"), UPPER + DIGITS, 58, ""),
    ("1Password", ("op", "s_eyJ"), WORD, 250, ""), ("Flutterwave", ("FLW", "SECK-"), HEX, 32, "-X"), ("Razorpay", ("rzp", "_live_"), WORD, 14, ""),
    ("Shippo", ("shippo", "_live_"), HEX, 40, ""), ("MaxMind", ("aB3dE6", "_"), WORD, 29, "_m" + "mk"), ("ReadMe", ("rd", "me_"), LOWER + DIGITS, 70, ""),
    ("Sourcegraph", ("sg", "p_"), HEX, 40, ""), ("Scalingo", ("tk", "-us-"), WORD + "-_", 48, ""), ("CAS", ("S", "T-1234-"), WORD, 32, "-cas01"),
]  # fmt: skip
