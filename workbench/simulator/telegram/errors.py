"""Telegram's refusals: https://core.telegram.org/bots/api#making-requests."""

import math

from aiohttp import web

from workbench.simulator.faults import FaultKind, Rule
from workbench.simulator.journal import Json

_SERVER_ERRORS = {500: "Internal Server Error", 502: "Bad Gateway", 504: "Gateway Timeout"}


class Refusal(Exception):
    """Refuse a call with an HTTP status, which is also `error_code`, and a description.

    `retry_after` (seconds) and `migrate_to` become ResponseParameters:
    https://core.telegram.org/bots/api#responseparameters.
    """

    def __init__(self, code: int, description: str, retry_after: int = 0, migrate_to: int = 0) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.retry_after = retry_after
        self.migrate_to = migrate_to


def bad_request(words: str) -> Refusal:
    """Refuse with 400 as the server does: its words begin in lower case unless they are a CONSTANT.

    The rule is `fail_query_with_error` in the server source.
    """
    if len(words) > 1 and not (words[1] == "_" or "A" <= words[1] <= "Z"):
        words = words[0].lower() + words[1:]
    return Refusal(400, f"Bad Request: {words}")


def too_many_requests(seconds: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


def fault_answer(rule: Rule) -> web.Response:
    if rule.kind is FaultKind.RATE_LIMIT:
        return refused(too_many_requests(max(1, math.ceil(rule.seconds))))
    return refused(Refusal(rule.status, _SERVER_ERRORS.get(rule.status, "Service Unavailable")))


def refused(refusal: Refusal) -> web.Response:
    answer: dict[str, Json] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    headers: dict[str, str] = {}
    if refusal.retry_after:
        answer["parameters"] = {"retry_after": refusal.retry_after}
        headers["Retry-After"] = str(refusal.retry_after)
    if refusal.migrate_to:
        answer["parameters"] = {"migrate_to_chat_id": refusal.migrate_to}
    return web.json_response(answer, status=refusal.code, headers=headers)
