"""What the pages about people act through: the same parts as the chat and the command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.accounts.accounts import Accounts
from core.memory.access import MemoryAccess
from core.people.linking import Linking


@dataclass(frozen=True, slots=True)
class PersonServices:
    """The parts for one person's page. `tiers`: their names; `memory` opens a person's, None where it is off."""

    accounts: Accounts
    linking: Linking
    tiers: Sequence[str] = ()
    memory: Callable[[str], MemoryAccess] | None = None
