"""Which addresses of remotes leave a machine, and what is removed from them."""

import pytest

from ticketbox.domain.git.remotes import clean_remote


@pytest.mark.parametrize(
    ("remote", "cleaned"),
    [
        ("https://git.example/shop/web.git", "https://git.example/shop/web.git"),
        ("https://ann:pw@git.example/shop.git", "https://git.example/shop.git"),
        ("https://ghp_secret@git.example:8443/shop.git\n", "https://git.example:8443/shop.git"),
        ("https://a@b:c@git.example/shop", "https://git.example/shop"),
        ("https://git.example/shop?private_token=secret#secret", "https://git.example/shop"),
        ("http://[::1]:3000/shop", "http://[::1]:3000/shop"),
        ("ssh://git@git.example:22/shop.git", "ssh://git@git.example:22/shop.git"),
        ("ssh://git:pw@git.example/shop.git", "ssh://git@git.example/shop.git"),
        ("git://ann:pw@git.example/shop.git", "git://git.example/shop.git"),
        ("git@git.example:shop/web.git", "git@git.example:shop/web.git"),
    ],
)
def test_remote_loses_its_credentials(remote: str, cleaned: str) -> None:
    assert clean_remote(remote) == cleaned
    assert clean_remote(cleaned) == cleaned


@pytest.mark.parametrize(
    "remote",
    [
        "", "origin", "/srv/shop.git", "../shop", "C:\\shop", "file:///srv/shop.git", "javascript:alert(1)",
        "javascript://git.example/%0aalert(1)", "ext::sh -c touch% /tmp/x", "data:text/html,x", "github:shop/web",
        "git:pw@git.example:shop", "https://", "https://ann@", "https://[", "https://git.example/a b",
        "https://git.example/\x1b[31m", "https://git.example/\u202egnp", "https://a\\@git.example/x y",
        "https://git.example<script>/x",
    ],
)  # fmt: skip
def test_other_text_is_no_remote(remote: str) -> None:
    assert clean_remote(remote) is None
