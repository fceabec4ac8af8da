"""Play a scenario, step by step, and say at which one it went otherwise."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onevalet.testing.phones import Phone, Seen
from onevalet.testing.scenario import WITHIN, Scenario, ScenarioError, Step, arguments_of
from onevalet.testing.scripted_model import calls, text
from onevalet.testing.stage import Stage, open_stage
from simulator.base import BadAction
from simulator.control import parse_rule

LOOK = 0.05
"""Seconds between two looks at a phone."""
UNSCRIPTED = "the scenario says nothing more that the model answers"


@dataclass(slots=True)
class Played:
    """What was said, a line for each message: `> ` the person's, `< ` the assistant's."""

    lines: list[str] = field(default_factory=list)


async def play(scenario: Scenario, given: Mapping[str, object] | None = None) -> Played:
    """Play a scenario on an installation of its own; raise `ScenarioError` at the first step that goes otherwise."""
    async with open_stage(scenario, given) as stage:
        return await _Play(scenario, stage).run()


class _Play:
    def __init__(self, scenario: Scenario, stage: Stage) -> None:
        self._scenario = scenario
        self._stage = stage
        self._read_in: dict[tuple[str, str], set[str]] = {}
        self._scripted = 0
        """How many answers of the model the steps so far have said."""
        self._played = Played()

    async def run(self) -> Played:
        for step in self._scenario.steps:
            try:
                await self._do(step)
            except (ScenarioError, BadAction) as wrong:
                where = self._scenario.path.name if self._scenario.path else self._scenario.title
                so_far = "\n".join(f"  {line}" for line in self._played.lines)
                raise ScenarioError(f"{where}, {step}: {wrong}\n{so_far}".rstrip()) from wrong
        if left := self._stage.model.waiting:
            raise ScenarioError(f"{self._scenario.title}: the model was not asked for the last {left} of its answers.")
        return self._played

    async def _do(self, step: Step) -> None:
        match step.verb:
            case "answer" | "call":
                self._scripted += 1
                called = step.verb == "call"
                self._stage.model.add(calls((step.value, arguments_of(step))) if called else text(step.value))
            case "send":
                self._played.lines.append(f"> {step.value}")
                await self._phone(step).say(step.value)
            case "press":
                self._played.lines.append(f"> [{step.value}]")
                await self._phone(step).press(step.value)
            case "advance":
                self._stage.advance(step.span)
            case "fault":
                rule = {"endpoint": step.value, **step.options}
                self._stage.simulator.wire.faults.add(parse_rule(rule))
            case "expect":
                await self._expect(step)
            case "silence":
                await self._silence(step)

    async def _expect(self, step: Step) -> None:
        """Wait for a message that holds what is expected, after those that were expected before."""
        phone, read = self._phone(step), self._read_on(step)
        until = time.monotonic() + float(step.options.get("within", WITHIN))
        unread: list[Seen] = []
        while time.monotonic() < until:
            unread = [message for message in phone.seen() if message.id not in read]
            for place, message in enumerate(unread):
                if not _difference(message, step):
                    self._read(read, unread[: place + 1])
                    return
            await asyncio.sleep(LOOK)
        self._tell_unscripted()
        if not unread:
            raise ScenarioError("no message came.")
        wrong = _difference(unread[-1], step)
        raise ScenarioError(f"{wrong} What came: {' / '.join(repr(message.text) for message in unread)}")

    def _read(self, read: set[str], messages: Sequence[Seen]) -> None:
        for message in messages:
            read.add(message.id)
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


def _difference(message: Seen, step: Step) -> str:
    """Return what a message lacks of what is expected; empty where it lacks nothing."""
    if missing := [part for part in step.texts if part not in message.text]:
        return f"{missing[0]!r} is in no new message."
    if message.labels and (none := [label for label in step.options.get("buttons", []) if label not in message.labels]):
        return f"There is no button {none[0]!r}, but {message.labels}."
    return ""
