"""How much of each prompt is byte by byte the beginning of the one before, as providers' caches see it."""

import json
from collections.abc import Sequence
from itertools import pairwise

from core.agents.pending_answers import WAIT
from core.turns.prompt_lines import PENDING
from tests.abilities.memory.talking import Talking
from tests.scripted_model import ModelCall, Reply, calls, text
from workbench.demo.transcript import read_lines

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
    "fields": ("find me a flight", "what a day it was", "what time is it", "leave the flight", "thanks for that"),
    "approvals": ("plan the news", "what a day it was", "yes, do it", "what time is it"),
    "notices": ("what a day it was", "what time is it", "tell me more of it", "add one and two"),
    "waiting": (
        *("what a day it was", "find me a flight", "tell me more of it", "what time is it", "leave the flight"),
        *("plan the news", "that sounds good to me", "yes, do it", "add one and two", "thanks a lot for that"),
    ),
}
NOTIFIED = {"notices": 2, "waiting": 3}
"""After how many messages each the person is sent a notification, by conversation."""
"""What people say in turn, by what is in the conversation."""


async def talk_with(person: Talking, conversation: str, messages: int = MESSAGES) -> Sequence[ModelCall]:
    """Hold a conversation; return the model calls that it took."""
    said = CONVERSATIONS[conversation]
    for number in range(messages):
        await person.say(f"{said[number % len(said)]}, please ({number})")
        await person.remember()
        if number == 0:  # else the first reminder asks where they live
            await person.store.db.tenants.change({"timezone": "Europe/Lisbon"})
        # What a card says may be decided in words once it was sent.
        await person.store.admin.execute(
            "update outbound o set sent_at = clock_timestamp() from approval_cards c"
            " where c.tenant_id = o.tenant_id and c.outbound_id = o.id and o.sent_at is null"
        )
        await person.store.admin.execute(
            "select start_approval(tenant_id, id, clock_timestamp()) from approvals where expires_at is null"
        )
        if number % NOTIFIED.get(conversation, MESSAGES + 1) == 1:
            await notify(person, f"The parcel is at stop {number}.")
    return person.model.calls


async def notify(person: Talking, text: str) -> None:
    """Let the history have what it has once a notification was sent."""
    await person.store.admin.execute(
        "insert into history (tenant_id, conversation_id, position, session, message)"
        " select c.tenant_id, c.id, c.history_seq + m.position, c.session, m.value from conversations c,"
        " jsonb_array_elements(jsonb_build_array(jsonb_build_object('role', 'user', 'internal', true, 'text',"
        " '[Not from the person: they were just sent a notification of the kind parcels.]'),"
        " jsonb_build_object('role', 'assistant', 'text', $1::text))) with ordinality as m (value, position)",
        text,
    )
    await person.store.admin.execute("update conversations set history_seq = history_seq + 2")


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
    if call.last_user.startswith("find me"):
        return calls(("FlightSearchAgent", {"destination": "Lisbon"}))
    if call.last_user.startswith("plan the"):
        return calls(("ScheduleTask", {"what": "tell the news", "cron": "0 7 * * 1-5"}))
    if call.last_user.startswith("yes") and (pending := read_lines(PENDING, call.context)):
        return calls(("decide_approvals", {"decisions": [{"code": pending[0]["code"], "decision": "approve"}]}))
    if call.last_user.startswith("leave the") and WAIT in call.context:
        return calls(("answer_waiting_agent", {"drop": True}))
    if call.last_user.startswith("remind me"):
        return calls(("remind_me", {"at": "tomorrow at 9", "text": call.last_user}))
    return text("I see, thank you for telling me.")


def _shared(first: bytes, second: bytes) -> int:
    """Return how many bytes two prompts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))
