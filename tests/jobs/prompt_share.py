"""How much of each prompt is byte by byte the beginning of the one before, as providers' caches see it."""

import json
from collections.abc import Sequence
from itertools import pairwise

from tests.jobs.talking import Talking
from tests.scripted_model import ModelCall, Reply, calls, text

MESSAGES = 20
CONVERSATIONS = {
    "talk": ("what a day it was", "tell me more of it", "that sounds good to me", "why would that be so"),
    "tools": ("add one and two", "what time is it", "add one and two", "thanks a lot for that"),
    "recall": ("my sister Ana lives in Porto", "where does my sister live", "I row on Tuesdays", "when do I row"),
    "reminders": ("remind me of the tea", "what time is it", "remind me of the bread", "what do I owe"),
    "all": (
        *("add one and two", "my sister Ana lives in Porto", "what time is it", "remind me of the tea"),
        *("thanks a lot for that", "where does my sister live"),
    ),
}
"""What people say in turn, by what is in the conversation."""


async def talk_with(person: Talking, conversation: str, messages: int = MESSAGES) -> Sequence[ModelCall]:
    """Hold a conversation; return the model calls that it took."""
    said = CONVERSATIONS[conversation]
    for number in range(messages):
        await person.say(f"{said[number % len(said)]}, please ({number})")
        await person.remember()
        if number == 0:  # else the first reminder asks where they live
            await person.store.admin.execute("update tenants set timezone = 'Europe/Lisbon'")
    return person.model.calls


def cached_share(asked: Sequence[ModelCall]) -> float:
    """Return the share of all prompts but the first that the prompt before began with."""
    prompts = [f"{json.dumps(call.body.get('tools'))}{json.dumps(call.messages)}".encode() for call in asked]
    shared = sum(_shared(first, second) for first, second in pairwise(prompts))
    return shared / sum(len(prompt) for prompt in prompts[1:])


def answer(call: ModelCall) -> Reply:
    """Use two tools where the person asks for a sum, one where they ask for the time or a reminder."""
    if call.messages[-1]["role"] == "tool":
        return text("That makes three, and it is late.")
    if call.last_user.startswith("add"):
        return calls(("calculate", {"expression": "1 + 2"}), ("current_time", {}))
    if call.last_user.startswith("what time"):
        return calls(("current_time", {}))
    if call.last_user.startswith("remind me"):
        return calls(("remind_me", {"at": "tomorrow at 9", "text": call.last_user}))
    return text("I see, thank you for telling me.")


def _shared(first: bytes, second: bytes) -> int:
    """Return how many bytes two prompts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))
