"""T9: a card that is approved and cancelled at the same time, pressed by somebody else, pressed again, and too late."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from core.clock import set_clock
from core.json_types import JsonObject
from tests.faults.database import read_rows, until_true
from tests.faults.harness import Harness
from tests.faults.journals import read
from tests.faults.phone_driver import Saying
from tests.faults.results import Result, conclude, deliver, settle, timed
from tests.faults.script import CHANNELS, CONSENT, TOKEN

EXPIRED = 30 * 24 * 3600.0
"""Seconds after which no card is still to be decided."""
UPKEEP_WITHIN = 60.0
_NONE_OPEN = "select not exists (select from approvals where state = 'pending')"
_ALL_TIMED = "select not exists (select from approvals where state = 'pending' and expires_at is null)"
"""A card's time begins once it is known to be sent."""
_CODE = re.compile(r"\bOK ([0-9A-Z]{2,3})\b")
_DECIDED = "select arguments::text as arguments, state from approvals"


@dataclass(frozen=True, slots=True)
class Card:
    """A card as a person has it: by SMS its code, on Telegram its message and its buttons' data, in Slack its ts."""

    token: str
    person: str
    code: str = ""
    message_id: int = 0
    buttons: tuple[str, ...] = ()
    ts: str = ""


async def races(harness: Harness, *, cards: int, late: int) -> Result:
    """T9: each card is decided both ways at once, twice each, and by a stranger; what was approved ran once.

    When that is over every button is pressed again. `late` more cards are decided after they expired.
    """
    result = Result("T9", "approve and cancel at once, twice each, by strangers, again, and late", "one decision, once")
    asking = [_asks(harness, number) for number in range(cards)]
    async with timed(result):
        for start in range(0, cards, len(harness.people)):
            shown = await _shown(harness, asking[start : start + len(harness.people)], result)
            await _all_at_once(harness, shown)
            await settle(harness, result)
            await _all_at_once(harness, shown)
            await settle(harness, result)
        tardy = [_asks(harness, number) for number in range(late)]
        shown = await _shown(harness, tardy, result)
        with suppress(AssertionError):
            await until_true(harness, _ALL_TIMED, within=UPKEEP_WITHIN)
        set_clock(harness.clock, offset=EXPIRED)
        await _all_at_once(harness, shown)
        with suppress(AssertionError):
            await until_true(harness, _NONE_OPEN, within=UPKEEP_WITHIN)
        await settle(harness, result)
        await conclude(harness, [], result)
        await _judge(harness, result, {saying.token for saying in asking}, {saying.token for saying in tardy})
        set_clock(harness.clock)
    return result


async def _shown(harness: Harness, batch: Sequence[Saying], result: Result) -> list[Card]:
    """Let people ask, and give the cards that they then have."""
    await deliver(harness, batch, result)
    tokens = {saying.token for saying in batch}
    shown = [card for card in shown_cards(harness) if card.token in tokens]
    result.require(len(shown) == len(batch), f"{len(batch) - len(shown)} cards were never shown")
    return shown


async def _all_at_once(harness: Harness, shown: Sequence[Card]) -> None:
    async with asyncio.TaskGroup() as group:
        for number, card in enumerate(shown):
            group.create_task(_decide_both_ways(harness, card, shown[number - 1]))


def _asks(harness: Harness, number: int) -> Saying:
    person = harness.people[number % len(harness.people)]
    token = harness.token(person.key)
    # Over the rounds everybody asks on each channel.
    channel = CHANNELS[(number + number // len(harness.people)) % len(CHANNELS)]
    return Saying(at=0.0, token=token, person=person.key, channel=channel, body=f"{token} {CONSENT}")


async def _decide_both_ways(harness: Harness, card: Card, other: Card) -> None:
    me = card.person
    if card.code:
        presses = [harness.act(me, "twilio", "say", text=f"{word} {card.code}") for word in ("OK", "NO", "NO", "OK")]
    elif card.ts:
        presses = [harness.act(me, "slack", "press", ts=card.ts, action_id=f"choice_{index}") for index in (0, 2, 2, 0)]
    else:
        mine = {"message_id": card.message_id}
        presses = [harness.act(me, "telegram", "press", data=card.buttons[index], **mine) for index in (0, -1, -1, 0)]
        if other.buttons and other.person != me:
            # A changed client sends whatever it likes; only the person who was asked may decide.
            forged = {"message_id": other.message_id, "data": card.buttons[0]}
            presses.insert(0, harness.act(other.person, "telegram", "forge_press", **forged))
    await asyncio.gather(*presses)


def shown_cards(harness: Harness) -> list[Card]:
    """Return the cards that people have been shown."""
    people = {person.phone: person.key for person in harness.people}
    people |= {str(person.telegram_user): person.key for person in harness.people}
    cards: list[Card] = []
    for call in read(harness.folder / "providers.jsonl"):
        request, answer = _object(call["request"]), _object(call["answer"])
        body, accepted = _object(request.get("body")), _object(_object(answer.get("body")).get("result"))
        shown = json.dumps(body)
        token = TOKEN.search(shown)
        if token is None or call["direction"] != "out":
            continue
        if call["endpoint"] == "twilio.messages.create" and (code := _CODE.search(str(body.get("Body")))):
            cards.append(Card(token[0], people[str(body["To"])], code=code[1]))
        elif (
            call["endpoint"] == "slack.chat.postMessage"
            and "choice_0" in shown
            and isinstance(ts := _told_ts(answer), str)
        ):
            cards.append(Card(token[0], token[0].partition("-")[2], ts=ts))
        elif call["endpoint"] == "telegram.sendMessage" and "reply_markup" in body:
            markup = body["reply_markup"]
            data = re.findall(r'"callback_data": ?"([^"]+)"', markup if isinstance(markup, str) else json.dumps(markup))
            number = accepted.get("message_id")
            if data and isinstance(number, int):
                cards.append(Card(token[0], people[str(body["chat_id"])], message_id=number, buttons=tuple(data)))
    return cards


def _told_ts(answer: JsonObject) -> object:
    return _object(answer.get("body")).get("ts")


async def _judge(harness: Harness, result: Result, tokens: set[str], late: set[str]) -> None:
    rows = await read_rows(harness, _DECIDED)
    states = {token: row["state"] for row in rows for token in TOKEN.findall(row["arguments"])}
    effects = Counter(str(call["token"]) for call in read(harness.folder / "effects.jsonl"))
    wrong = [
        f"{token}: {states.get(token, 'no approval')}, ran {effects[token]} times"
        for token in sorted(tokens | late)
        if effects[token] != (1 if states.get(token) == "approved" else 0)
        or states.get(token) not in (("approved", "cancelled") if token in tokens else ("expired",))
    ]
    result.numbers |= {
        "cards": str(len(tokens)),
        "decided": str(dict(Counter(states.get(token) for token in sorted(tokens)))),
        "pressed after they expired": f"{len(late)}: {dict(Counter(states.get(token) for token in sorted(late)))}",
        "wrong": str(len(wrong)),
    }
    result.require(not wrong, f"{len(wrong)} cards went wrong: {wrong[:3]}")


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
