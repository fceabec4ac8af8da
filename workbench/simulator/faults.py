"""Faults on demand: rules that make an endpoint of an emulated provider misbehave."""

import random
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class FaultKind(StrEnum):
    """Misbehaviours of an endpoint. "Before" and "after" say whether the provider had accepted the call."""

    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    SERVER_ERROR_AFTER = "server_error_after"
    TIMEOUT_BEFORE = "timeout_before"
    TIMEOUT_AFTER = "timeout_after"
    RESET_BEFORE = "reset_before"
    RESET_AFTER = "reset_after"
    PAGE = "page"
    """An HTML page with `status`, as a proxy or a captive portal answers."""
    PAGE_AFTER = "page_after"
    EMPTY = "empty"
    """`{}` with 200."""
    HUGE = "huge"
    """20 MB of junk with 200."""
    REDIRECT = "redirect"
    """To `location`, with `status` if that is a redirect, else 302."""
    DRIP = "drip"
    """A byte now and then, for `seconds`, and never an end."""

    @property
    def accepts(self) -> bool:
        """Return whether the call takes effect all the same."""
        return self.value.endswith("_after")


@dataclass(frozen=True, slots=True)
class Rule:
    """Misbehave at endpoints that match `endpoint` (`twilio.messages.create`, `slack.*`).

    `times` 0 means until cleared; `share` is the chance per call; `seconds` is the Retry-After of a rate limit, or how
    long a timeout hangs or a drip lasts; `status` is that of a server error or a page; `location` is the target of a
    redirect.
    """

    endpoint: str
    kind: FaultKind
    times: int = 1
    share: float = 1.0
    seconds: float = 1.0
    status: int = 503
    location: str = ""


class Faults:
    """Hold the rules and return the rule that a call runs into."""

    def __init__(self, seed: int = 0) -> None:
        self._rules: list[tuple[Rule, int]] = []
        self._random = random.Random(seed)

    def add(self, rule: Rule) -> None:
        """Add a rule; earlier rules come first."""
        self._rules.append((rule, rule.times))

    def clear(self) -> None:
        self._rules.clear()

    def rules(self) -> list[Rule]:
        """List the rules still in force."""
        return [rule for rule, _ in self._rules]

    def take(self, endpoint: str) -> Rule | None:
        """Return the rule this call runs into, using it up by a call, or None."""
        for index, (rule, left) in enumerate(self._rules):
            if not fnmatchcase(endpoint, rule.endpoint) or self._random.random() >= rule.share:
                continue
            if left == 1:
                del self._rules[index]
            elif left > 1:
                self._rules[index] = (rule, left - 1)
            return rule
        return None
