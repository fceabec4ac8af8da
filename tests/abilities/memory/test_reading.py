"""What is read from a question and from a statement by rule: times, slots, other people's facts."""

from datetime import UTC, datetime

import pytest

from abilities.memory.extraction.rules_others import Fact, facts_of
from abilities.memory.extraction.rules_self import knowledge_of
from abilities.memory.recall.question import read_question
from abilities.memory.recall.time_expressions import period_of
from tests.abilities.memory.harness import NOW


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("last spring", "2026-03-01", "2026-06-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("this summer", "2026-06-01", "2026-09-01"),
        ("in winter", "2025-12-01", "2026-03-01"),
        ("last autumn", "2025-09-01", "2025-12-01"),
        ("last weekend", "2026-06-13", "2026-06-15"),
        ("last Monday", "2026-06-08", "2026-06-09"),
        ("last Sunday", "2026-06-14", "2026-06-15"),
        ("3 days ago", "2026-06-11", "2026-06-13"),
        ("two months ago", "2026-04-01", "2026-05-02"),
        ("the day before yesterday", "2026-06-13", "2026-06-14"),
        ("yesterday", "2026-06-14", "2026-06-15"),
        ("in July", "2025-07-01", "2025-08-01"),
        ("in June", "2026-06-01", "2026-07-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("in 2024", "2024-01-01", "2025-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last month", "2026-05-01", "2026-06-01"),
        ("last week", "2026-06-08", "2026-06-16"),
        ("since March", "2026-03-01", "2026-06-16"),
    ],
)
def test_a_time_that_a_question_names_is_a_period(words: str, first: str, last: str) -> None:
    period = period_of(f"Where did I eat {words}?", NOW)
    assert period is not None
    assert (f"{period.start:%Y-%m-%d}", f"{period.end:%Y-%m-%d}") == (first, last)


@pytest.mark.parametrize(
    "words",
    ["on Thursday evenings", "with spring water", "falling asleep", "at a market"],
)
def test_what_names_no_single_time_is_no_period(words: str) -> None:
    assert period_of(f"What do I drink {words}?", NOW) is None


@pytest.mark.parametrize(("words", "year"), [("in December 9999", 2025), ("in May 0000", 2026)])
def test_a_number_that_is_no_year_is_left_out_of_the_time(words: str, year: int) -> None:
    period = period_of(f"Where did I eat {words}?", NOW)
    assert period is not None
    assert period.start.year == year


def test_a_year_later_the_same_words_mean_the_next_year() -> None:
    later = period_of("last winter", datetime(2027, 6, 1, tzinfo=UTC))
    assert later is not None
    assert later.start.year == 2026


def test_a_winter_that_has_not_ended_is_not_the_last_one() -> None:
    last = period_of("last winter", datetime(2026, 1, 15, tzinfo=UTC))
    assert last is not None
    assert (last.start, last.end) == (datetime(2024, 12, 1, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Greta is a vet now.", Fact("Greta", "their profession", "vet")),
        ("My sister works as a nurse in Graz.", Fact("my sister", "their profession", "nurse")),
        ("My brother Kofi wants to become a baker.", Fact("Kofi", "their profession", "baker")),
        ("Jonas moved to Riga last week.", Fact("Jonas", "their home", "riga")),
        ("Priya works for Norvex.", Fact("Priya", "their work", "norvex")),
        ("My cousin Lukas is allergic to kiwi.", Fact("Lukas", "their allergy", "kiwi")),
        ("Amelie is vegan, by the way.", Fact("Amelie", "their diet", "vegan")),
    ],
)
def test_what_is_said_of_others_is_a_facet_of_theirs(text: str, fact: Fact) -> None:
    assert fact in facts_of(text)
    entities = knowledge_of(text, "person")["entities"]
    assert {"name": fact.kind, "value": fact.value} in [
        facet for entity in entities if entity["name"] == fact.owner for facet in entity["facets"] or ()  # type: ignore[union-attr,index,call-overload]
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["I am a nurse.", "It is a mess.", "Today is a holiday.", "They moved to Riga."])
def test_who_speaks_and_what_is_nobody_owns_no_such_facet(text: str) -> None:
    assert "their " not in str(knowledge_of(text, "person"))


def test_a_question_about_another_person_reads_their_slot() -> None:
    assert "their profession" in read_question("What is my sister's job?", NOW).slots
    assert "their home" in read_question("Where does Greta live?", NOW).slots
    assert "my home" in read_question("Where did I live before Lisbon?", NOW).slots
    assert "my shoe size" in read_question("What is my shoe size?", NOW).slots


@pytest.mark.parametrize(
    "text",
    ["How far is it to be safe?", "I want to be woken at six.", "What has to be done?", "Where is the trade fair?"],
)
def test_words_that_merely_sound_like_a_question_for_a_job_ask_for_none(text: str) -> None:
    assert not {"my profession", "their profession"} & set(read_question(text, NOW).slots)
    assert "their profession" in read_question("What is my brother training to become?", NOW).slots
    assert "their profession" in read_question("What is my brother's trade?", NOW).slots


def test_an_address_of_mail_is_no_home() -> None:
    assert read_question("What is my email address?", NOW).asked_slots >= {"my email"}
    assert "my home" not in read_question("What is my email address?", NOW).slots
    assert "my home" in read_question("What is my new address?", NOW).slots


def test_a_known_name_weighs_less_unless_the_question_asks_for_it() -> None:
    job = read_question("What is my sister's job?", NOW).naming(["greta"])
    assert (job.names, set(job.known)) == (("greta",), {"my sister", "sister"})
    assert "my sister" not in job.asked_slots
    who = read_question("What is my sister's name?", NOW).naming(["greta"])
    assert "my sister" in who.asked_slots
