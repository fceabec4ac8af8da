"""Whether an account serves what a tool needs. Pure."""

from core.accounts.abilities import read_need
from core.credentials.types import Account


def serves(account: Account, need: str) -> bool:
    """Return whether an account can do what is needed."""
    service, ability = read_need(need)
    return service in ("", account.service) and (ability is None or ability in account.abilities)
