"""What a person of a scenario sees and does on each simulated channel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from onevalet.testing.scenario import ScenarioError
from simulator.app import Simulator
from simulator.base import BadAction

_CODE = re.compile(r"\bOK ([0-9A-Z]{2,3})\b")
_WORDS = {"approve": "OK {code}", "cancel": "NO {code}", "edit": "EDIT {code}"}
"""What a person texts where a card has no buttons to press."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of the assistant as the person sees it. `buttons` are labels with what pressing them needs."""

    id: str
    text: str
    buttons: Sequence[tuple[str, dict[str, Any]]] = ()

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self.buttons]


class Phone(Protocol):
    """One person on one channel."""

    def seen(self) -> list[Seen]:
        """Return the assistant's messages, the oldest first."""
        ...

    async def say(self, text: str) -> None:
        """Write a message."""
        ...

    async def press(self, label: str) -> None:
        """Press the newest button of that label; raise `ScenarioError` where there is none."""
        ...


def phone_of(simulator: Simulator, channel: str, person: str) -> Phone:
    """Return a person's phone, Slack or Telegram."""
    if person not in {known.key for known in simulator.wire.config.people}:
        raise ScenarioError(f"There is nobody called {person!r} in the simulator.")
    return _PHONES[channel](simulator, person)


@dataclass(frozen=True, slots=True)
class _Simulated:
    simulator: Simulator
    person: str

    def _of_person(self, provider: str) -> dict[str, Any]:
        state = cast(dict[str, Any], self.simulator.providers[provider].state())
        return cast(dict[str, Any], state["people"][self.person])

    async def _act(self, provider: str, action: str, **arguments: Any) -> None:
        try:
            await self.simulator.providers[provider].act(self.person, action, arguments)
        except BadAction as refusal:
            raise ScenarioError(str(refusal)) from refusal


class SmsPhone(_Simulated):
    """A phone that texts. Buttons are words: `press = "Approve"` texts OK with the newest card's code."""

    def seen(self) -> list[Seen]:
        bubbles = self._of_person("twilio")["bubbles"]
        return [Seen(bubble["id"], bubble["text"]) for bubble in bubbles if bubble["direction"] == "out"]

    async def say(self, text: str) -> None:
        await self._act("twilio", "say", text=text)

    async def press(self, label: str) -> None:
        codes = [match[1] for message in self.seen() if (match := _CODE.search(message.text))]
        words = _WORDS.get(label.lower())
        if not codes or words is None:
            raise ScenarioError(f"No card by SMS waits for {label!r}.")
        await self.say(words.format(code=codes[-1]))


class SlackPhone(_Simulated):
    """A direct conversation in Slack."""

    def seen(self) -> list[Seen]:
        shown = self._of_person("slack")["bubbles"]
        ours = [bubble for bubble in shown if bubble["direction"] == "out" and not bubble["streaming"]]
        return [
            Seen(
                bubble["id"],
                bubble["text"],
                [
                    (str(button["text"]), {"ts": bubble["ts"], "action_id": button["action_id"]})
                    for button in bubble["buttons"]
                ],
            )
            for bubble in ours
        ]

    async def say(self, text: str) -> None:
        if text.startswith("/"):
            await self._act("slack", "command", text=text)
        else:
            await self._act("slack", "say", text=text)

    async def press(self, label: str) -> None:
        await self._act("slack", "press", **_newest(self.seen(), label))


class TelegramPhone(_Simulated):
    """A chat in Telegram."""

    def seen(self) -> list[Seen]:
        shown = self._of_person("telegram")["messages"]
        return [
            Seen(
                message["id"],
                message["text"],
                [
                    (str(button["text"]), {"message_id": message["message_id"], "data": button.get("callback_data")})
                    for row in message["keyboard"]
                    for button in row
                ],
            )
            for message in shown
            if message["direction"] == "out"
        ]

    async def say(self, text: str) -> None:
        await self._act("telegram", "say", text=text)

    async def press(self, label: str) -> None:
        await self._act("telegram", "press", **_newest(self.seen(), label))


_PHONES: dict[str, type[SmsPhone | SlackPhone | TelegramPhone]] = {
    "sms": SmsPhone,
    "slack": SlackPhone,
    "telegram": TelegramPhone,
}


def _newest(seen: Sequence[Seen], label: str) -> dict[str, Any]:
    for message in reversed(seen):
        for shown, needed in message.buttons:
            if shown == label:
                return needed
    raise ScenarioError(f"There is no button {label!r} to press.")
