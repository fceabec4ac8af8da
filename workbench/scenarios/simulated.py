"""The shared parts of all simulated phones: the messages that they show, and the search for a message."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from workbench.scenarios.files import SentFile
from workbench.scenarios.forms import Form
from workbench.scenarios.steps import GROUP, ScenarioError, Step
from workbench.simulator.app import Simulator
from workbench.simulator.base import BadAction

_CODE = re.compile(r"\b(\d[A-Z][0-9A-Z]?)\b")
_PAIRING = re.compile(r"\b(?:[2-9A-Z]{4}-[2-9A-Z]{4}|[2-9A-Z]{3}(?:-[2-9A-Z]{3}){2})\b")
OPENS_WITHIN = 10.0
"""Seconds in which a form or a tab opens."""
_LOOK = 0.05
CODE = "{code}"
"""The placeholder for the code of the newest card."""
LINK = "{link}"
"""The placeholder for the newest code of eight letters, which admits people and links addresses, or of nine, which
invites to a household."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of the assistant as the person sees it. `buttons` are labels with the arguments for pressing them.

    `root` is the id of the message that it answers, and in whose thread it is; falsy for none.
    """

    id: str
    text: str
    buttons: Sequence[tuple[str, dict[str, Any]]] = ()
    root: Any = ""

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self.buttons]

    @property
    def codes(self) -> list[str]:
        """Return the approval codes in the message, such as 7K."""
        return [match[1] for match in _CODE.finditer(self.text)]

    @property
    def links(self) -> list[str]:
        """Return the codes in the message by which people come in, such as 4F7K-99XX."""
        return _PAIRING.findall(self.text)


def text_or_files(text: str, files: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a message, or if it has none, the names of its files."""
    return text or " ".join(f"[{file['name'] or file['content_type']}]" for file in files)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of either side, by the id that the provider's acts take."""

    id: Any
    text: str
    mine: bool


@dataclass(frozen=True, slots=True)
class Simulated:
    """A person at a provider of the simulator."""

    simulator: Simulator
    person: str

    def messages(self) -> list[Message]:
        """Return the messages of both sides, the oldest first."""
        return []

    def seen_on(self, surface: str) -> list[Seen]:
        """Return the texts beside the chat: on Slack's Home tab, in its form, or in a group."""
        where = "in Slack and Telegram" if surface == GROUP else "in Slack"
        raise ScenarioError(f"There is no {surface} to read here, but {where}.")

    async def say_in_group(self, text: str, *, mention: bool) -> None:
        """Write a message in the group."""
        raise ScenarioError("There are groups to write in only in Slack and Telegram.")

    async def press(self, label: str, message: Sequence[str] = (), surface: str = "") -> None:
        """Press the newest button of that label, in the message that has these words, or on a surface."""
        raise ScenarioError("Nothing can be pressed here.")

    async def send_file(self, file: SentFile, reply_to: Sequence[str] = ()) -> None:
        """Send a file."""
        raise ScenarioError("No file can be sent here.")

    async def fill(self, values: Form) -> None:
        """Fill in the form that is open."""
        raise ScenarioError("There are forms to fill in only in Slack.")

    async def do(self, step: Step) -> None:
        """Do an act that only this provider offers; raise `ScenarioError` for anything else."""
        raise ScenarioError(f"`{step.verb}` is not for this channel.")

    def reacted_to(self, step: Step) -> Any:
        """Return the provider's id of the assistant's message on which a step puts a reaction."""
        theirs = [one for one in self.messages() if not one.mine and one.text]
        return newest_with(theirs, step.option_texts("message")).id

    def replied(self, reply_to: Sequence[str]) -> Message | None:
        """Return the message that is answered, None for none."""
        return newest_with(self.messages(), reply_to) if reply_to else None

    def shown(self, provider: str) -> dict[str, Any]:
        """Return the person's view at the provider."""
        return cast(dict[str, Any], self.state(provider)["people"][self.person])

    def state(self, provider: str) -> dict[str, Any]:
        """Return everybody's view at the provider."""
        return cast(dict[str, Any], self.simulator.providers[provider].state())

    async def act(self, provider: str, action: str, **arguments: Any) -> None:
        """Do an act of the person; raise `ScenarioError` if the provider refuses it."""
        try:
            await self.simulator.providers[provider].act(self.person, action, arguments)
        except BadAction as refusal:
            raise ScenarioError(str(refusal)) from refusal


def newest_with(messages: Sequence[Message], words: Sequence[str]) -> Message:
    """Return the newest message that has all these words; raise `ScenarioError` if none has."""
    for message in reversed(messages):
        if all(part in message.text for part in words):
            return message
    raise ScenarioError(f"No message says {' … '.join(words)!r}." if words else "No message was written.")


def newest_code(seen: Sequence[Seen]) -> str:
    """Return the code of the last card; raise `ScenarioError` if there is none."""
    codes = [code for message in seen for code in message.codes]
    if not codes:
        raise ScenarioError("no card with a code has come.")
    return codes[-1]


def newest_pairing(seen: Sequence[Seen]) -> str:
    """Return the code that a stranger got last; raise `ScenarioError` if there is none."""
    codes = [code for message in seen for code in message.links]
    if not codes:
        raise ScenarioError("they were sent no code.")
    return codes[-1]


def newest_button(seen: Sequence[Seen], label: str, message: Sequence[str] = ()) -> dict[str, Any]:
    """Return the arguments for pressing the newest button with a label; raise `ScenarioError` if there is none."""
    for one in reversed(seen):
        for shown, needed in one.buttons if all(part in one.text for part in message) else ():
            if shown == label:
                return needed
    where = f" in a message that says {' … '.join(message)!r}" if message else ""
    raise ScenarioError(f"There is no button {label!r} to press{where}.")


async def once_there[T](look: Callable[[], T]) -> T:
    """Return the result of `look` once it succeeds: an app opens it a moment later. Raises its `ScenarioError`."""
    until = time.monotonic() + OPENS_WITHIN
    while True:
        try:
            return look()
        except ScenarioError:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_LOOK)
