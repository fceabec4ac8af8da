"""T9: a card that is approved and cancelled at the same time, from two devices, and pressed by somebody else."""

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass

from core.json_types import JsonObject
from tests.faults.house import House
from tests.faults.journals import read
from tests.faults.phones import Saying
from tests.faults.results import Result, conclude, deliver, settle, timed
from tests.faults.script import CONSENT, TOKEN

_CODE = re.compile(r"\bOK ([0-9A-Z]{2,3})\b")
_DECIDED = "select arguments::text as arguments, state from approvals"


@dataclass(frozen=True, slots=True)
class Card:
    """A card as a person has it: by SMS its code, on Telegram its message and the data of its buttons."""

    token: str
    person: str
    code: str = ""
    message_id: int = 0
    buttons: tuple[str, ...] = ()


async def races(house: House, *, cards: int) -> Result:
    """T9: each card is decided both ways at once, twice each, and by a stranger; what was approved ran once."""
    result = Result("T9", "approve and cancel at once, twice each, and by another person", "one decision, one effect")
    asking = [_asks(house, number) for number in range(cards)]
    async with timed(result):
        for start in range(0, cards, len(house.people)):
            batch = asking[start : start + len(house.people)]
            await deliver(house, batch, result)
            shown = [card for card in _cards(house) if card.token in {one.token for one in batch}]
            result.require(len(shown) == len(batch), f"{len(batch) - len(shown)} cards were never shown")
            async with asyncio.TaskGroup() as group:
                for number, card in enumerate(shown):
                    group.create_task(_decide_both_ways(house, card, shown[number - 1]))
            await settle(house, result)
        await conclude(house, [], result)
        await _judge(house, result, {one.token for one in asking})
    return result


def _asks(house: House, number: int) -> Saying:
    person = house.people[number % len(house.people)]
    token = house.token(person.key)
    channel = "sms" if number % 2 else "telegram"
    return Saying(at=0.0, token=token, person=person.key, channel=channel, body=f"{token} {CONSENT}")


async def _decide_both_ways(house: House, card: Card, other: Card) -> None:
    presses = [house.act(card.person, "twilio", "say", text=f"{word} {card.code}") for word in ("OK", "NO", "NO", "OK")]
    if card.buttons:
        for press in presses:
            press.close()
        mine = {"message_id": card.message_id}
        presses = [
            house.act(card.person, "telegram", "press", data=card.buttons[index], **mine) for index in (0, -1, -1, 0)
        ]
        if other.buttons and other.person != card.person:
            # A changed client sends whatever it likes; only the person who was asked may decide.
            forged = {"message_id": other.message_id, "data": card.buttons[0]}
            presses.insert(0, house.act(other.person, "telegram", "forge_press", **forged))
    await asyncio.gather(*presses)


def _cards(house: House) -> list[Card]:
    people = {person.phone: person.key for person in house.people}
    people |= {str(person.telegram_user): person.key for person in house.people}
    found: list[Card] = []
    for one in read(house.folder / "providers.jsonl"):
        request, answer = _object(one["request"]), _object(one["answer"])
        body, told = _object(request.get("body")), _object(_object(answer.get("body")).get("result"))
        shown = json.dumps(body)
        token = TOKEN.search(shown)
        if token is None or one["direction"] != "out":
            continue
        if one["endpoint"] == "twilio.messages.create" and (code := _CODE.search(str(body.get("Body")))):
            found.append(Card(token[0], people[str(body["To"])], code=code[1]))
        elif one["endpoint"] == "telegram.sendMessage" and "reply_markup" in body:
            markup = body["reply_markup"]
            data = re.findall(r'"callback_data": ?"([^"]+)"', markup if isinstance(markup, str) else json.dumps(markup))
            number = told.get("message_id")
            if data and isinstance(number, int):
                found.append(Card(token[0], people[str(body["chat_id"])], message_id=number, buttons=tuple(data)))
    return found


async def _judge(house: House, result: Result, tokens: set[str]) -> None:
    connection = await house.connect()
    try:
        rows = await connection.fetch(_DECIDED)
    finally:
        await connection.close()
    states = {token: row["state"] for row in rows for token in TOKEN.findall(row["arguments"]) if token in tokens}
    effects = Counter(str(one["token"]) for one in read(house.folder / "effects.jsonl"))
    wrong = [
        f"{token}: {states.get(token, 'no approval')}, ran {effects[token]} times"
        for token in sorted(tokens)
        if effects[token] != (1 if states.get(token) == "approved" else 0)
        or states.get(token) not in ("approved", "cancelled")
    ]
    result.numbers |= {
        "cards": str(len(tokens)),
        "decided": str(dict(Counter(states.values()))),
        "wrong": str(len(wrong)),
    }
    result.require(not wrong, f"{len(wrong)} cards went wrong: {wrong[:3]}")


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
