"""Messages are found by their words: whose, when, in which languages, and by which index."""

import json
from collections.abc import AsyncIterator

import pytest

from core.messaging.search import FoundAfter, PersonMessages, excerpt, find_said
from tests.core.harness import Store, opened

ANN, BOB = "+15550000001", "+15550000002"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as store:
        yield store


async def _talk(store: Store, said: str, answered: str, sender: str = ANN) -> None:
    await store.say(said, sender=sender)
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, answered)
    await store.send(await store.claim_sending(answered))


async def _person(store: Store, sender: str = ANN) -> PersonMessages:
    tenant = await store.db.person(sender)
    return PersonMessages(store.database, str(tenant))


async def _texts(person: PersonMessages, words: str) -> list[str]:
    return [message.text for message in await person.search(words)]


async def test_both_sides_are_found_the_newest_first(store: Store) -> None:
    await _talk(store, "The boiler is leaking again", "I asked the plumber about the boilers.")
    await _talk(store, "Thanks", "You are welcome.")
    person = await _person(store)
    found = await person.search("boiler")
    assert [(message.inward, message.text) for message in found] == [
        (False, "I asked the plumber about the boilers."),
        (True, "The boiler is leaking again"),
    ]
    assert await _texts(person, "leaks boilers") == ["The boiler is leaking again"]
    assert await _texts(person, '"boiler is"') == ["The boiler is leaking again"]
    assert await _texts(person, "boiler -plumber") == ["The boiler is leaking again"]
    first = found[0]
    async with store.database.tenant(person.tenant_id) as connection:
        rest = await find_said(connection, person.tenant_id, "boiler", 10, FoundAfter(first.at, first.id))
    assert [message.text for message in rest] == ["The boiler is leaking again"]


async def test_words_are_found_in_languages_without_spaces(store: Store) -> None:
    await _talk(store, "锅炉又漏水了", "Ich habe den Klempner gefragt.")
    person = await _person(store)
    assert await _texts(person, "锅炉") == ["锅炉又漏水了"]
    assert await _texts(person, "炉锅") == []
    assert await _texts(person, "klempner") == ["Ich habe den Klempner gefragt."]


async def test_nobody_finds_what_others_said(store: Store) -> None:
    await _talk(store, "My boiler is old", "Noted.")
    await _talk(store, "Good morning", "Good morning.", sender=BOB)
    ann, bob = await _person(store), await _person(store, BOB)
    assert await _texts(bob, "boiler") == []
    for attempt in (f'"person {ann.tenant_id}"', f"person {ann.tenant_id}", f"morning or 'person {ann.tenant_id}'"):
        assert "My boiler is old" not in await _texts(bob, attempt)
    rows = await store.database.rows("select * from find_messages('boiler', null, '', 10)")
    assert rows == [], "without a person nothing is found"


@pytest.mark.parametrize("words", ["", "   ", "-", '"', "' & | !", "\\", "a:*b", "(", "!!x"])
async def test_no_question_is_an_error(store: Store, words: str) -> None:
    await _talk(store, "x", "y")
    assert isinstance(await _texts(await _person(store), words), list)


async def test_a_waiting_message_has_no_words_yet(store: Store) -> None:
    await store.say("The boiler is leaking")
    assert await store.db.message_words.count() == 0, "a webhook writes no words"
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "I see.")
    assert await store.db.message_words.count() == 1


async def test_what_is_changed_is_no_longer_found(store: Store) -> None:
    await _talk(store, "My code is swordfish", "Noted: swordfish.")
    person = await _person(store)
    assert len(await person.search("swordfish")) == 2
    await store.db.inbound.change({"text": "[forgotten]"})
    await store.db.outbound.change({"text": ""})
    assert await person.search("swordfish") == []
    assert await _texts(person, "forgotten") == ["[forgotten]"]


@pytest.mark.whole("it fills a table")
async def test_a_rare_word_is_looked_up_in_the_index(store: Store) -> None:
    await _talk(store, "The boiler is leaking", "Noted.")
    person = await _person(store)
    await store.admin.execute(
        "insert into message_words (tenant_id, message_id, conversation_id, inward, at, words)"
        " select c.tenant_id, 'm' || n, c.id, true, now() + n * interval '1 minute',"
        "  message_words_of(c.tenant_id, 'message about things ' || n % 1000)"
        " from conversations c, generate_series(1, 20000) n"
    )
    await store.admin.execute("analyze message_words")
    plan = json.loads(
        str(
            await store.one(
                "explain (format json) select w.message_id from message_words w where w.tenant_id = '"  # noqa: S608
                f"{person.tenant_id}' and w.words"
                f" @@ (words_query('boiler') && '''person {person.tenant_id}'''::tsquery)"
            )
        )
    )
    assert "message_words_words" in json.dumps(plan)
    assert await _texts(person, "boiler") == ["The boiler is leaking"]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("The boiler leaks", "boilers", ("The ", "boiler", " leaks")),
        ("No flights, no flight", "flight", ("No ", "flights", ", no flight")),
        ("long words " * 20 + "boiler", "boiler", ("…" + "words " + "long words " * 10, "boiler", "")),
        ("nothing of it", "boiler", ("", "", "nothing of it")),
        ("x" * 200 + " Boiler", "boiler", ("…" + "x" * 119 + " ", "Boiler", "")),
        ("a+b=c", "b=", ("a+", "b", "=c")),
    ],
)
def test_an_excerpt_shows_the_word_where_it_stands(text: str, words: str, expected: tuple[str, str, str]) -> None:
    assert excerpt(text, words) == expected
