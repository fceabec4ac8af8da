"""The trial of a password before it is stored, which an ability provides for the accounts that it opens."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from core.credentials.types import OpenAccount
from core.errors import ToolFailed
from core.http.types import HttpClient

type Trial = Callable[[OpenAccount, HttpClient], Awaitable[frozenset[str]]]
"""Logs in at an account's servers, and returns the kinds of those that can be used. Raises `TrialFailed`."""


class Fault(StrEnum):
    """The part of the typed login that is wrong."""

    LOGIN = "login"
    IMAP = "imap"
    SMTP = "smtp"
    URL = "url"


class TrialFailed(ToolFailed):
    """The typed login opens no server; the message is for the person."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.fault = fault
