"""The choice among a person's accounts for a need. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from abilities.accounts.kinds import KINDS
from core.credentials.choice import find, shown
from core.credentials.needs import missing
from core.credentials.types import Ability, Account
from core.errors import AccountMissing, ToolRetry
from core.language.catalogue import gettext, listed

_ASK = "Ask the person which one, or have them choose one for good (choose_account)."


def choose(accounts: Sequence[Account], ability: Ability | None, need: str, named: str = "") -> Account:
    """Return the account that is meant for this ability. Raises as `AccountAccess.open`."""
    meant = find(accounts, named) if named else accounts
    if named and accounts and not meant:
        there = listed([shown(account) for account in accounts])
        raise ToolRetry(gettext("There is no account {account}, only {accounts}.", account=named, accounts=there))
    able = [account for account in meant if ability is None or ability in account.abilities]
    if not able:
        raise _too_little(meant, ability, need, named=bool(named))
    preferred = [account for account in able if account.preferred]
    chosen = able if len(able) == 1 else preferred
    if len(chosen) != 1:
        which = gettext("Which account: {accounts}?", accounts=listed([shown(account) for account in able], "or"))
        raise ToolRetry(which, note=_ASK)
    if chosen[0].revoked:
        again = gettext("The account {account} has to be connected again.", account=shown(chosen[0]))
        raise AccountMissing(again, need, chosen[0].name)
    return chosen[0]


def with_defaults(accounts: Sequence[Account], ability: Ability | None) -> Sequence[Account]:
    """Return accounts with `preferred` set for those that are meant for an ability, which come first.

    A person's choice for a kind of things, such as mail, comes before the default of a service.
    """
    kind = next((kind for kind, abilities in KINDS.items() if ability in abilities), "")
    if any(kind in account.preferred_for for account in accounts):
        accounts = [replace(account, preferred=kind in account.preferred_for) for account in accounts]
    return sorted(accounts, key=lambda account: not account.preferred)


def _too_little(accounts: Sequence[Account], ability: Ability | None, need: str, *, named: bool) -> AccountMissing:
    if named and accounts:
        text = gettext("The account {account} does not let me do this yet.", account=shown(accounts[0]))
        return AccountMissing(text, need, accounts[0].name)
    return AccountMissing(missing(ability, need.rpartition(":")[0]), need)
