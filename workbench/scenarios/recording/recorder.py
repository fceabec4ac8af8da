"""Records the page: people's acts and messages, moved time, breaks, and the model's answers."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from core.db.database import Database
from core.errors import StoreUnavailable
from core.json_types import Json
from core.people.access_policy import PersonRole
from workbench.dev.bench.clock import BenchClock
from workbench.dev.bench.people import admitted_as
from workbench.scenarios.recording.acts import NOTHING, note_act
from workbench.scenarios.recording.answers import Address, GivenAnswer, read_answers
from workbench.scenarios.recording.expected import coded
from workbench.scenarios.recording.screens import Screens
from workbench.scenarios.settling import settle
from workbench.scenarios.simulated import CODE, LINK
from workbench.scenarios.steps import write_span
from workbench.simulator.app import Simulator
from workbench.simulator.config import Person
from workbench.simulator.faults import Rule

LOOK = 0.2
"""Minimum seconds between two looks at people's messages."""
_MOVED = 2.0
"""Minimum advance of the clock, in seconds, that counts as moved."""
_log = structlog.get_logger()


@dataclass(slots=True)
class Item:
    """A step's table, and when it was, in Unix seconds of the machine.

    `code` is that of the newest card by then, `link` the newest by which people are let in and places linked.
    """

    at: float
    values: dict[str, Any]
    code: str = ""
    link: str = ""
    is_act: bool = True


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recording: the values of a scenario, and the parts that no scenario can hold."""

    values: Mapping[str, Any]
    left_out: Sequence[str] = ()


@dataclass(slots=True)
class Recorder:
    """Records from `start` to `stop`. `told`: values that every scenario of this installation has, such as plugins.

    `addresses` returns the addresses of the simulated person with a key.
    """

    simulator: Simulator
    database: Database
    clock: BenchClock
    addresses: Callable[[str], Sequence[Address]]
    told: Mapping[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    began: float = 0.0
    """0 while nothing is recorded."""
    _start: datetime | None = None
    _screens: Screens = field(init=False)
    _ahead: float = 0.0
    _joined: int = 0
    """Number of people added before."""
    _admitted: set[Address] = field(default_factory=set)
    _looking: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._screens = Screens(self.simulator)

    async def start(self) -> None:
        """Begin, after waiting for work under way: existing messages are not part of the recording."""
        await settle(self.database, self.simulator)
        self.items, self.left_out = [], []
        self._screens.begin()
        self._joined = len(self.simulator.wire.config.joined)
        self._admitted = set()
        self._admitted = {address for _, address, _ in await self._let_in()}
        self._start = self.clock.told().now().replace(microsecond=0)
        self._ahead = self._ahead_now()
        self.began = time.time()
        self.simulator.control.observer = self
        self._looking = asyncio.create_task(self._keep_looking())

    async def stop(self) -> Recorded:
        """End, and return the recording."""
        self.look()
        await self.look_for_admitted()
        everybody = [address for one in self.simulator.wire.config.everyone for address in self.addresses(one.key)]
        answers = await read_answers(self.database, [*everybody, *self._groups()], self.began)
        recorded = Recorded(self._scenario(answers), tuple(dict.fromkeys(self.left_out)))
        await self.discard()
        return recorded

    async def discard(self) -> None:
        """End, and keep nothing."""
        self.began, self.simulator.control.observer = 0.0, None
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    def note_act(self, person: str, provider: str, action: str, arguments: dict[str, Json]) -> Callable[[], None]:
        """Note an act before it happens; return the function that removes the note."""
        self.look()
        noted = note_act(provider, action, arguments, self._screens.since(provider, person))
        if noted.left_out:
            self.left_out.append(noted.left_out)
            return lambda: self.left_out.remove(noted.left_out)
        if noted == NOTHING:
            return lambda: None
        item = self._add({**noted.step, "person": person})
        return lambda: self.items.remove(item)

    def note_fault(self, rule: Rule) -> None:
        """Note a fault that was set."""
        self.look()
        usual = Rule(rule.endpoint, rule.kind)
        changed = {name: getattr(rule, name) for name in ("times", "share", "seconds", "status", "location")}
        more = {name: value for name, value in changed.items() if value != getattr(usual, name)}
        self._add({"fault": rule.endpoint, "kind": rule.kind.value, **more})

    def note_person(self, person: Person) -> None:
        """Note that a person was added."""
        self.look()
        self._add({"join": person.name})

    def note_break(self, what: str) -> None:
        """Note a break, in the words of a scenario."""
        if self.began:
            self.look()
            self._add({"break": what})

    def note_clock(self) -> None:
        """Note that the clock was moved."""
        if self.began:
            self.look()

    def look(self) -> None:
        """Note the clock's own advance, and people's new messages."""
        fresh = self._screens.fresh()
        self._note_time()
        for step in fresh:
            self._add(dict(step), is_act=False)

    async def look_for_admitted(self) -> None:
        """Note the people admitted since the last look, in any way."""
        if not self.began:
            return
        with suppress(StoreUnavailable):
            for key, address, role in await self._let_in():
                if address not in self._admitted:
                    self._admitted.add(address)
                    self.look()
                    usual = {} if role is PersonRole.MEMBER else {"role": role.value}
                    self._add({"admit": key, **usual, "channel": address[0]})

    async def _let_in(self) -> list[tuple[str, Address, PersonRole]]:
        """Return all people admitted by a code or by the operator: the person, their address, and their role."""
        addresses = [
            (one.key, address) for one in self.simulator.wire.config.everyone for address in self.addresses(one.key)
        ]
        fresh = [(key, address) for key, address in addresses if address not in self._admitted]
        roles = [(key, address, await admitted_as(self.database, address)) for key, address in fresh]
        return [(key, address, role) for key, address, role in roles if role is not None]

    def _note_time(self) -> None:
        ahead = self._ahead_now()
        if ahead - self._ahead > _MOVED:
            self._add({"advance": write_span(timedelta(seconds=ahead - self._ahead))})
        self._ahead = ahead

    def _ahead_now(self) -> float:
        return float(str(self.clock.shown()["ahead"]))

    def _add(self, values: dict[str, Any], *, is_act: bool = True) -> Item:
        item = Item(time.time(), values, self._screens.code, self._screens.link, is_act)
        self.items.append(item)
        return item

    async def _keep_looking(self) -> None:
        async with self.simulator.wire.journal.listen() as changes:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await changes.get()
                await asyncio.sleep(LOOK)
                self.look()
                await self.look_for_admitted()

    def _scenario(self, answers: Sequence[GivenAnswer]) -> dict[str, Any]:
        acts = [item for item in self.items if item.is_act]
        before: dict[int, list[Mapping[str, Any]]] = {}
        for answer in answers:
            caused = [number for number, item in enumerate(acts) if item.at <= answer.at]
            if caused:
                step = _with_code(answer.step, _code_at(self.items, answer.at))
                before.setdefault(id(acts[caused[-1]]), []).append(step)
        first = next((item.values for item in acts if "channel" in item.values), {})
        usual = {"channel": first.get("channel", "sms"), "person": first.get("person", "ada")}
        steps: list[Mapping[str, Any]] = []
        last = self.began
        for item in self.items:
            steps += before.get(id(item), [])
            values = _shorter(item.values, usual)
            for verb in ("send", "edit"):
                if verb in values:
                    values[verb] = coded(coded(values[verb], item.code, CODE), item.link, LINK)
            if item.is_act and (pause := round(item.at - last, 1)) > 0:
                values["pause"] = pause
            last = item.at
            steps.append(values)
        steps = [*self._joins(), *steps]
        told = {**self.told, "model": "scripted"}
        return {"title": "", **usual, "start": self._start or datetime.now(UTC), **told, "step": steps}

    def _groups(self) -> list[Address]:
        """Return the addresses of Telegram's group and Slack's channel, which the assistant takes for people."""
        state: Any = self.simulator.providers["telegram"].state()
        slack: Any = self.simulator.providers["slack"].state()
        found = [("telegram", str(state["bot"]["id"]), str(group["chat_id"]))] if (group := state["group"]) else []
        return [*found, ("slack", self.simulator.wire.config.slack.team_id, str(slack["channel"]["id"]))]

    def _joins(self) -> list[Mapping[str, Any]]:
        """Return the steps that add the earlier people, up to the last person who acts."""
        before = self.simulator.wire.config.joined[: self._joined]
        at_work = {item.values.get("person") or item.values.get("admit") for item in self.items}
        last = max((number for number, one in enumerate(before, 1) if one.key in at_work), default=0)
        return [{"join": one.name} for one in before[:last]]


def _code_at(items: Sequence[Item], at: float) -> str:
    """Return the code of the newest card at a moment, as the items after it know."""
    return next((item.code for item in reversed(items) if item.at <= at), "")


def _with_code(step: Mapping[str, Any], code: str) -> Mapping[str, Any]:
    """Return an answer with a place for the code in the arguments of its calls."""
    return {name: value if name in ("answer", "beside") else _placed(value, code) for name, value in step.items()}


def _placed(value: Any, code: str) -> Any:
    if isinstance(value, str):
        return CODE if code and value.upper() == code else value
    if isinstance(value, Mapping):
        return {name: _placed(one, code) for name, one in value.items()}
    return [_placed(one, code) for one in value] if isinstance(value, list) else value


def _shorter(values: Mapping[str, Any], usual: Mapping[str, str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if usual.get(name) != value}
