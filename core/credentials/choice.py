"""The choice among a person's accounts, and an account's name for them. Pure."""

from collections.abc import Sequence

from core.credentials.store import PRIMARY
from core.credentials.types import Account


def find(accounts: Sequence[Account], named: str) -> Sequence[Account]:
    """Return the accounts that a person can mean: by name, by address, by service, or by service and name."""
    words = " ".join(named.split()).casefold()
    for key in (_by_name, _by_address, _by_both, _by_service):
        if found := [account for account in accounts if key(account).casefold() == words]:
            return found
    return ()


def shown(account: Account) -> str:
    """Return the name by which a person knows an account."""
    return account.address if account.name == PRIMARY and account.address else account.name


def account_name(account: Account) -> str:
    """Return the name by which a person knows an account; the service's name if it has none."""
    name = shown(account)
    return account.service if name == PRIMARY else name


def _by_name(account: Account) -> str:
    return account.name


def _by_address(account: Account) -> str:
    return account.address


def _by_both(account: Account) -> str:
    return f"{account.service} {account.name}"


def _by_service(account: Account) -> str:
    return account.service
