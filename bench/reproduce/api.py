"""The API of the benchmark's three applications, with data in memory."""

import copy
import threading
from typing import Any

Json = dict[str, Any]
Answer = tuple[float, int, Any]

TASKS: list[Json] = [
    {"id": 7, "title": "Order paper", "done": False, "due": "2026-11-24T09:30:00Z", "owner": {"name": "Ida Holm"}},
    {"id": 8, "title": "Call printer", "done": False, "due": "2026-11-25", "owner": None},
    {"id": 9, "title": "Pay rent", "done": True, "due": "2026-11-26T12:00:00Z", "owner": {"name": "Olu Adeyemi"}},
]
PRODUCTS: list[Json] = [
    {"id": 21, "name": "Arc lamp", "price": 249.0},
    {"id": 22, "name": "Oak table", "price": "129.00"},
    {"id": 23, "name": "Paper globe", "price": 39.5},
    {"id": 24, "name": "Old stool", "price": 99.0},
]
PEOPLE: list[Json] = [
    {"id": "per_4f1a9c02d7", "name": "Ida Holm", "status": "active", "phone": None, "email": "ida@example.org",
     "born": "1991-04-02", "version": 3},
    {"id": "per_8b20e1f3a6", "name": "Olu Adeyemi", "status": "active", "phone": "+46 70 555 01 23",
     "email": "olu@example.org", "born": "1984-12-24", "version": 1},
    {"id": "per_c97d5503be", "name": "Mei Tanaka", "status": "blocked", "phone": "+46 70 555 04 56",
     "email": "mei@example.org", "born": "1978-07-19", "version": 2},
]  # fmt: skip
SLOW, FAST = 0.8, 0.05


class Api:
    """The data of one recording. An answer is its delay in seconds, its status and its body."""

    def __init__(self) -> None:
        self._tasks, self._people = copy.deepcopy(TASKS), copy.deepcopy(PEOPLE)
        self._titles: set[str] = set()

    def answer(self, method: str, path: str, parameters: dict[str, str], body: Json) -> Answer:
        """Answer a call."""
        match method, path.split("/"):
            case _, ["tasks" | "summary", *_]:
                return self._answer_tasks(method, path.split("/"), parameters, body)
            case _, ["people", *_]:
                return self._answer_people(method, path.split("/"), parameters, body)
            case _:
                return _answer_shop(method, path.split("/"), parameters, body)

    def _answer_tasks(self, method: str, path: list[str], parameters: dict[str, str], body: Json) -> Answer:
        match method, path:
            case "GET", ["tasks"]:
                state = parameters.get("state")
                items = [each for each in self._tasks if state is None or each["done"] == (state == "done")]
                return SLOW if state == "open" else FAST, 200, {"items": items}
            case "GET", ["summary"]:
                return FAST, 200, {"done": sum(each["done"] for each in self._tasks), "week": "2026-W48"}
            case "GET", ["tasks", number, "comments"] if number.isdecimal():
                return FAST, 200, {"items": [{"id": 1, "text": "The red one"}]}
            case (("PATCH" | "DELETE"), ["tasks", number]) if number.isdecimal():
                return FAST, 200, {"id": int(number), **body}
            case "POST", ["tasks"]:
                if not isinstance(body["estimate"], int | float):
                    return FAST, 422, {"error": "`estimate` must be a number."}
                if body["title"] in self._titles:
                    return SLOW, 409, {"error": "There is such a task."}
                self._titles.add(body["title"])
                added = {"id": 12, "title": body["title"], "done": False, "due": "2026-12-01", "owner": None}
                return SLOW, 201, added
            case _:
                return FAST, 404, {"error": "There is no such task."}

    def _answer_people(self, method: str, path: list[str], parameters: dict[str, str], body: Json) -> Answer:
        if method == "GET" and len(path) == 1:
            if parameters.get("sort", "name") != "name":
                return FAST, 400, {"error": "`sort` must be `name`."}
            query = parameters.get("q", "").casefold()
            found = [copy.deepcopy(each) for each in self._people if query in each["name"].casefold()]
            return FAST, 200, {"items": found}
        person = next((each for each in self._people if each["id"] == path[-1]), None)
        if person is None:
            return FAST, 404, {"error": "There is no such person."}
        if method == "PATCH":
            if "email" not in body:
                return FAST, 422, {"error": "`email` is required."}
            saved = {**person, "name": body["name"], "version": person["version"] + 1}
            threading.Timer(SLOW - FAST, person.update, [saved]).start()  # saved shortly before it is answered
            return SLOW, 200, saved
        if method == "DELETE":
            self._people.remove(person)
            return FAST, 200, {}
        return SLOW if person["phone"] is None else FAST, 200, person


def _answer_shop(method: str, path: list[str], parameters: dict[str, str], body: Json) -> Answer:
    match method, path:
        case "GET", ["products"]:
            query = parameters.get("q", "").casefold()
            return (
                SLOW if len(query) == 1 else FAST,
                200,
                {"items": [each for each in PRODUCTS if query in each["name"].casefold()]},
            )
        case "GET", ["products", "24"]:
            return FAST, 410, {"error": "This product is sold out."}
        case "GET", ["products", number]:
            found = [each for each in PRODUCTS if str(each["id"]) == number]
            return (SLOW, 200, found[0]) if found else (FAST, 404, {"error": "There is no such product."})
        case "POST", ["coupons"]:
            return FAST, 200, {"code": body["code"], "discount": None}
        case "PATCH", ["cart", _]:
            if body["quantity"] < 0:
                return FAST, 422, {"error": "`quantity` must be 0 or more."}
            return FAST, 200, {"quantity": body["quantity"]}
        case "POST", ["orders"]:
            return FAST, 201, {"number": "LO-10482"}
        case _, ["orders"]:
            return FAST, 405, {"error": "Use POST."}
        case _:
            return FAST, 404, {"error": "There is nothing here."}
