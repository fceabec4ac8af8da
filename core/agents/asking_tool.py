"""A tool whose call asks its person a question, in the form in which answers to waiting agents are routed."""

from dataclasses import dataclass

from core.agents.fields import InputField
from core.language.catalogue import gettext, gettext_noop, listed
from core.questions.types import Asked
from core.tools.account_argument import ACCOUNT


@dataclass(frozen=True, slots=True)
class AskingTool:
    """The tool's name and its questions: the choice of an account among `choices`, or its own questions, `asks`."""

    name: str
    choices: tuple[str, ...]
    asks: tuple[Asked, ...] = ()
    schema_version: str = ""

    @property
    def inputs(self) -> dict[str, InputField]:
        """Return the fields that are asked for."""
        if self.asks:
            return {asked.name: _field(asked) for asked in self.asks}
        account = InputField(gettext_noop("Which account?"), validator=self._is_one)
        account.name = ACCOUNT
        return {ACCOUNT: account}

    def _is_one(self, given: str) -> str | None:
        if given.strip().casefold() in (name.casefold() for name in self.choices):
            return None
        return gettext("it must be {accounts}", accounts=listed(self.choices, "or"))


def _field(asked: Asked) -> InputField:
    field = InputField(asked.text, choices=asked.labels, free=asked.free or not asked.labels, skip=asked.skip)
    field.name = asked.name
    return field
