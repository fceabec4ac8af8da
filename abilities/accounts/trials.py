"""Try a password against its servers before it is stored, on the event loop of `web`.

Strangers name these servers: no thread waits for a server, and neither its answer nor its silence delays other people.
The requests to a server are made by abilities, each for the accounts of its own kind.
"""

from collections.abc import Callable, Mapping

from core.credentials.trial import Trial
from core.credentials.types import OpenAccount
from core.http.peer import Slots
from core.http.types import HttpClient

AT_ONCE = 32
"""Accounts that are tried at the same time in a process, at most a single account of each person."""


class Trials:
    """Try the accounts of several services. `loads`: loads the trial of each, when it is used first."""

    def __init__(self, loads: Mapping[str, Callable[[], Trial]]) -> None:
        self._loads = loads
        self._slots = Slots(AT_ONCE)

    async def run(self, account: OpenAccount, http: HttpClient) -> frozenset[str]:
        """Return the servers that accept an account; a person's accounts are tried one by one. Raises `TrialFailed`."""
        async with self._slots.of(account.person or account.login):
            return await self._loads[account.account.service]()(account, http)
