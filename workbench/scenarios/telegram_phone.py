"""A scenario's person in Telegram: the screen and the actions."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.scenarios.files import SentFile
from workbench.scenarios.simulated import Message, Seen, Simulated, newest_button, newest_with, text_or_files
from workbench.scenarios.steps import GROUP, ScenarioError, Step


class TelegramPhone(Simulated):
    """A chat in Telegram."""

    def seen(self) -> list[Seen]:
        return self._seen(self.shown("telegram"))

    def seen_on(self, surface: str) -> list[Seen]:
        if surface != GROUP:
            return super().seen_on(surface)
        group = self.state("telegram")["group"]
        return self._seen(group) if group else []

    def _seen(self, chat: Mapping[str, Any]) -> list[Seen]:
        return [
            Seen(
                message["id"],
                text_or_files(message["text"], [message["media"]] if message["media"] else []),
                [
                    (str(button["text"]), {"message_id": message["message_id"], "data": button.get("callback_data")})
                    for row in message["keyboard"]
                    for button in row
                ],
                message["reply_to"],
            )
            for message in chat["messages"]
            if message["direction"] == "out"
        ]

    def messages(self) -> list[Message]:
        shown = self.shown("telegram")["messages"]
        return [Message(one["message_id"], one["text"], one["direction"] == "in") for one in shown]

    async def say(self, text: str, reply_to: Sequence[str] = ()) -> None:
        replied = self.replied(reply_to)
        await self.act("telegram", "say", text=text, **({"reply_to": replied.id} if replied else {}))

    async def say_in_group(self, text: str, *, mention: bool) -> None:
        await self.act("telegram", "group_say", text=text, mention=mention)

    async def press(self, label: str, message: Sequence[str] = (), surface: str = "") -> None:
        if surface:
            raise ScenarioError(f"There is no {surface} in Telegram.")
        await self.act("telegram", "press", **newest_button(self.seen(), label, message))

    async def send_file(self, file: SentFile, reply_to: Sequence[str] = ()) -> None:
        if reply_to:
            raise ScenarioError("A file in Telegram is sent without a reply.")
        data = base64.b64encode(file.data).decode()
        told: dict[str, Any] = {"data": data, "name": file.name, "content_type": file.content_type}
        duration = {"duration": file.voice} if file.voice else {}
        await self.act("telegram", file.kind, **told, caption=file.text, **duration)

    async def do(self, step: Step) -> None:
        match step.verb:
            case "edit":
                own = [one for one in self.messages() if one.mine and one.text]
                message = newest_with(own, step.option_texts("message"))
                await self.act("telegram", "edit", message_id=message.id, text=step.value)
            case "react":
                emoji = "" if step.options.get("taken_back") else step.value
                await self.act("telegram", "react", message_id=self.reacted_to(step), emoji=emoji)
            case "location" | "move":
                told = {name: value if name == "live" else str(value) for name, value in step.value.items()}
                await self.act("telegram", {"move": "move_location"}.get(step.verb, step.verb), **told)
            case "unshare":
                await self.act("telegram", "stop_location")
            case "contact":
                await self.act("telegram", "contact", **step.value)
            case "sticker":
                await self.act("telegram", "sticker", emoji=step.value)
            case "block":
                await self.act("telegram", "block" if step.value else "unblock")
            case "redeliver":
                await self.act("telegram", "redeliver", n=step.value)
            case _:
                await super().do(step)
