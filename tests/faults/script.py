"""What people write, and what the model does about it: always the same for the same conversation."""

import random
import re
from collections.abc import Sequence

from core.json_types import JsonObject
from core.turns.prompt_lines import CONTEXT
from tests.faults.abilities.asking import answer_for_abilities
from tests.faults.accounts.asking import answer_for_accounts
from tests.faults.extensions.asking import answer_for_extensions
from tests.faults.households.asking import answer_for_households
from tests.faults.messages.asking import answer_for_messages
from tests.faults.peers.asking import answer_for_peers
from tests.faults.phone_driver import Saying
from tests.scripted_model import ModelCall, Reply, calls, text, text_of
from workbench.simulator.config import Person

CHANNELS = ("sms", "slack", "telegram")
TOKEN = re.compile(r"m\d{5}-p\d{3}")
ACT = "act"
"""A text that asks for tools ends in this word."""
CONSENT = "consent"
"""A text that asks for what needs the person's approval ends in this word."""
AGREED = "standing"
"""A text that asks for what the person has agreed to in advance ends in this word."""
POISON = "poison"
"""A text that makes its worker die, each time."""
HANG = "hang"
"""A text whose tool blocks the event loop of its worker, each time, ends in this word."""
FLOOD = "flood"
"""A text that is answered with 200,000 characters."""
NUMBERS = "numbers"
"""A text upon which a tool is called with numbers that are none."""
MANY = "many"
"""A text upon which 500 calls are wanted at once."""
UPLOAD = "upload"
"""A text that is answered with a file ends in this word."""
SLOW = "slow"
"""A text that the model answers over the seconds that follow the word."""


def answer(call: ModelCall) -> Reply:
    """Call both tools for each token that asks for it, then answer with every token and what became of its tools."""
    turn = _this_turn(call)
    asked = [text_of(message) for message in turn if message.get("role") == "user"]
    # What is recalled and what waits stands in a message of its own: nobody asks for it.
    asked = [text for text in asked if not text.startswith(CONTEXT)]
    last = asked[-1] if asked else ""
    if poisoned := [text for text in asked if text.endswith(POISON)]:
        return calls(("act_poison", {"token": TOKEN.findall(poisoned[0])[0]}))
    if hanging := [text for text in asked if text.endswith(HANG)]:
        return calls(("act_hanging", {"token": TOKEN.findall(hanging[0])[0]}))
    if served := _of_others(call.messages, turn):
        return served
    if absurd := _absurd(asked, turn):
        return absurd
    results = [text_of(message) for message in turn if message.get("role") == "tool"]
    called = {token for message in turn if message.get("role") == "assistant" for token in TOKEN.findall(str(message))}
    consents = [token for text in asked if text.endswith(CONSENT) for token in TOKEN.findall(text)]
    if waiting := [token for token in consents if token not in called]:
        return calls(*(("act_approved", {"token": token}) for token in waiting))
    agreed = [token for text in asked if text.endswith(AGREED) for token in TOKEN.findall(text)]
    if undone := [token for token in agreed if token not in called]:
        return calls(*(("act_agreed", {"saying": token}) for token in undone))
    uploads = [token for text in asked if text.endswith(UPLOAD) for token in TOKEN.findall(text)]
    if unsent := [token for token in uploads if token not in called]:
        return calls(*(("act_upload", {"token": token}) for token in unsent))
    acting = [token for text in asked if text.endswith(ACT) for token in TOKEN.findall(text)]
    if fresh := [token for token in acting if token not in called]:
        return calls(*((name, {"token": token}) for token in fresh for name in ("act_once", "act_again")))
    done = {token: f"once {token} done" in results for token in acting}
    tokens = [token for text in asked for token in TOKEN.findall(text)]
    words = [f"{token} {'acted' if done[token] else 'unsure'}" if token in done else token for token in tokens]
    slow = re.search(rf"{SLOW} ([\d.]+)$", last)
    # As a model that thinks aloud: one that is silent for so long would be taken for one that is down.
    thoughts = "hm " * 30 if slow else ""
    return text(thoughts + (" ".join(words) or "nothing")).over(float(slow[1]) if slow else 0.0)


def _of_others(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Return what is answered to a text that is about what one of the folders here is about."""
    asked = (
        *(answer_for_abilities, answer_for_accounts, answer_for_extensions),
        *(answer_for_households, answer_for_messages, answer_for_peers),
    )
    return next((reply for answer_for in asked if (reply := answer_for(messages, turn))), None)


def _absurd(asked: Sequence[str], turn: Sequence[JsonObject]) -> Reply | None:
    """Return the answer that a model at its worst gives, where a text asks for it."""
    bad = [text for text in asked if text.endswith((FLOOD, NUMBERS, MANY))]
    if not bad:
        return None
    token, word = TOKEN.findall(bad[-1])[0], bad[-1].rpartition(" ")[2]
    if word == FLOOD:
        return text(f"{token} " + "and so on, " * 18_200)
    if any(message.get("role") == "tool" for message in turn):
        return text(token)
    if word == MANY:
        return calls(*(("act_counted", {"token": token, "number": n}) for n in range(500)))
    return calls(("act_many_times", f'{{"token": "{token}", "times": NaN}}'), ("act_many_times", '{"times": 1e999}'))


def make_sayings(
    people: Sequence[Person],
    count: int,
    chance: random.Random,
    *,
    seconds: float,
    first: int = 0,
    copies: int = 1,
    acting: float = 0.3,
    channels: Sequence[str] = CHANNELS,
) -> list[Saying]:
    """Let people write in turn, spread over the channels and the seconds; a share of the texts asks for tools."""
    sayings: list[Saying] = []
    for n in range(first, first + count):
        person = people[n % len(people)]
        token = f"m{n:05}-{person.key}"
        body = f"{token} {ACT}" if chance.random() < acting else token
        sayings.append(
            Saying(
                at=seconds * (n - first) / count,
                token=token,
                person=person.key,
                channel=channels[n % len(people) % len(channels)],
                body=body,
                copies=chance.randint(1, copies),
            )
        )
    return sayings


def _this_turn(call: ModelCall) -> list[JsonObject]:
    """Return what stands after the last finished answer."""
    messages = call.messages
    ends = [
        index
        for index, message in enumerate(messages)
        if message.get("role") == "assistant" and not message.get("tool_calls")
    ]
    return [message for message in messages[(ends[-1] if ends else -1) + 1 :] if message.get("role") != "system"]
