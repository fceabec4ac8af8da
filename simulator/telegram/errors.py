"""How Telegram says no: https://core.telegram.org/bots/api#making-requests."""


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


class MarkupError(Exception):
    """A text is not of its parse mode; the message is what follows "can't parse entities: "."""


def bad_request(words: str) -> Refusal:
    """Refuse with 400 as the server does: its words begin in lower case unless they are a CONSTANT.

    The rule is `fail_query_with_error` in the server source.
    """
    if len(words) > 1 and not (words[1] == "_" or "A" <= words[1] <= "Z"):
        words = words[0].lower() + words[1:]
    return Refusal(400, f"Bad Request: {words}")


def too_many_requests(seconds: int) -> Refusal:
    """Refuse with 429 and the seconds to wait."""
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
