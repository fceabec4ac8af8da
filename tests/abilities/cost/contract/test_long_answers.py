"""Long answers over every channel: by SMS the person is asked first, elsewhere they come as they are."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.cost.harness import WORDS, Phone, open_phone, without
from tests.contract.harness import exempt

TRIP = "\n".join(
    [
        "You can go to Lisbon for 412 euros.",
        *(f"Some people like the way by the coast best, {'very ' * at}much indeed." for at in range(1, 25)),
        "The flight leaves at 07:10.",
        "Shall I book it?",
    ]
)

by_sms = exempt(slack="it bills nothing", telegram="it bills nothing", email="it bills nothing")


@pytest.fixture
async def phone(channel: str, database_url: str) -> AsyncIterator[Phone]:
    async with open_phone(database_url, channel) as phone:
        yield phone


@pytest.fixture
async def both(channel: str, database_url: str) -> AsyncIterator[Phone]:
    async with open_phone(database_url, channel, chat=True) as phone:
        yield phone


@exempt(sms="it asks first")
async def test_a_long_answer_comes_whole_where_texts_cost_nothing(phone: Phone) -> None:
    read = await phone.hears(WORDS)
    assert " ".join(read).split() == WORDS.split()
    assert await phone.ways() == []


@by_sms
async def test_a_long_answer_is_asked_about_first(both: Phone) -> None:
    both.priced(("+44", "0.05"), ("+1", "0.0083"), ("", "1"))
    [question] = await both.hears(WORDS)
    assert question.splitlines() == [
        "My answer is 15 texts long and costs US$0.12.",
        "SEND: all of it",
        "SHORT: a shortened one",
        "READ: a link to it",
        "CHAT: in Telegram",
        "If you do not choose, a shortened one and a link come in an hour.",
    ]
    assert await both.store.one("select max(segments) from outbound_parts") == 2


@by_sms
@pytest.mark.parametrize("word", ["SEND", " send. "])
async def test_all_of_it_comes_once_if_the_person_chooses_that(phone: Phone, word: str) -> None:
    await phone.hears(WORDS)
    read = await phone.says(word)
    assert " ".join(read).split() == WORDS.split()
    assert await phone.hears("Sent what?", word) == ["Sent what?"], "it is a text like any other afterwards"
    assert await phone.ways() == ["send"]


@by_sms
@pytest.mark.parametrize("word", ["SHORT", "short"])
async def test_it_comes_shortened_and_more_sends_all_of_it(phone: Phone, word: str) -> None:
    await phone.hears(TRIP)
    [short] = await phone.says(word)
    sentences, note = short.removesuffix("\n\n(Shortened. MORE: all of it)"), "(... more: reply MORE)"
    assert short != sentences
    assert sentences.startswith("You can go to Lisbon for 412 euros.")
    assert "The flight leaves at 07:10." in sentences
    assert sentences.endswith("Shall I book it?")
    assert all(sentence in TRIP for sentence in sentences.splitlines())
    texts, segments = list[str](), "select sum(segments) from outbound_parts where outbound_id like '%.short'"
    assert int(str(await phone.store.one(segments))) <= 3
    while not texts or texts[-1].endswith(note):
        texts += await phone.says("MORE")
    assert " ".join(map(without, texts)).split() == TRIP.split()
    assert len(phone.system.model.requests) == 2, "of the greeting and of the answer"


@by_sms
async def test_more_in_answer_to_the_question_sends_it_shortened(phone: Phone) -> None:
    await phone.hears(WORDS)
    [short] = await phone.says("MORE")
    assert short.startswith("word00000 ")
    assert await phone.waits(hours=2) == []
    assert await phone.ways() == ["over"]


@by_sms
async def test_it_comes_in_the_other_chat_if_the_person_chooses_that(both: Phone) -> None:
    await both.hears(WORDS)
    assert both.chat is not None
    seen = len(both.chat.bubbles())
    assert await both.says("chat") == ["You will find it in Telegram."]
    assert " ".join(bubble.text for bubble in both.chat.bubbles()[seen:]).split() == WORDS.split()


@by_sms
async def test_without_another_chat_none_is_offered(phone: Phone) -> None:
    [question] = await phone.hears(WORDS)
    assert "CHAT" not in question
    assert await phone.hears("Which chat?", "CHAT") == ["Which chat?"]
    assert await phone.ways() == [""], "the question stands"


@by_sms
async def test_after_an_hour_a_shortened_one_and_a_link_come(phone: Phone) -> None:
    await phone.hears(WORDS)
    assert await phone.waits(minutes=59) == []
    short, link = await phone.waits(minutes=2)
    assert short.startswith("word00000 ")
    assert link.startswith("You can read all of it here for seven days: https://valet.example.com/answer/")
    assert await phone.waits(hours=2) == []
    texts = [*await phone.says("MORE"), *await phone.says("MORE")]
    assert " ".join(map(without, texts)).split() == WORDS.split()
    assert await phone.ways() == ["lapsed"]


@by_sms
async def test_without_a_public_address_no_link_is_offered(phone: Phone) -> None:
    phone.reopen(url="")
    [question] = await phone.hears(WORDS)
    assert "READ" not in question
    assert question.endswith("If you do not choose, a shortened one comes in an hour.")
    [short] = await phone.waits(minutes=61)
    assert short.startswith("word00000 ")


@by_sms
async def test_an_answer_up_to_the_limit_comes_at_once(phone: Phone) -> None:
    phone.reopen(most=15)
    read = await phone.hears(WORDS)
    assert read[0].startswith("word00000 ")
    assert await phone.ways() == []


@by_sms
async def test_a_person_lowers_the_limit_and_raises_it_no_further(phone: Phone) -> None:
    five = WORDS[:700]
    assert " ".join(await phone.hears(five)).split() == five.split()
    assert await phone.says("ask above 4") == ["By SMS I ask before an answer of more than 4 texts."]
    [question] = await phone.hears(five)
    assert question.startswith("My answer is 5 texts long.")
    assert "write 3 or more" in (await phone.says("ask above 2"))[0]
    assert await phone.says("Ask above 99") == [
        "By SMS I ask before an answer of more than 12 texts. That is the maximum here."
    ]
    assert " ".join(await phone.hears(five)).split() == five.split()


@by_sms
async def test_the_question_speaks_the_persons_language_and_currency(phone: Phone) -> None:
    await phone.store.db.tenants.change({"language": "de"})
    phone.reopen(currency="EUR=0.5")
    phone.priced(("", "0.02"))
    [question] = await phone.hears(WORDS)
    assert "15 SMS" in question
    assert "0,15" in question
    assert "€" in question
    assert "SENDEN: alles" in question
    read = await phone.says("senden")
    assert " ".join(read).split() == WORDS.split()


@by_sms
async def test_a_word_after_another_answer_means_no_old_one(phone: Phone) -> None:
    await phone.hears(WORDS)
    await phone.hears("Yes.", "is it raining?")
    assert await phone.hears("Send what?", "send") == ["Send what?"]
    assert len(await phone.waits(minutes=61)) == 2, "nothing is lost"
