"""How a password is tried before it is stored: what an ability loads for the accounts that it opens."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from core.credentials.types import OpenAccount
from core.errors import ToolFailed
from core.http.types import HttpClient

type Trial = Callable[[OpenAccount, HttpClient], Awaitable[frozenset[str]]]
"""Log in at an account's servers, and return those that have something for it. Raises `TrialFailed`."""


class Fault(StrEnum):
    """What is wrong about what was typed."""

    LOGIN = "login"
    IMAP = "imap"
    SMTP = "smtp"
    URL = "url"


class TrialFailed(ToolFailed):
    """What was typed opens nothing; the message is for the person."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.fault = fault
