"""How Slack says no: HTTP 200 with {"ok": false, "error": code}, and 429 for its rate limits."""

from collections.abc import Sequence

from simulator.slack.shapes import Obj


class Refused(Exception):
    """End a Web API call with Slack's error code.

    `problems` are what Block Kit and argument checks found; Slack repeats them in `errors` and, with a
    mark before each, in `response_metadata.messages`. `extra` adds further fields (`needed`, `provided`).
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
        """Return the answer's JSON."""
        answer: Obj = {"ok": False, "error": self.code, **self.extra}
        if self.problems:
            answer["errors"] = list(self.problems)
            answer["response_metadata"] = {"messages": [f"[ERROR] {problem}" for problem in self.problems]}
        return answer
