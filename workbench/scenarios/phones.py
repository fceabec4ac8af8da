"""A scenario's person on each simulated channel: the screen and the actions."""

import base64
import re
from collections.abc import Sequence
from typing import Any, Protocol, cast

from workbench.scenarios.files import SentFile
from workbench.scenarios.forms import Form
from workbench.scenarios.reactions import NAMES
from workbench.scenarios.simulated import Message, Seen, Simulated, newest_code, text_or_files
from workbench.scenarios.slack_phone import SlackPhone
from workbench.scenarios.steps import MAIL, ScenarioError, Step
from workbench.scenarios.telegram_phone import TelegramPhone
from workbench.simulator.app import Simulator

_WORDS = {"approve": "OK {code}", "cancel": "NO {code}", "edit": "EDIT {code}"}
"""The text in place of a button, on a card without buttons."""


class Phone(Protocol):
    """A person on a channel. `reply_to` and `message` are words of a message: the newest that contains them."""

    def seen(self) -> list[Seen]:
        """Return the assistant's messages, the oldest first."""
        ...

    def messages(self) -> list[Message]:
        """Return the messages of both sides, the oldest first."""
        ...

    def seen_on(self, surface: str) -> list[Seen]:
        """Return the texts on Slack's Home tab, in its form, or in a group; raise `ScenarioError` elsewhere."""
        ...

    async def say(self, text: str, reply_to: Sequence[str] = ()) -> None:
        """Write a message, in answer to another message if words of that are given."""
        ...

    async def say_in_group(self, text: str, *, mention: bool) -> None:
        """Write a message in the group, mentioning the assistant or not; raise `ScenarioError` without groups."""
        ...

    async def press(self, label: str, message: Sequence[str] = (), surface: str = "") -> None:
        """Press the newest button of that label, in a message or on a surface; raise `ScenarioError` for none."""
        ...

    async def send_file(self, file: SentFile, reply_to: Sequence[str] = ()) -> None:
        """Send a file."""
        ...

    async def fill(self, values: Form) -> None:
        """Fill in the form that is open, by the names of its fields, and send it; raise `ScenarioError`."""
        ...

    async def do(self, step: Step) -> None:
        """Take a step that only some channels have; raise `ScenarioError` on the others."""
        ...


def phone_of(simulator: Simulator, channel: str, person: str) -> Phone:
    """Return a person's phone, Slack or Telegram."""
    if simulator.wire.config.person(person) is None:
        raise ScenarioError(f"There is nobody called {person!r} in the simulator.")
    return _PHONES[channel](simulator, person)


class SmsPhone(Simulated):
    """A phone that texts. Buttons are words: `press = "Approve"` texts OK with the newest card's code.

    The choice of a question is texted by its key: `Lisbon` of `2: Lisbon` texts 2.
    """

    def seen(self) -> list[Seen]:
        bubbles = self.shown("twilio")["bubbles"]
        ours = [bubble for bubble in bubbles if bubble["direction"] == "out"]
        return [Seen(bubble["id"], text_or_files(bubble["text"], bubble["media"])) for bubble in ours]

    def messages(self) -> list[Message]:
        return [Message(one["id"], one["text"], one["direction"] == "in") for one in self.shown("twilio")["bubbles"]]

    async def say(self, text: str, reply_to: Sequence[str] = ()) -> None:
        _without_reply(reply_to)
        await self.act("twilio", "say", text=text)

    async def press(self, label: str, message: Sequence[str] = (), surface: str = "") -> None:
        if surface:
            raise ScenarioError(f"There is no {surface} by SMS.")
        seen = [one for one in self.seen() if all(part in one.text for part in message)]
        choice = re.compile(rf"^(\w{{1,3}}): (?:\()?{re.escape(label)}\b", re.MULTILINE)
        if keys := [match[1] for one in seen if (match := choice.search(one.text))]:
            await self.say(keys[-1])
            return
        words = _WORDS.get(label.lower())
        if words is None:
            raise ScenarioError(f"Nothing is texted for {label!r}.")
        await self.say(words.format(code=newest_code(seen)))

    async def send_file(self, file: SentFile, reply_to: Sequence[str] = ()) -> None:
        _without_reply(reply_to)
        media = {"content_type": file.content_type, "data": base64.b64encode(file.data).decode(), "name": file.name}
        await self.act("twilio", "say", text=file.text, media=[media])

    async def do(self, step: Step) -> None:
        match step.verb:
            case "phone":
                await self.act("twilio", "phone", mode=step.value)
            case "react":
                taken_back = bool(step.options.get("taken_back"))
                name = NAMES[step.value]["twilio"]
                await self.act("twilio", "react", sid=self.reacted_to(step), reaction=name, taken_back=taken_back)
            case "callbacks":
                await self.act("twilio", "callbacks", order=step.value)
            case "redeliver":
                own = [one.id for one in self.messages() if one.mine][-step.value :]
                if not own:
                    raise ScenarioError("Nothing was sent that could be delivered again.")
                for sid in own:
                    await self.act("twilio", "duplicate", sid=sid)
            case _:
                await super().do(step)


class Mailbox(Simulated):
    """All sent mail, to any address: the person's mail server passes nothing on."""

    def seen(self) -> list[Seen]:
        mails = cast(list[dict[str, Any]], self.simulator.providers["mail"].state())
        return [
            Seen(f"{number} {mail['id']}", f"To: {', '.join(mail['to'])}\nSubject: {mail['subject']}\n{mail['text']}")
            for number, mail in enumerate(mails)
        ]

    async def say(self, text: str, reply_to: Sequence[str] = ()) -> None:
        raise ScenarioError("Mail can only be read.")


_PHONES: dict[str, type[SmsPhone | SlackPhone | TelegramPhone | Mailbox]] = {
    "sms": SmsPhone,
    "slack": SlackPhone,
    "telegram": TelegramPhone,
    MAIL: Mailbox,
}


def _without_reply(reply_to: Sequence[str]) -> None:
    if reply_to:
        raise ScenarioError("A text message answers no other one.")
