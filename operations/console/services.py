"""What the pages about people act through: the same parts as the chat and the command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.people.linking import Linking
from core.tools.account_access import PeoplesAccounts
from core.tools.memory_access import MemoryAccess
from operations.programs.tokens import ClientTokens


@dataclass(frozen=True, slots=True)
class PersonServices:
    """The parts for one person's page. `tiers`: their names.

    `accounts` is None where nobody can connect any; `memory` opens a person's, None where it is off. `tokens` are those
    of programs, good for `token_life`: until they are revoked where it is None.
    """

    accounts: PeoplesAccounts | None
    linking: Linking
    tiers: Sequence[str] = ()
    memory: Callable[[str], MemoryAccess] | None = None
    tokens: ClientTokens | None = None
    token_life: timedelta | None = None
    only_send: Sequence[str] = ()
    """The channels of the operator's own on which nobody can write."""
