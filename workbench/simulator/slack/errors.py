"""Slack's refusals: HTTP 200 with {"ok": false, "error": code}, and 429 for its rate limits."""

from collections.abc import Collection, Sequence

from aiohttp import web

from workbench.simulator.faults import FaultKind, Rule
from workbench.simulator.journal import Json
from workbench.simulator.slack.shapes import Obj


class Refusal(Exception):
    """End a Web API call with Slack's error code.

    `problems` are the findings of Block Kit and argument checks; Slack repeats them in `errors` and, with a mark before
    each, in `response_metadata.messages`. `extra` adds further fields (`needed`, `provided`).
    """

    def __init__(
        self, code: str, problems: Sequence[str] = (), *, extra: Obj | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(code)
        self.code = code
        self.problems = tuple(problems)
        self.extra = extra or {}
        self.retry_after = retry_after

    def body(self) -> Obj:
        answer: Obj = {"ok": False, "error": self.code, **self.extra}
        if self.problems:
            answer["errors"] = list(self.problems)
            answer["response_metadata"] = {"messages": [f"[ERROR] {problem}" for problem in self.problems]}
        return answer


class Problems:
    """The list that the checks of Block Kit fill."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str, at: str) -> None:
        """Note a problem at a JSON pointer."""
        self.found.append(f"{problem} [json-pointer:{at}]")

    def string(self, owner: Obj, key: str, at: str, most: int, *, least: int = 0, needed: bool = False) -> None:
        """Check a string field: there if needed, and of a permitted length in characters."""
        if key not in owner:
            if needed:
                self.add(f"missing required field: {key}", at)
            return
        value = owner[key]
        if not isinstance(value, str):
            self.add("must provide a string", f"{at}/{key}")
        elif len(value) > most:
            self.add(f"must be less than {most + 1} characters", f"{at}/{key}")
        elif len(value) < least:
            self.add(f"must be more than {least - 1} characters", f"{at}/{key}")

    def boolean(self, owner: Obj, key: str, at: str) -> None:
        if key in owner and not isinstance(owner[key], bool):
            self.add("must be a boolean", f"{at}/{key}")

    def among(self, value: Json, allowed: Collection[str], at: str) -> bool:
        if isinstance(value, str) and value in allowed:
            return True
        self.add("must be a valid enum value", at)
        return False

    def only(self, owner: Obj, allowed: Collection[str], at: str) -> None:
        """Refuse fields that Slack's schema does not have."""
        for key in owner:
            if key not in allowed:
                self.add(f"invalid additional property: {key}", at)

    def listed(self, owner: Obj, key: str, at: str, most: int, *, least: int = 1) -> list[Json]:
        """Check a needed list and its length; give its items, or none when it is wrong."""
        value = owner.get(key)
        if value is None:
            self.add(f"missing required field: {key}", at)
            return []
        if not isinstance(value, list):
            self.add("must be an array", f"{at}/{key}")
            return []
        if len(value) > most:
            self.add(f"no more than {most} items allowed", f"{at}/{key}")
        if len(value) < least:
            self.add(f"no fewer than {least} items allowed", f"{at}/{key}")
        return value


def fault_answer(rule: Rule) -> web.StreamResponse:
    """Word a fault as Slack does: 429 with Retry-After (apis/web-api/rate-limits), or a server error."""
    if rule.kind is FaultKind.RATE_LIMIT:
        seconds = max(1, round(rule.seconds))
        body: Obj = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers={"Retry-After": str(seconds)})
    code = "service_unavailable" if rule.status == 503 else "internal_error"
    return web.json_response({"ok": False, "error": code}, status=rule.status)
