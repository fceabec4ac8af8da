"""A scenario's person in Slack: messages and threads, menus, forms, and the Home tab."""

import base64
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.scenarios.files import SentFile
from workbench.scenarios.forms import Form, ids_of
from workbench.scenarios.reactions import NAMES
from workbench.scenarios.simulated import (
    Message,
    Seen,
    Simulated,
    newest_button,
    newest_with,
    once_there,
    text_or_files,
)
from workbench.scenarios.steps import GROUP, ScenarioError, Step, as_texts
from workbench.simulator.slack.records import interactive

type Block = Mapping[str, Any]
BUTTONS = ("button", "icon_button", "workflow_button")


class SlackPhone(Simulated):
    """A direct conversation in Slack, with the Home tab and forms beside it."""

    def seen(self) -> list[Seen]:
        return self._seen(self.shown("slack")["bubbles"])

    def _seen(self, shown: Sequence[Mapping[str, Any]]) -> list[Seen]:
        ours = [bubble for bubble in shown if bubble["direction"] == "out" and not bubble["streaming"]]
        return [
            Seen(
                one["id"],
                text_or_files(one["text"], one["files"]),
                _buttons(one["blocks"], {"ts": one["ts"]}),
                one["thread_ts"],
            )
            for one in ours
        ]

    def messages(self) -> list[Message]:
        return [Message(one["ts"], one["text"], one["direction"] == "in") for one in self.shown("slack")["bubbles"]]

    def seen_on(self, surface: str) -> list[Seen]:
        if surface == GROUP:
            return self._seen(self.state("slack")["general"])
        return [
            Seen(
                f"{view['id']} {view['hash']} {json.dumps(view['errors'])}", text_of(view), _buttons(view["blocks"], {})
            )
            for view in self._views(surface)
        ]

    async def say(self, text: str, reply_to: Sequence[str] = ()) -> None:
        if text.startswith("/") and not reply_to:
            await self.act("slack", "command", text=text)
        else:
            await self.act("slack", "say", text=text, thread_ts=self._thread(reply_to))

    async def say_in_group(self, text: str, *, mention: bool) -> None:
        await self.act("slack", "channel_say", text=text, mention=mention)

    async def press(self, label: str, message: Sequence[str] = (), surface: str = "") -> None:
        if not surface:
            await self.act("slack", "press", **newest_button(self.seen(), label, message))
            return

        def look() -> dict[str, Any]:
            view = self._view(surface)
            return {"view_id": view["id"], **newest_button([Seen("", "", _buttons(view["blocks"], {}))], label)}

        await self.act("slack", "press", **await once_there(look))

    async def send_file(self, file: SentFile, reply_to: Sequence[str] = ()) -> None:
        sent = {"name": file.name, "content": f"base64:{base64.b64encode(file.data).decode()}"}
        clip = {"clip": "audio", "seconds": file.voice} if file.voice else {}
        await self.act("slack", "say", text=file.text, files=[sent | clip], thread_ts=self._thread(reply_to))

    async def fill(self, values: Form) -> None:
        view = await once_there(lambda: self._view("form"))
        await self.act("slack", "submit", view_id=view["id"], values=ids_of(view["blocks"], values))

    async def do(self, step: Step) -> None:
        match step.verb:
            case "edit":
                message = newest_with(self._own(), step.option_texts("message"))
                await self.act("slack", "edit", ts=message.id, text=step.value)
            case "react":
                taken_back = bool(step.options.get("taken_back"))
                name = NAMES[step.value]["slack"]
                await self.act("slack", "react", ts=self.reacted_to(step), name=name, taken_back=taken_back)
            case "delete":
                await self.act("slack", "delete", ts=newest_with(self._own(), as_texts(step.value)).id)
            case "choose":
                await self.act("slack", "press", **await once_there(lambda: self._choice(step)))
            case "open":
                await self.act("slack", "open_home", tab=step.value)
            case "close":
                view = await once_there(lambda: self._view("form"))
                await self.act("slack", "close", view_id=view["id"])
            case _:
                await super().do(step)

    def _own(self) -> list[Message]:
        return [one for one in self.messages() if one.mine]

    def _thread(self, reply_to: Sequence[str]) -> str:
        roots = [one["ts"] for one in self.shown("slack")["bubbles"] if not one["thread_ts"]]
        return str(newest_with([one for one in self.messages() if one.id in roots], reply_to).id) if reply_to else ""

    def _views(self, surface: str) -> list[dict[str, Any]]:
        shown = self.shown("slack")
        return list(shown["modals"]) if surface == "form" else [shown["home"]] if shown["home"] else []

    def _view(self, surface: str) -> dict[str, Any]:
        views = self._views(surface)
        if not views:
            raise ScenarioError("No form is open." if surface == "form" else "The Home tab is empty.")
        return views[-1]

    def _choice(self, step: Step) -> dict[str, Any]:
        """Return the arguments for a choice: of the menu of that name, or of the newest menu that has the choice."""
        menu, words = str(step.options.get("menu", "")), step.option_texts("message")
        if surface := step.options.get("on"):
            view = self._view(str(surface))
            places = [({"view_id": view["id"]}, view["blocks"])]
        else:
            bubbles = [one for one in self.shown("slack")["bubbles"] if all(part in one["text"] for part in words)]
            places = [({"ts": one["ts"]}, one["blocks"]) for one in reversed(bubbles)]
        for place, blocks in places:
            for block, element in elements_in(blocks):
                if element["type"] in BUTTONS or (menu and menu != name_of(block, element)):
                    continue
                options = options_of(element)
                value = next((value for text, value in options if text == step.value), None)
                if value is None and menu and not options:
                    value = step.value  # a field, which takes any text
                if value is not None:
                    return {**place, "action_id": element["action_id"], "value": value}
        raise ScenarioError(f"There is no choice {step.value!r}{f' in the menu {menu!r}' if menu else ''}.")


def elements_in(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block]]:
    """Yield the interactive elements of blocks, each with its block."""
    for block in blocks:
        for element in interactive(dict(block)):
            yield block, element


def name_of(block: Block, element: Block) -> str:
    """Return a person's name for a button or a menu; its id if it has none."""
    for shown in (element.get("text"), block.get("label"), element.get("placeholder")):
        if isinstance(shown, Mapping) and shown.get("text"):
            return html.unescape(str(shown["text"]))
    return str(element.get("action_id", ""))


def options_of(element: Block) -> list[tuple[str, str]]:
    """Return the choices of a menu: their texts and values."""
    options = [
        *element.get("options", ()),
        *(one for group in element.get("option_groups", ()) for one in group["options"]),
    ]
    options += [element[name] for name in ("positive_button", "negative_button") if name in element]
    return [(html.unescape(str(one["text"]["text"])), str(one["value"])) for one in options]


def text_of(view: Block) -> str:
    """Return the texts on the Home tab or in a form, a line for each, including the errors of its fields."""
    lines: list[str] = []
    for block in view["blocks"]:
        texts = [block.get("label"), block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
        lines += [
            html.unescape(str(one["text"]))
            for one in texts
            if isinstance(one, Mapping) and isinstance(one.get("text"), str)
        ]
        if error := view.get("errors", {}).get(block.get("block_id")):
            lines.append(str(error))
    return "\n".join(lines)


def _buttons(blocks: Sequence[Block], place: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name_of(block, element), {**place, "action_id": element["action_id"]})
        for block, element in elements_in(blocks)
        if element["type"] in BUTTONS
    ]
