"""The scripts of the reporter as other sites load them: headers, compression, cache."""

import gzip

import httpx

from tests.support.server import Box

LIMIT = 45_000


def test_scripts_load_on_other_sites_compressed_and_are_checked_again_by_their_tag(box: Box) -> None:
    for name in ("reporter.js", "reporter-panel.js"):
        address = f"{box.url}/{name}"
        plain = httpx.get(address, headers={"Accept-Encoding": "identity"})
        assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
        assert plain.headers["cross-origin-resource-policy"] == "cross-origin"
        assert "max-age=3600" in plain.headers["cache-control"]
        assert "access-control-allow-origin" not in plain.headers
        assert "set-cookie" not in plain.headers
        tags = {plain.headers["etag"]}
        for encoding in ("br", "gzip"):
            headers = {"Accept-Encoding": encoding}
            with httpx.stream("GET", address, headers=headers) as answer:
                packed = b"".join(answer.iter_raw())
            assert answer.headers["content-encoding"] == encoding
            assert answer.headers["vary"] == "accept-encoding"
            if encoding == "gzip":
                assert gzip.decompress(packed) == plain.content
            if name == "reporter.js":
                assert len(packed) <= LIMIT
            tags.add(answer.headers["etag"])
            known = httpx.get(address, headers={**headers, "If-None-Match": answer.headers["etag"]})
            assert (known.status_code, known.content) == (304, b"")
        assert len(tags) == 3
        assert httpx.head(address).status_code == 200
