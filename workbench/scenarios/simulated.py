"""What every simulated phone has in common: the messages that it shows, and how one of them is found."""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from workbench.scenarios.files import SentFile
from workbench.scenarios.forms import Form
from workbench.scenarios.steps import ScenarioError, Step
from workbench.simulator.app import Simulator
from workbench.simulator.base import BadAction

_CODE = re.compile(r"\b(\d[A-Z][0-9A-Z]?)\b")
_PAIRING = re.compile(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}\b")
OPENS_WITHIN = 10.0
"""Seconds in which a form or a tab opens."""
_LOOK = 0.05
CODE = "{code}"
"""What stands in a scenario for the code of the newest card."""
LINK = "{link}"
"""What stands in a scenario for the newest code of eight letters, by which people are let in and places linked."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of the assistant as the person sees it. `buttons` are labels with what pressing them needs.

    `root` is the id of the message that it answers, in whose thread it is, as that message has it; falsy for none.
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
        """Return the codes that it shows, such as 7K."""
        return [match[1] for match in _CODE.finditer(self.text)]

    @property
    def links(self) -> list[str]:
        """Return the codes of eight letters that it shows, such as 4F7K-99XX."""
        return _PAIRING.findall(self.text)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of either side, by the id that the provider's acts take."""

    id: Any
    text: str
    mine: bool


@dataclass(frozen=True, slots=True)
class Simulated:
    """One person at one provider of the simulator."""

    simulator: Simulator
    person: str

    def messages(self) -> list[Message]:
        """Return what both sides wrote, the oldest first."""
        return []

    def seen_on(self, surface: str) -> list[Seen]:
        """Return what is shown beside the chat, on Slack's Home tab or in its form."""
        raise ScenarioError(f"There is no {surface} to read here, but in Slack.")

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
        """Do what people can do with this provider alone; raise `ScenarioError` for anything else."""
        raise ScenarioError(f"`{step.verb}` is not for this channel.")

    def replied(self, reply_to: Sequence[str]) -> Message | None:
        """Return the message that is answered, None for none."""
        return newest_with(self.messages(), reply_to) if reply_to else None

    def shown(self, provider: str) -> dict[str, Any]:
        """Return what the provider shows the person."""
        state = cast(dict[str, Any], self.simulator.providers[provider].state())
        return cast(dict[str, Any], state["people"][self.person])

    async def act(self, provider: str, action: str, **arguments: Any) -> None:
        """Do what a person does; raise `ScenarioError` where the provider refuses it."""
        try:
            await self.simulator.providers[provider].act(self.person, action, arguments)
        except BadAction as refusal:
            raise ScenarioError(str(refusal)) from refusal


def newest_with(messages: Sequence[Message], words: Sequence[str]) -> Message:
    """Return the newest message that has all these words; raise `ScenarioError` where none has."""
    for message in reversed(messages):
        if all(part in message.text for part in words):
            return message
    raise ScenarioError(f"No message says {' … '.join(words)!r}." if words else "No message was written.")


def newest_code(seen: Sequence[Seen]) -> str:
    """Return the code of the last card; raise `ScenarioError` where there is none."""
    codes = [code for message in seen for code in message.codes]
    if not codes:
        raise ScenarioError("no card with a code has come.")
    return codes[-1]


def newest_pairing(seen: Sequence[Seen]) -> str:
    """Return the code that a stranger was sent last; raise `ScenarioError` where there is none."""
    codes = [code for message in seen for code in message.links]
    if not codes:
        raise ScenarioError("they were sent no code.")
    return codes[-1]


def newest_button(seen: Sequence[Seen], label: str, message: Sequence[str] = ()) -> dict[str, Any]:
    """Return what pressing the newest button of a label needs; raise `ScenarioError` where there is none."""
    for one in reversed(seen):
        for shown, needed in one.buttons if all(part in one.text for part in message) else ():
            if shown == label:
                return needed
    where = f" in a message that says {' … '.join(message)!r}" if message else ""
    raise ScenarioError(f"There is no button {label!r} to press{where}.")


async def once_there[T](look: Callable[[], T]) -> T:
    """Return what is looked for once it is there: an app opens it a moment later. Raises its `ScenarioError`."""
    until = time.monotonic() + OPENS_WITHIN
    while True:
        try:
            return look()
        except ScenarioError:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_LOOK)
