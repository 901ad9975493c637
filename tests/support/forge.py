"""A small server that speaks the API of GitHub and Gitea, or of GitLab, as far as comments and statuses need it."""

import base64
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]


class Forge:
    """The comments and statuses of one repository. `login` is the account that calls, None for a job's token."""

    def __init__(self, kind: str, login: str | None = "ci") -> None:
        self.kind, self.login = kind, login
        self.comments: list[Json] = []
        self.statuses: list[Json] = []
        self.pulls: list[Json] = []
        self.branches: set[str] = {"main"}
        self.pictures: dict[str, bytes] = {}
        self.refused: set[str] = set()  # the ends of paths that are answered with 403
        self.tokens: set[str] = set()
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
                """Say nothing."""

            def _answer(self) -> None:
                length = int(self.headers.get("content-length", 0))
                raw = self.rfile.read(length)
                is_file = self.headers.get_content_type() == "multipart/form-data"
                body = {"file": raw} if is_file else json.loads(raw or b"null")
                forge.tokens.update(
                    self.headers[name] for name in ("Authorization", "PRIVATE-TOKEN", "JOB-TOKEN") if self.headers[name]
                )
                status, answer = forge.answer(self.command, self.path, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = _answer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def say(self, body: str, login: str) -> None:
        """Add a comment of an account."""
        author = {"user": {"login": login}} if self.kind == "github" else {"author": {"username": login}}
        self.comments.append({"id": len(self.comments) + 1, "body": body, **author})

    def answer(self, method: str, address: str, body: Json | None) -> tuple[int, Any]:
        """Answer a call as the forge does."""
        path = address.partition("?")[0]
        page = int((re.search(r"[?&]page=(\d+)", address) or [0, 1])[1])
        if any(path.endswith(end) for end in self.refused):
            return 403, {"message": "Resource not accessible"}
        if path == "/user":
            name = "login" if self.kind == "github" else "username"
            return (200, {name: self.login}) if self.login else (403, {})
        base = "/repos/shop/web" if self.kind == "github" else "/projects/42"
        if not path.startswith(base):
            return 404, {}
        rest = path.removeprefix(base)
        comments = "/issues/7/comments" if self.kind == "github" else "/merge_requests/7/notes"
        if method == "GET" and rest == comments:
            return 200, self.comments[(page - 1) * 100 : page * 100]
        if method == "POST" and rest == comments and body:
            self.say(body["body"], self.login or "github-actions[bot]")
            return 201, self.comments[-1]
        changed = re.fullmatch(r"/issues/comments/(\d+)|/merge_requests/7/notes/(\d+)", rest)
        if changed and method == ("PATCH" if self.kind == "github" else "PUT") and body:
            self.comments[int(changed[1] or changed[2]) - 1]["body"] = body["body"]
            return 200, {}
        if method == "GET" and rest in {"/pulls", "/merge_requests"}:
            return 200, self.pulls if page == 1 else []
        if method == "POST" and rest.startswith("/statuses/") and body:
            self.statuses.append({"commit": rest.rpartition("/")[2], **body})
            return 201, {}
        return self._store(method, rest, body or {})

    def _store(self, method: str, rest: str, body: Json) -> tuple[int, Any]:
        """Files: GitHub commits them to a branch that is there, GitLab takes uploads."""
        if method == "POST" and self.kind == "gitlab" and rest == "/uploads":
            name = re.search(rb'filename="([^"]+)"', body["file"])
            assert name
            address = f"/uploads/0123/{name[1].decode()}"
            self.pictures[address] = body["file"]
            return 201, {"url": address}
        if method == "POST" and rest in {"/git/trees", "/git/commits"}:
            return 201, {"sha": "c" * 40}
        if method == "POST" and rest == "/git/refs":
            self.branches.add(body["ref"].removeprefix("refs/heads/"))
            return 201, {}
        if method == "PUT" and rest.startswith("/contents/") and body["branch"] in self.branches:
            address = f"https://forge.example/shop/web/blob/{body['branch']}/{rest.removeprefix('/contents/')}"
            self.pictures[f"{address}?raw=true"] = base64.b64decode(body["content"])
            return 201, {"content": {"html_url": address}}
        return 404, {}
