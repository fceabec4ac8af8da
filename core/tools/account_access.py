"""People's accounts elsewhere, as far as turns and operators need them; the ability that has them implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from core.credentials.needs import missing, read_need
from core.credentials.types import Account

if TYPE_CHECKING:  # `web` has no use for it
    from core.tools.person_access import PersonAccounts


@dataclass(frozen=True, slots=True)
class MissingAccess:
    """Access that a call lacks. `account` is to be renewed or extended; None if another is to be connected."""

    needs: tuple[str, ...]
    account: Account | None = None

    @classmethod
    def again(cls, account: Account) -> "MissingAccess":
        """Return the access that renews an account, with its former abilities."""
        return cls(tuple(f"{account.service}:{ability}" for ability in sorted(account.abilities)), account)

    @property
    def reason(self) -> str:
        """Return a sentence for each kind of missing access."""
        needs = map(read_need, self.needs)
        return " ".join(dict.fromkeys(missing(ability, service) for service, ability in needs))


@dataclass(frozen=True, slots=True)
class Prompt:
    """The request to a person. `silent`: they got it before, and do not get it again."""

    text: str
    silent: bool = False


class AccountPrompts(Protocol):
    """Asks a person for accounts, in a turn."""

    async def prompt(self, wanted: MissingAccess) -> Prompt | None:
        """Return the prompt for an account, or None if no account can be connected."""
        ...


class AccountAsker(Protocol):
    """Asks people for accounts that calls need."""

    def for_turn(
        self, tenant_id: str, turn_id: str, conversation_id: str | None, *, in_run: bool = False
    ) -> AccountPrompts:
        """Return the prompts for the person of a turn. `in_run`: a task's run, so no person is present."""
        ...


class PeoplesAccounts(Protocol):
    """The accounts of all people."""

    @property
    def asker(self) -> AccountAsker | None:
        """Return the asker for accounts that calls need, or None if no account can be connected."""
        ...

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> "PersonAccounts":
        """Return access to this tenant's accounts only; links that are made are for the turn's conversation."""
        ...

    async def list(self, tenant_id: str) -> Sequence[Account]:
        """Return the accounts of a person."""
        ...

    async def disconnect(self, tenant_id: str, account: Account) -> bool:
        """Forget an account, and end its grant at its service; return False if only its person can end it there."""
        ...
