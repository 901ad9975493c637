# `multipart` by defnull. Type checkers find the package that python-multipart leaves under the same name.
from collections.abc import Iterator
from typing import Self

class MultipartError(ValueError): ...
class ParserLimitReached(MultipartError): ...

class MultipartSegment:
    name: str | None
    filename: str | None
    content_type: str | None

class PushMultipartParser:
    def __init__(
        self,
        boundary: str | bytes,
        content_length: int = ...,
        max_header_size: int = ...,
        max_header_count: int = ...,
        max_segment_size: float = ...,
        max_segment_count: float = ...,
        header_charset: str = ...,
        strict: bool = ...,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def parse(self, chunk: bytes | bytearray) -> Iterator[MultipartSegment | bytearray | None]: ...

def parse_options_header(header: str) -> tuple[str, dict[str, str]]: ...
