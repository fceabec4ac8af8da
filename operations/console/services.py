"""The services behind the pages about people: the same parts as in chats and the command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.people.linking import Linking
from core.tools.account_access import PeoplesAccounts
from core.tools.memory_access import MemoryAccess
from operations.programs.tokens import ClientTokens


@dataclass(frozen=True, slots=True)
class PersonServices:
    """The parts for a person's page. `tiers`: their names.

    `accounts` is None if no ability opens accounts; `memory` opens a person's memory, None if it is off. `tokens` are
    those of programs.
    """

    accounts: PeoplesAccounts | None
    linking: Linking
    tiers: Sequence[str] = ()
    memory: Callable[[str], MemoryAccess] | None = None
    tokens: ClientTokens | None = None
    only_send: Sequence[str] = ()
    """The operator's own channels that receive no messages."""
