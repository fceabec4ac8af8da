"""Forgetting deletes what was shown and redacts whole words: nothing that was not meant, and nothing is left behind."""

import asyncio
import json

import pytest

from abilities.memory.momex import Momex
from abilities.memory.store.vectors_and_terms import insert_terms
from abilities.memory.telling_words import phrases_of
from abilities.memory.types import ASSISTANT, Kind
from core.db.database import Database
from core.errors import ToolRetry
from tests.abilities.memory.harness import NOW, holding, make_momex, told, vector_of
from tests.abilities.memory.talk import Talk
from tests.core.harness import opened
from tests.locks import until_blocked

SAID = [
    ("I volunteer at the community garden.", "unit", False),
    ("I rent a storage unit.", "unit", True),
    ("UNIT 7 is mine", "unit", True),
    ("units of it", "unit", False),
    ("a unit-linked fund", "unit", True),
    ("my_unit", "unit", False),
    ("Greta's boat", "greta", True),
    ("l'unité", "unit", False),
    ("das Mütterchen", "mütter", False),
    ("Café de\u0301jà", "déjà", True),
    ("cafe\u0301", "cafe", False),
    ("Стоматолог", "мат", False),
    ("мой мат", "мат", True),
    ("我住在北京的东边", "北京", True),
    ("서울에 산다", "서울", True),
    ("ฉันชอบชาเขียว", "ชา", True),
    ("東京タワー", "タワー", True),
    ('{"what": "one\\nunit two"}', "unit", True),
    ("C:\\new\\unit", "unit", True),
    ("nothing", "", False),
]


@pytest.mark.parametrize(("text", "phrase", "says"), SAID)
async def test_only_whole_words_are_redacted_in_any_script(
    text: str, phrase: str, says: bool, database: Database
) -> None:
    [row] = await database.rows(
        "select says_any($1, $2) as text, value_says($3, $2) as value", text, [phrase], {"said": [text]}
    )
    assert (row["text"], row["value"]) == (says, says)


@pytest.mark.parametrize(
    ("text", "asked", "phrases"),
    [
        ("I rent a storage unit in Hull.", "my storage unit", ["hull", "storage unit"]),
        ("Volunteering on Tuesday, 2026-06-15, or in June 2027.", "", []),
        ("We moved on Monday 15-06-2026. Nothing else. Greta helped Tomas.", "", ["tomas"]),
        ("Mi cita es el Martes con Ottilie a las 12:30.", "my date", ["ottilie"]),
        ("My locker is number 448812.", "", ["448812"]),
        ("我住在北京的东边", "北京", ["北京"]),
        ("I met Ada in Leeds.", "on Tuesday", ["leeds"]),
    ],
)
def test_dates_and_first_words_are_never_phrases_to_redact(text: str, asked: str, phrases: list[str]) -> None:
    assert phrases_of([text], [asked], []) == [text, *phrases]


def test_a_word_that_another_memory_uses_is_no_phrase_to_redact() -> None:
    text = "I rent a storage unit in Hull."
    assert phrases_of([text], ["storage unit"], ["My sister lives in Hull.", "Storage units leak."]) == [text]


async def test_forgetting_a_storage_unit_leaves_the_community_garden(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn("I volunteer at the community garden.", "The community will be glad.")
        await talk.turn("I rent a storage unit in Hull.", "Noted.")
        await talk.turn(
            "Forget my storage unit", "You rent a storage unit in Hull. Forget it?", "ask", "my storage unit"
        )
        await talk.turn("yes", "Your storage unit is forgotten.", act="forget")
        assert await holding(talk.momex, talk.tenant_id) == [
            "I volunteer at the community garden.", "The community will be glad.",
        ]  # fmt: skip
        assert await store.db.inbound.column("text", order="seq") == [
            "I volunteer at the community garden.", "[forgotten]", "[forgotten]", "yes",
        ]  # fmt: skip
        assert await store.db.memory_forgettings.column("phrases") == []


async def test_no_phrase_is_kept_because_an_approval_has_the_same_date(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        day = f"{NOW:%Y-%m-%d}"
        await talk.turn(f"My dentist is due on {day}, near the canal.", "Noted.")
        turn_id = await store.one("select id from turns limit 1")
        await store.admin.execute(
            "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary,"
            " arguments, shown, code, token, timeout, sealed_head, sealed_tail, state, created_at)"
            " values ($1,'a1',$2,'0.1',1,'c','buy','Buy tea',$3,'[]','7K','t1','1 hour','h','t','cancelled',$4)",
            talk.tenant_id, turn_id, json.dumps({"when": day}), NOW,
        )  # fmt: skip
        await talk.turn("Forget the dentist", "Shall I?", "ask", "dentist")
        await talk.turn("yes", "Done.", act="forget")
        assert await store.db.memory_forgettings.column("phrases") == []
        assert await store.one("select arguments ->> 'when' from approvals") == day


async def test_what_was_not_shown_stays_even_if_it_matches_by_then(momex: Momex) -> None:
    await momex.add_now("ann", [told("I row on Tuesdays.")])
    shown = [memory.line() for memory in await momex.for_tenant("ann", "t1").ask_to_forget("row")]
    assert shown == ["1. I row on Tuesdays. (Mon 15 Jun 2026, you told me)"]
    await momex.add_now("ann", [told("I row with Ottilie.")])
    assert await momex.for_tenant("ann", "t1").forget(shown) == 1
    await momex.work.tidy(NOW)
    assert await holding(momex, "ann") == ["I row with Ottilie."]
    assert await momex.for_tenant("ann", "t1").forget(shown) == 1, "again changes nothing"
    assert await holding(momex, "ann") == ["I row with Ottilie."]


async def test_an_answer_read_between_question_and_consent_goes_too(momex: Momex) -> None:
    before = told("Otters swim in Whitby.", kind=Kind.INFERRED, speaker=ASSISTANT)
    await momex.add_now("ann", [before, told("I moor my boat in Whitby.")])
    shown = [memory.line() for memory in await momex.for_tenant("ann", "t1").ask_to_forget("", [2])]
    later = told("Of course, it is in Whitby.", kind=Kind.INFERRED, speaker=ASSISTANT)
    await momex.add_now("ann", [later, told("Tea calms.", kind=Kind.INFERRED, speaker=ASSISTANT)])
    assert await momex.for_tenant("ann", "t1").forget(shown) == 1
    await momex.work.tidy(NOW)
    assert await holding(momex, "ann") == ["Otters swim in Whitby.", "Tea calms."]


async def test_forgetting_waits_for_a_job_that_read_the_words_before(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn("I moor my boat in Quixotania.", "Noted.")
        await talk.momex.work.add(talk.tenant_id, "j1", "", [told("Tea calms.")], infer=True)
        assert await talk.momex.work.claim("j1", "slow") is not None
        memory = talk.momex.for_tenant(talk.tenant_id, "t1")
        assert await memory.forget([line.line() for line in await memory.ask_to_forget("Quixotania")]) > 0
        await talk.momex.work.tidy(NOW)
        echo = told("Of course, it is in Quixotania.", kind=Kind.INFERRED, speaker=ASSISTANT)
        await talk.momex.add_now(talk.tenant_id, [echo])
        await store.db.memory_jobs.delete()
        await talk.momex.work.tidy(NOW)
        assert await talk.dump() == {}


@pytest.mark.parametrize("line", ["1. I row on Fridays.", "2. I row on Tuesdays.", "I row on Tuesdays.", "0. I row."])
async def test_a_line_that_is_not_remembered_so_forgets_nothing(momex: Momex, line: str) -> None:
    await momex.add_now("ann", [told("I row on Tuesdays.")])
    with pytest.raises(ToolRetry, match="not what is remembered"):
        await momex.for_tenant("ann", "t1").forget(["1. I row on Tuesdays.", line])
    assert await holding(momex, "ann") == ["I row on Tuesdays."]


async def test_memories_named_by_number_go_with_the_echo_of_the_assistant(momex: Momex) -> None:
    await momex.add_now("ann", [told("I row on Tuesdays."), told("I swim on Mondays.")])
    await momex.add_now("ann", [told("Noted, you row on Tuesdays.", kind=Kind.INFERRED, speaker=ASSISTANT)])
    meant = await momex.for_tenant("ann", "t1").ask_to_forget("", [1])
    assert [memory.number for memory in meant] == [1, 3]


async def test_an_index_built_during_the_forgetting_puts_no_term_back(momex: Momex, database: Database) -> None:
    await momex.add_now("ann", [told("I rent a storage unit in Quixotania.")])
    assert await momex.for_tenant("ann", "t1").ask_to_forget("storage unit")
    again = {"quixotania": vector_of("quixotania")}
    async with database.tenant("ann") as building:
        await building.execute("delete from memory_terms")  # as an index that finds none embeds them again
    async with database.tenant("ann") as building:
        # What VectorStore.add_terms does, held up between its two statements.
        epoch = await building.fetchval("select epoch from memory_versions where tenant_id = 'ann' for update")
        forgetting = asyncio.create_task(momex.for_tenant("ann", "t2").forget())
        await until_blocked(building.fetchval)
        await insert_terms(building, "ann", "words", again)
    assert await forgetting == 1
    assert await _terms(database) == []
    await momex.store.vectors.add_terms("ann", "words", again, epoch)
    assert await _terms(database) == [], "the build has read what is gone"


async def _terms(database: Database) -> list[str]:
    rows = await database.tenant_rows("ann", "select term from memory_terms where tenant_id = $1")
    return [row["term"] for row in rows]
