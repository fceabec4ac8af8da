"""A tool whose call asks which account is meant: what the answers to waiting agents need to know of it."""

from dataclasses import dataclass

from core.agents.fields import InputField
from core.language.catalogue import gettext, gettext_noop, listed
from core.tools.account_argument import ACCOUNT


@dataclass(frozen=True, slots=True)
class AskingTool:
    """The tool by its name, with the accounts among which its person chooses."""

    name: str
    choices: tuple[str, ...]
    schema_version: str = ""

    @property
    def inputs(self) -> dict[str, InputField]:
        """Return the one field that is asked for."""
        account = InputField(gettext_noop("Which account?"), validator=self._is_one)
        account.name = ACCOUNT
        return {ACCOUNT: account}

    def _is_one(self, given: str) -> str | None:
        if given.strip().casefold() in (name.casefold() for name in self.choices):
            return None
        return gettext("it must be {accounts}", accounts=listed(self.choices, "or"))
