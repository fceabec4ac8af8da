"""What only a picture shows is forgotten with the picture: whoever saw it said it in the picture's turn, or later."""

import json

import pytest

from tests.abilities.documents import samples
from tests.core.files.test_store import ANN, BOB, Home, home

__all__ = ["home"]
PHRASES = ["x4711"]


async def sent(home: Home, width: int, words: str = "", reply: str = "ok", sender: str = ANN) -> tuple[str, str]:
    """Let somebody send a picture of a width of its own; return its tenant and id."""
    tenant, turn, message = await home.send(samples.picture(width=width), sender, words=words, reply=reply)
    seen, *_ = await home.files().take_in(tenant, turn, message, "sms")
    return tenant, str(seen.id)


async def left(home: Home, tenant: str) -> set[str]:
    """Return the ids of the files that somebody has."""
    return {file.id for file in await home.files().for_turn(tenant, "t").list()}


@pytest.mark.parametrize(
    ("words", "reply"),
    [("", "It says X4711."), ("my passport, x4711", "I see.")],
    ids=["told by the model", "told by the person"],
)
async def test_a_picture_goes_with_what_was_said_about_it(home: Home, words: str, reply: str) -> None:
    tenant, other = await sent(home, 64)
    _, passport = await sent(home, 80, words, reply)
    bob, same = await sent(home, 80, words, reply, sender=BOB)
    assert await left(home, tenant) == {other, passport}
    await home.store.database.rows("select redact($1,$2)", tenant, PHRASES)
    assert await left(home, tenant) == {other}
    assert await left(home, bob) == {same}, "another's picture is theirs to forget"


async def test_a_picture_that_was_looked_at_again_goes_too(home: Home) -> None:
    tenant, passport = await sent(home, 64)
    _, other = await sent(home, 80)
    _, turn, _ = await home.send(b"a text", words="and the number?", reply="It is X4711.")
    steps = (
        {"tool_calls": [{"name": "read_file", "arguments": json.dumps({"file": passport})}]},
        {"text": "X4711"},
    )
    for number, result in enumerate(steps):
        await home.store.admin.execute(
            "insert into steps (tenant_id, turn_id, step, call_index, kind, state, result)"
            " values ($1, $2, 0, $3, 'model', 'done', $4::text::jsonb)",
            *(tenant, turn, number, json.dumps(result)),
        )
    await home.store.database.rows("select redact($1,$2)", tenant, PHRASES)
    assert await left(home, tenant) == {other}
