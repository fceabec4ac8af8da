"""What people say in chat about the programs that may ask."""

import hmac
from datetime import timedelta

import pytest

from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command
from core.people.tenant import TurnTenant
from operations.console.sign_in import ConsoleSignIn
from operations.programs.commands import ClientCommands
from operations.programs.tokens import MAX_TOKENS, ClientTokens
from tests.clocks import StandingClock
from tests.core.credentials.harness import KEYS as SECRET_KEYS
from tests.core.harness import Store

KEYS = [b"new", b"old"]


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


async def _ann(store: Store) -> TurnTenant:
    await store.say("hello")
    return TurnTenant(await store.db.person())


def _commands(store: Store, clock: StandingClock, url: str = "https://valet.example") -> ClientCommands:
    tokens = ClientTokens(store.database, store.make_id, KEYS)
    return ClientCommands(tokens, ConsoleSignIn(store.database, url, SECRET_KEYS), clock)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("MCP", Command("mcp", "")),
        ("mcp token my laptop", Command("mcp", "token my laptop")),
        ("/mcp revoke #2", Command("mcp", "revoke #2")),
        ("mcp tokens.", Command("mcp", "tokens")),
        ("mcp is a protocol, what does it do?", None),
    ],
)
def test_the_words_are_read_and_others_are_the_assistants(words: str, command: Command | None) -> None:
    assert chat_words().read(words, "sms") == command


async def test_a_chat_gets_a_link_and_never_a_token(store: Store, clock: StandingClock) -> None:
    commands, ann = _commands(store, clock), await _ann(store)
    said = await commands.answer("token lap & top", ann)
    assert said is not None
    assert "https://valet.example/console/sign-in/" in said
    assert said.endswith("?to=programs&name=lap+%26+top")
    assert "ovt_" not in said
    assert await store.db.client_tokens.count() == 0
    assert "not set up here" in str(await _commands(store, clock, "").answer("token laptop", ann))


async def test_tokens_are_listed_with_their_last_use_and_revoked_by_number(store: Store, clock: StandingClock) -> None:
    commands, ann = _commands(store, clock), await _ann(store)
    assert "No program can ask me" in str(await commands.answer("", ann))
    first = await commands.tokens.make(ann.id, "laptop", clock.now(), timedelta(days=90))
    second = await commands.tokens.make(ann.id, "desk *top*", clock.now(), None)
    assert first is not None
    assert second is not None
    assert await commands.tokens.client(second.secret, clock.now()) is not None
    listed = str(await commands.answer("tokens", ann))
    assert "1. laptop: never used, valid until" in listed
    assert "last used" in listed
    assert "valid until revoked" in listed
    assert "Revoked: laptop" in str(await commands.answer("revoke 1", ann))
    assert "no token with this number" in str(await commands.answer("revoke #1", ann))
    assert await commands.tokens.client(first.secret, clock.now()) is None
    assert await commands.answer("what is that", ann) is None


async def test_a_token_outlives_a_change_of_keys_until_its_key_is_gone(store: Store, clock: StandingClock) -> None:
    ann, now = await _ann(store), clock.now()
    made = await ClientTokens(store.database, store.make_id, [b"old"]).make(ann.id, "laptop", now, None)
    assert made is not None
    assert await ClientTokens(store.database, store.make_id, KEYS).client(made.secret, now) is not None
    assert await ClientTokens(store.database, store.make_id, [b"new"]).client(made.secret, now) is None
    stored = str(await store.one("select client_tokens::text from client_tokens"))
    assert made.secret.removeprefix("ovt_") not in stored


async def test_tokens_of_one_person_are_bounded_and_end(store: Store, clock: StandingClock) -> None:
    tokens, ann, now = ClientTokens(store.database, store.make_id, KEYS), await _ann(store), clock.now()
    made = [await tokens.make(ann.id, str(number), now, timedelta(days=1)) for number in range(MAX_TOKENS + 1)]
    assert made[-1] is None
    assert None not in made[:-1]
    assert await tokens.list(ann.id, now + timedelta(days=2)) == []
    assert made[0] is not None
    assert await tokens.client(made[0].secret, now + timedelta(days=2)) is None


async def test_a_token_without_our_check_sum_is_not_looked_up(store: Store, clock: StandingClock) -> None:
    tokens, ann, now = ClientTokens(store.database, store.make_id, KEYS), await _ann(store), clock.now()
    made = await tokens.make(ann.id, "laptop", now, None)
    assert made is not None
    assert await tokens.client(made.secret, now) is not None
    foreign = "ovt_" + "b" * 43
    hashed = hmac.digest(KEYS[0], foreign.encode(), "sha256")
    await store.db.client_tokens.change({"token_hash": hashed})
    assert await tokens.client(foreign, now) is None
