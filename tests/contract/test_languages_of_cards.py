"""Approvals from card to receipt in the person's language, over every channel: no English but the commands."""

import re
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import pytest

from core.json_types import JsonObject
from core.llm.types import ModelAnswer
from core.tools.tool import tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES, SlackHarness
from tests.contract.harness import exempt
from tests.core.builders import says, wants
from tests.eventually import eventually
from workbench.pages.catalogues import translated

pytestmark = pytest.mark.slow

COMMANDS = {"OK", "NO", "AGAIN", "EDIT", "PENDING", "MORE"}
OURS = {"zz", "qq", "kk", "aa", "bb", "warm", "more"}
"""The words of the tool, its arguments and their values: no language has them."""
DONE = "77!"
_CODE = re.compile(r"\b[2-9][A-Z][A-Z0-9]?\b")
CHANNELS = {"SMS", "Slack", "Telegram"}


@pytest.fixture(params=["de", "zh"])
async def system(channel: str, database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Approving]:
    """Yield a system that knows the person, and their language."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:

        @tool(name="zz", needs_approval=True, description="Do it.")
        async def zz(qq: str, kk: int = 2, warm: bool = True, more: list[str] | None = None) -> str:
            return DONE

        system.more.append(zz)
        system.model.script = [says(DONE)]
        await system.say("hello")
        await system.delivery.store.db.tenants.change({"language": request.param, "language_from": ""})
        yield system


def words(text: str) -> set[str]:
    """Return the words in Latin letters."""
    return set(re.findall(r"[^\W\d_]+", re.sub(r"[\u3000-\u9fff\uff00-\uffef]", " ", text)))


@cache
def english(language: str) -> set[str]:
    """Return the words that only English has among the product's sentences."""
    theirs = {word for message in translated(language) for word in words(_joined(message.string))}
    ours = {word.casefold() for message in translated(language) for word in words(_fieldless(_joined(message.id)))}
    return ours - {word.casefold() for word in theirs}


def _joined(texts: Any) -> str:
    return texts if isinstance(texts, str) else " ".join(texts or ())


def _fieldless(text: str) -> str:
    return re.sub(r"\{\w*\}", "", text)


class Reader:
    """Reads all that was sent since it looked last, and fails where a part of it is English."""

    def __init__(self, system: Approving, language: str) -> None:
        self._system = system
        self._english = english(language)
        self._language = language
        self._seen = {(bubble.id, bubble.text) for bubble in system.delivery.channel.bubbles()}

    async def read(self) -> str:
        """Return what is new or was drawn anew."""
        bubbles = self._system.delivery.channel.bubbles()
        fresh = [bubble for bubble in bubbles if (bubble.id, bubble.text) not in self._seen]
        self._seen |= {(bubble.id, bubble.text) for bubble in fresh}
        shown = ["\n".join([bubble.text, *(label for label, _ in bubble.buttons)]) for bubble in fresh]
        for text in shown:
            self.check(text)
        assert fresh, "nothing was sent or drawn"
        return "\n".join(shown)

    def check(self, text: str) -> None:
        """Fail where a text has English in it; Chinese has no Latin letters at all besides the commands."""
        found = words(_CODE.sub(" ", text)) - COMMANDS - CHANNELS
        found = {word for word in found if word.casefold() not in OURS}
        if self._language == "zh":
            assert not found, text
        assert not {word.casefold() for word in found} & self._english, text


@pytest.fixture
async def reader(system: Approving) -> Reader:
    language = str(await system.delivery.store.db.tenants.one("language"))
    return Reader(system, language)


async def test_all_of_an_approval_is_said_in_the_persons_language(system: Approving, reader: Reader) -> None:
    system.model.script = [wants(("zz", {"qq": "aa", "more": []}))]
    await system.say("do it")
    old = await system.code()
    assert f"OK {old}" in await reader.read()
    await _command(system, "pending")
    assert f"OK {old}" in await reader.read()
    await system.say("OK 9Z" if old != "9Z" else "OK 8Z")
    assert "PENDING" in await reader.read()
    system.clock.move(minutes=25)
    await system.work()
    assert f"NO {old}" in await reader.read(), "the reminder"
    await system.say(f"SNOOZE {old}")
    await reader.read()
    system.model.script = [_decides(old, "edit", qq="bb"), says(DONE)]
    await system.say(f"EDIT {old} bb")
    assert "aa -> bb" in await reader.read()
    await system.say(f"OK {old}")
    assert old in await reader.read(), "the newer card counts"
    await system.decide("Approve" if system.delivery.channel.name == "sms" else system.card().buttons[0][0])
    assert DONE in await reader.read()
    await system.say(f"OK {await system.code()}")
    assert await system.code() in await reader.read(), "it was approved already"
    await _command(system, "pending")
    await reader.read()


async def test_what_expired_is_said_and_asked_again_in_their_language(system: Approving, reader: Reader) -> None:
    system.model.script = [wants(("zz", {"qq": "aa"})), says(DONE)]
    await system.say("do it")
    await reader.read()
    old = await system.code()
    system.clock.move(hours=30)
    await system.work()
    assert DONE in await reader.read()
    await system.say(f"OK {old}")
    assert f"AGAIN {old}" in await reader.read()
    await _command(system, "again", old)
    new = await system.code()
    assert f"OK {new}" in await reader.read()
    system.model.script = [says(DONE)]
    await system.say(f"NO {new}")
    await reader.read()
    await _command(system, "again", "9Z")
    await reader.read()


async def test_a_decision_in_words_is_told_in_their_language(system: Approving, reader: Reader) -> None:
    system.model.script = [wants(("zz", {"qq": "aa"})), says(DONE)]
    await system.say("do it")
    await reader.read()
    code = await system.code()
    system.model.script = [_decides(code, "cancel"), says(DONE)]
    await system.say("no, drop it")
    assert code in await reader.read()
    assert system.model.told()[0].startswith(f"Cancelled {code}: "), "the model is told in English"


async def test_high_risk_is_said_in_their_language(system: Approving, reader: Reader) -> None:
    @tool(name="kk", needs_approval=True, risk="high", description="Do it.")
    async def kk(qq: str) -> str:
        return DONE

    system.more.append(kk)
    system.model.script = [wants(("kk", {"qq": "aa"})), says(DONE)]
    await system.say("do it")
    await reader.read()
    code = await system.code()
    await system.say("OK ALL")
    await reader.read()
    await system.say(f"OK {code}")
    asked = await reader.read()
    if system.delivery.channel.name == "sms":
        number = re.findall(r"\d{6}", asked)[-1]
        await system.say(f"OK {code} {(int(number) + 1) % 10**6:06d}")
        assert code in await reader.read()
        await system.say(f"OK {code} {number}")
    assert await system.states() == ["approved"]


@exempt(sms="SMS has no forms", telegram="Telegram has no forms: a change is asked for in words")
async def test_a_form_is_in_their_language(system: Approving, reader: Reader) -> None:
    harness = system.delivery.channel
    assert isinstance(harness, SlackHarness)
    system.model.script = [wants(("zz", {"qq": "aa"})), says(DONE)]
    await system.say("do it")
    buttons = [label for label, _ in system.card().buttons]
    await system.press(buttons[3])
    await eventually(lambda: bool(harness.modals()))
    shown = harness.modals()[-1]
    for text in _texts([shown["title"], shown["blocks"]]):
        reader.check(text)
    await system.press(buttons[1])
    await eventually(lambda: harness.modals()[-1]["id"] != shown["id"])
    modal = harness.modals()[-1]
    for text in _texts([modal["title"], modal["blocks"]]):
        reader.check(text)
    answer = await harness.act("submit", view_id=modal["id"], values={"qq": "aa", "kk": "x", "warm": "?", "more": ""})
    assert answer["outcome"] == "errors"
    errors = next(view["errors"] for view in harness.modals() if view["id"] == modal["id"])
    assert set(errors) == {"kk", "warm"}
    for text in errors.values():
        reader.check(text)
    no = {"de": "nein", "zh": "否"}[str(await system.delivery.store.db.tenants.one("language"))]
    await harness.act("submit", view_id=modal["id"], values={"qq": "aa", "kk": "2", "warm": no, "more": ""})
    await harness.settled()
    await system.work()
    assert await system.delivery.store.one("select arguments ->> 'warm' from approvals where state = 'pending'") == (
        "false"
    )


def _decides(code: str, decision: str, **changes: str) -> ModelAnswer:
    one: JsonObject = {"code": code, "decision": decision, "changes": {**changes}}
    return wants(("decide_approvals", {"decisions": [one]}))


def _texts(view: Any) -> Iterator[str]:
    """Yield every text that a modal shows."""
    if isinstance(view, dict):
        for key, value in view.items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(view, list):
        for item in view:
            yield from _texts(item)


async def _command(system: Approving, word: str, argument: str = "") -> None:
    harness = system.delivery.channel
    if harness.name == "slack":
        await harness.act("command", text=f"/valet {word} {argument}".strip())
        await harness.settled()
        await system.work()
    else:
        said = f"{word.upper()} {argument}" if harness.name == "sms" else f"/{word} {argument}"
        await system.say(said.strip())
