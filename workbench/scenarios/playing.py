"""Play a scenario, step by step, and report the first step that differs."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from core.people.access_policy import PersonRole
from onevalet.testing.scripted_model import calls, text
from workbench.scenarios.files import file_in
from workbench.scenarios.opening import open_stage
from workbench.scenarios.outside import SOURCE
from workbench.scenarios.phones import Phone
from workbench.scenarios.scenario import WITHIN, Scenario, ScenarioError, Step
from workbench.scenarios.simulated import CODE, LINK, Seen, newest_pairing
from workbench.scenarios.stage import Stage
from workbench.scenarios.step_words import words_of
from workbench.scenarios.steps import CHANNELS, ONLY_ON
from workbench.simulator.base import BadAction
from workbench.simulator.control import parse_rule

LOOK = 0.05
"""Seconds between two looks at a phone."""
UNSCRIPTED = "the scenario says nothing more that the model answers"


@dataclass(slots=True)
class Played:
    """The talk, a line for each message: `> ` the person's, `< ` the assistant's."""

    lines: list[str] = field(default_factory=list)


class Watcher(Protocol):
    """A follower of a scenario, who controls its speed."""

    async def begin(self, step: Step) -> None:
        """Return once the step may be taken."""
        ...

    def done(self, step: Step, told: str) -> None:
        """Note that a step succeeded; `told` is the message, if the step expected any."""
        ...

    def failed(self, step: Step | None, why: str) -> None:
        """Note the first difference; without a step, after the last step."""
        ...


async def play(scenario: Scenario, given: Mapping[str, object] | None = None) -> Played:
    """Play a scenario on an installation of its own; raise `ScenarioError` at the first step that differs."""
    async with open_stage(scenario, given) as stage:
        return await play_on(stage, scenario)


async def play_on(stage: Stage, scenario: Scenario, watcher: Watcher | None = None) -> Played:
    """Play a scenario on an open stage; raise `ScenarioError` at the first step that differs."""
    return await _Play(scenario, stage, watcher).run()


class _Play:
    def __init__(self, scenario: Scenario, stage: Stage, watcher: Watcher | None) -> None:
        self._scenario = scenario
        self._stage = stage
        self._watcher = watcher
        self._read_in: dict[tuple[str, str], set[str]] = {}
        self._codes: list[str] = []
        self._links: list[str] = []
        self._scripted = 0
        """Number of the model's answers in the steps so far."""
        self._played = Played()

    async def run(self) -> Played:
        for step in self._scenario.steps:
            if self._watcher:
                await self._watcher.begin(step)
            before = len(self._played.lines)
            try:
                await self._do(step)
            except (ScenarioError, BadAction) as wrong:
                raise self._otherwise(step, str(wrong)) from wrong
            if self._watcher:
                self._watcher.done(step, "\n".join(self._played.lines[before:]))
        if left := self._stage.model.waiting:
            raise self._otherwise(None, f"the model was not asked for the last {left} of its answers.")
        return self._played

    def _otherwise(self, step: Step | None, why: str) -> ScenarioError:
        if self._watcher:
            self._watcher.failed(step, why)
        if step is None:
            return ScenarioError(f"{self._scenario.title}: {why}")
        where = self._scenario.path.name if self._scenario.path else self._scenario.title
        so_far = "\n".join(f"  {line}" for line in self._played.lines)
        return ScenarioError(f"{where}, {step}: {why}\n{so_far}".rstrip())

    async def _do(self, step: Step) -> None:
        match step.verb:
            case "answer" | "call" | "calls":
                self._script(step)
            case "join":
                self._stage.simulator.roster.add(step.value)
            case "advance":
                await self._stage.advance(step.span)
            case "wait":
                await self._stage.wait_for(step.value, float(step.options.get("within", WITHIN)))
            case "event":
                source, data = str(step.options.get("source", SOURCE)), step.options.get("with", {})
                await self._stage.outside.tell(source, step.value, json.loads(json.dumps(data, default=str)))
            case "admit":
                await self._admit(step)
            case "fault":
                rule = {
                    "endpoint": step.value,
                    **{name: step.options[name] for name in step.options if name != "pause"},
                }
                self._stage.simulator.wire.add_fault(parse_rule(rule))
            case "break":
                await self._stage.break_it(step.value)
            case "expect":
                await self._expect(step)
            case "silence":
                await self._silence(step)
            case _:
                await self._act(step)

    async def _admit(self, step: Step) -> None:
        """Admit a person by the newest code sent to them, on the named channel, if any."""
        channels = [str(step.options["channel"])] if "channel" in step.options else CHANNELS
        phones = [self._stage.phone(channel, step.value) for channel in channels]
        code = newest_pairing([one for phone in phones for one in phone.seen()])
        await self._stage.outside.admit(code, PersonRole(step.options.get("role", PersonRole.MEMBER)))

    def _script(self, step: Step) -> None:
        self._scripted += 1
        if step.verb == "answer":
            self._stage.model.add(text(step.value))
            return
        wanted = [(name, self._coded(json.dumps(arguments))) for name, arguments in step.calls]
        self._stage.model.add(calls(*wanted, beside=step.options.get("beside")))

    async def _act(self, step: Step) -> None:
        (channel, _), phone = self._place(step), self._phone(step)
        if channel not in (only := ONLY_ON.get(step.verb, CHANNELS)):
            raise ScenarioError(f"`{step.verb}` is for {' and '.join(only)} only, and this step is on {channel}.")
        reply_to = step.option_texts("reply_to")
        match step.verb:
            case "send":
                said = self._coded(step.value)
                self._played.lines.append(f"> {said}")
                if step.options.get("on"):
                    await phone.say_in_group(said, mention=bool(step.options.get("mention", True)))
                else:
                    await phone.say(said, reply_to)
            case "press":
                self._played.lines.append(f"> [{step.value}]")
                await phone.press(step.value, step.option_texts("message"), str(step.options.get("on", "")))
            case "file":
                file = file_in(step)
                self._stage.model.heard = " ".join(step.option_texts("says"))
                self._played.lines.append(f"> [{file.name}] {file.text or self._stage.model.heard}".rstrip())
                await phone.send_file(file, reply_to)
            case "fill":
                self._played.lines.append(f"> [{', '.join(f'{name}: {value}' for name, value in step.value.items())}]")
                await phone.fill(step.value)
            case "edit":
                said = self._coded(step.value)
                self._played.lines.append(f"> [edit] {said}")
                await phone.do(replace(step, value=said))
            case _:
                self._played.lines.append(f"> [{step.verb} {words_of(step)}]")
                await phone.do(step)

    def _coded(self, said: str) -> str:
        """Return a text with the newest codes that were expected, wherever they were shown."""
        for place, codes, what in ((CODE, self._codes, "card with a code"), (LINK, self._links, "code to be let in")):
            if place in said:
                if not codes:
                    raise ScenarioError(f"no {what} was expected before.")
                said = said.replace(place, codes[-1])
        return said

    async def _expect(self, step: Step) -> None:
        """Wait for a message with the expected content, after the messages expected earlier."""
        phone, read, surface = self._phone(step), self._read_on(step), str(step.options.get("on", ""))
        until = time.monotonic() + float(step.options.get("within", WITHIN))
        unread: list[Seen] = []
        while time.monotonic() < until:
            shown = phone.seen_on(surface) if surface else phone.seen()
            unread = [message for message in shown if message.id not in read]
            for place, message in enumerate(unread):
                if not _difference(message, step, phone):
                    self._read(read, unread[: place + 1])
                    return
            await asyncio.sleep(LOOK)
        self._tell_unscripted()
        if not unread:
            raise ScenarioError("no message came.")
        wrong = _difference(unread[-1], step, phone)
        raise ScenarioError(f"{wrong} What came: {' / '.join(repr(message.text) for message in unread)}")

    def _read(self, read: set[str], messages: Sequence[Seen]) -> None:
        for message in messages:
            read.add(message.id)
            self._codes += message.codes
            self._links += message.links
            self._played.lines += [f"< {line}" for line in message.text.splitlines()]

    async def _silence(self, step: Step) -> None:
        await asyncio.sleep(float(step.value))
        read = self._read_on(step)
        if unread := [message for message in self._phone(step).seen() if message.id not in read]:
            raise ScenarioError(f"a message came: {unread[0].text!r}")

    def _tell_unscripted(self) -> None:
        if self._scenario.model == "scripted" and len(self._stage.model.calls) > self._scripted:
            raise ScenarioError(f"the model was asked, and {UNSCRIPTED}.")

    def _phone(self, step: Step) -> Phone:
        return self._stage.phone(*self._place(step))

    def _read_on(self, step: Step) -> set[str]:
        return self._read_in.setdefault(self._place(step), set())

    def _place(self, step: Step) -> tuple[str, str]:
        return (
            str(step.options.get("channel", self._scenario.channel)),
            str(step.options.get("person", self._scenario.person)),
        )


def _difference(message: Seen, step: Step, phone: Phone) -> str:
    """Return the difference of a message from the expected message; empty if there is none."""
    if root := step.option_texts("reply_to"):
        answered = next((one.text for one in phone.messages() if one.id == message.root), "")
        if not answered:
            return f"No new message answers {' … '.join(root)!r}."
        if not all(part in answered for part in root):
            return f"The message answers {answered!r}, and not {' … '.join(root)!r}."
    if missing := [part for part in step.texts if part not in message.text]:
        return f"{missing[0]!r} is in no new message."
    if message.labels and (none := [label for label in step.options.get("buttons", []) if label not in message.labels]):
        return f"There is no button {none[0]!r}, but {message.labels}."
    return ""
