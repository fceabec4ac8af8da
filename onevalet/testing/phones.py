"""What a person of a scenario sees and does on each simulated channel."""

import asyncio
import base64
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from onevalet.testing.files import SentFile
from onevalet.testing.forms import Form, ids_of
from onevalet.testing.steps import MAIL, ScenarioError
from simulator.app import Simulator
from simulator.base import BadAction

_CODE = re.compile(r"\b(\d[A-Z][0-9A-Z]?)\b")
_PAIRING = re.compile(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}\b")
FORM_WITHIN = 10.0
"""Seconds in which a form opens."""
_LOOK = 0.05
CODE = "{code}"
"""What stands in a scenario for the code of the newest card."""
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

    @property
    def codes(self) -> list[str]:
        """Return the codes that it shows, such as 7K."""
        return [match[1] for match in _CODE.finditer(self.text)]


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

    async def send_file(self, file: SentFile) -> None:
        """Send a file."""
        ...

    async def fill(self, values: Form) -> None:
        """Fill in the form that is open, by the names of its fields, and send it; raise `ScenarioError`."""
        ...


def phone_of(simulator: Simulator, channel: str, person: str) -> Phone:
    """Return a person's phone, Slack or Telegram."""
    if person not in {known.key for known in simulator.wire.config.people}:
        raise ScenarioError(f"There is nobody called {person!r} in the simulator.")
    return _PHONES[channel](simulator, person)


def newest_code(seen: Sequence[Seen]) -> str:
    """Return the code of the last card; raise `ScenarioError` where there is none."""
    codes = [code for message in seen for code in message.codes]
    if not codes:
        raise ScenarioError("no card with a code has come.")
    return codes[-1]


def newest_pairing(seen: Sequence[Seen]) -> str:
    """Return the code that a stranger was sent last; raise `ScenarioError` where there is none."""
    codes = [code for message in seen for code in _PAIRING.findall(message.text)]
    if not codes:
        raise ScenarioError("they were sent no code.")
    return str(codes[-1])


@dataclass(frozen=True, slots=True)
class _Simulated:
    simulator: Simulator
    person: str

    async def fill(self, values: Form) -> None:
        raise ScenarioError("There are forms to fill in only in Slack.")

    def _of_person(self, provider: str) -> dict[str, Any]:
        state = cast(dict[str, Any], self.simulator.providers[provider].state())
        return cast(dict[str, Any], state["people"][self.person])

    async def _act(self, provider: str, action: str, **arguments: Any) -> None:
        try:
            await self.simulator.providers[provider].act(self.person, action, arguments)
        except BadAction as refusal:
            raise ScenarioError(str(refusal)) from refusal


class SmsPhone(_Simulated):
    """A phone that texts. Buttons are words: `press = "Approve"` texts OK with the newest card's code.

    The choice of a question is texted by what stands before it.
    """

    def seen(self) -> list[Seen]:
        bubbles = self._of_person("twilio")["bubbles"]
        return [Seen(bubble["id"], bubble["text"]) for bubble in bubbles if bubble["direction"] == "out"]

    async def say(self, text: str) -> None:
        await self._act("twilio", "say", text=text)

    async def press(self, label: str) -> None:
        choice = re.compile(rf"^(\w{{1,3}}): (?:\()?{re.escape(label)}\b", re.MULTILINE)
        if keys := [match[1] for message in self.seen() if (match := choice.search(message.text))]:
            await self.say(keys[-1])
            return
        words = _WORDS.get(label.lower())
        if words is None:
            raise ScenarioError(f"Nothing is texted for {label!r}.")
        await self.say(words.format(code=newest_code(self.seen())))

    async def send_file(self, file: SentFile) -> None:
        media = {"content_type": file.content_type, "data": base64.b64encode(file.data).decode(), "name": file.name}
        await self._act("twilio", "say", text=file.text, media=[media])


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

    async def send_file(self, file: SentFile) -> None:
        content = f"base64:{base64.b64encode(file.data).decode()}"
        await self._act("slack", "say", text=file.text, files=[{"name": file.name, "content": content}])

    async def fill(self, values: Form) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(FORM_WITHIN):
                while not self._of_person("slack")["modals"]:  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(_LOOK)
        modals = self._of_person("slack")["modals"]
        if not modals:
            raise ScenarioError("No form is open.")
        view = modals[-1]
        await self._act("slack", "submit", view_id=view["id"], values=ids_of(view["blocks"], values))


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

    async def send_file(self, file: SentFile) -> None:
        data = base64.b64encode(file.data).decode()
        told = {"data": data, "name": file.name, "content_type": file.content_type, "caption": file.text}
        await self._act("telegram", file.kind, **told)


class Mailbox(_Simulated):
    """What was mailed, to whomever: the person's mail server passes nothing on."""

    def seen(self) -> list[Seen]:
        mails = cast(list[dict[str, Any]], self.simulator.providers["mail"].state())
        return [
            Seen(f"{number} {mail['id']}", f"To: {', '.join(mail['to'])}\nSubject: {mail['subject']}\n{mail['text']}")
            for number, mail in enumerate(mails)
        ]

    async def say(self, text: str) -> None:
        raise ScenarioError("Mail can only be read.")

    press = say

    async def send_file(self, file: SentFile) -> None:
        raise ScenarioError("Mail can only be read.")


_PHONES: dict[str, type[SmsPhone | SlackPhone | TelegramPhone | Mailbox]] = {
    "sms": SmsPhone,
    "slack": SlackPhone,
    "telegram": TelegramPhone,
    MAIL: Mailbox,
}


def _newest(seen: Sequence[Seen], label: str) -> dict[str, Any]:
    for message in reversed(seen):
        for shown, needed in message.buttons:
            if shown == label:
                return needed
    raise ScenarioError(f"There is no button {label!r} to press.")
