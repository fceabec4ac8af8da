"""People's accounts elsewhere, as far as turns and operators need them; the ability that has them implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from core.credentials.needs import missing, read_need
from core.credentials.types import Account

if TYPE_CHECKING:  # what `web` has no use for
    from core.tools.person_access import PersonAccounts


@dataclass(frozen=True, slots=True)
class MissingAccess:
    """Access that a call lacks. `account` is to be renewed or extended; None if another is to be connected."""

    needs: tuple[str, ...]
    account: Account | None = None

    @classmethod
    def again(cls, account: Account) -> "MissingAccess":
        """Return what renews an account, so that it allows what it did."""
        return cls(tuple(f"{account.service}:{ability}" for ability in sorted(account.abilities)), account)

    @property
    def reason(self) -> str:
        """Return what is missing, in a sentence for each kind."""
        needs = map(read_need, self.needs)
        return " ".join(dict.fromkeys(missing(ability, service) for service, ability in needs))


@dataclass(frozen=True, slots=True)
class Prompt:
    """How a person is asked. `silent`: they were asked before, and are not told again."""

    text: str
    silent: bool = False


class AccountPrompts(Protocol):
    """Asks one person for accounts, in one turn."""

    async def prompt(self, wanted: MissingAccess) -> Prompt | None:
        """Return how the person is asked for an account; None where none can be connected."""
        ...


class AccountAsker(Protocol):
    """Asks people for accounts that calls need."""

    def for_turn(
        self, tenant_id: str, turn_id: str, conversation_id: str | None, *, in_run: bool = False
    ) -> AccountPrompts:
        """Return how the person of a turn is asked; `in_run`: a task's, so nobody is there."""
        ...


class PeoplesAccounts(Protocol):
    """The accounts of all people."""

    @property
    def asker(self) -> AccountAsker | None:
        """Return what asks people for accounts that calls need; None where none can be connected."""
        ...

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> "PersonAccounts":
        """Return access to this tenant's accounts only; links that are made are for the turn's conversation."""
        ...

    async def list(self, tenant_id: str) -> Sequence[Account]:
        """Return the accounts of a person."""
        ...

    async def disconnect(self, tenant_id: str, account: Account) -> bool:
        """Forget an account, and end its grant at its service; False where only its person can end it there."""
        ...
