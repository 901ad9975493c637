"""File names of attachments as clients send them in multipart bodies."""

import httpx
import pytest

from tests.support.server import World, expect_error, ok


def attach(world: World, disposition: bytes) -> httpx.Response:
    """Attach a file whose part has this Content-Disposition."""
    head = b"--x\r\nContent-Disposition: form-data; " + disposition + b"\r\nContent-Type: text/plain\r\n\r\n"
    path = f"/tickets/{world.ticket()['id']}/attachments"
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    return world.api.post(path, content=head + b"text\r\n--x--\r\n", headers=headers)


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        (b"name=file; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt", "Größe.txt"),
        (b"name=file; filename* = utf-8'de'a%20b.txt; x=y", "a b.txt"),
        (b"name=file; filename=a.txt; filename*=UTF-8''b.txt", "a.txt"),
        ('name=file; filename="Größe.txt"'.encode(), "Größe.txt"),
    ],
)
def test_name_of_a_file_is_read_in_both_forms(world: World, disposition: bytes, name: str) -> None:
    assert ok(attach(world, disposition))["name"] == name


def test_name_that_is_not_utf_8_is_refused_without_internals(world: World) -> None:
    problem = expect_error(attach(world, 'name=file; filename="Größe.txt"'.encode("latin-1")), 400, "invalid_request")
    assert problem["detail"] == "the headers of a part, such as its file name, must be UTF-8"
