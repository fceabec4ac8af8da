"""A question states, ends and lists nothing, however it is put; what is told beside it is kept."""

import itertools

import pytest

from abilities.memory.momex import Momex
from core.errors import ToolRetry
from core.language.asking import asks, without_question
from tests.abilities.memory.harness import everything, holding, told

FACTS = [
    "My sister is called Ottilie.",
    "I live in Graz.",
    "My boss is Dana Wells.",
    "My dog is called Rex.",
    "I drive a Volvo.",
    "I work at Norvex.",
    "My favourite colour is green.",
    "I am allergic to walnuts.",
]
ASKED = [
    "what's my sister's name",
    "what is my sister called",
    "whats my sisters name",
    "who is my sister",
    "what was my sister called",
    "where do I live",
    "where am I living now",
    "which city do I live in",
    "who's my boss",
    "what is my boss's name",
    "is my boss Dana or Tom",
    "do I work at Norvex or at Tavira",
    "what car do I drive",
    "have I moved to Lisbon",
    "do I no longer live in Graz",
    "did I say that my favourite colour is blue",
    "am I allergic to peanuts",
    "what's my dog called",
    "how old is my sister Greta",
    "which is my favourite colour",
]
FRAMES = [
    "{0}?",
    "{0}",
    "Hey, {0}?",
    "ok so {0} again?",
    "Please, {0}??",
    "And {0}? 🙂",
    "Hi there! {0}?",
    "Do you know {0}?",
    "Tell me, {0}?",
    "{0}, do you remember?",
]
INDIRECT = [
    "Tell me what my sister is called.",
    "Remind me where I live.",
    "I wonder what my boss is called.",
    "I forgot what my sister's name is.",
    "I can't remember where I live.",
    "I'd like to know what my favourite colour is",
    "Can you tell me my boss's name?",
    "Do you remember my sister's name?",
    "My sister's name?",
    "My boss is?",
    "My favourite colour is what?",
    "I live where, again?",
    "Is it true that I live in Berlin?",
    "You know where I live, right?",
    "Wo wohne ich?",
    "Wie heißt meine Schwester",
    "¿Cómo se llama mi hermana?",
    "Dónde vivo",
    "Où est-ce que j'habite ?",
    "Comment s'appelle ma sœur",
    "Onde eu moro?",
    "Como se chama minha irmã",
    "我住在哪里？",
    "我的狗叫什么名字",
    "你知道我住在哪里吗",
]
QUESTIONS = [
    *(
        frame.format(each if frame[:2] != "{0" else each.capitalize())
        for frame, each in itertools.product(FRAMES, ASKED)
    ),
    *INDIRECT,
]
STATEMENTS = [
    *FACTS,
    "Where I live it rains a lot.",
    "When I lived in Berlin I had a cat.",
    "What I like most is green tea.",
    "How I hate Mondays.",
    "Who dares wins, as my father says.",
    "What's more, I moved to Lisbon.",
    "May is my favourite month.",
    "Will is my brother.",
    "I know where the key is: under the mat.",
    "My mother asked me “are you well?”",
    "I would like to work in Lisbon.",
    "I can't remember names.",
    "I forgot to buy milk.",
    "So I moved to Lisbon.",
    "Wo ich wohne, regnet es oft.",
    "Was mir gefällt, ist Tee.",
    "Donde vivo hay mar.",
    "Qué bien, ya vivo en Madrid.",
    "Quand j'étais petit, j'habitais Lyon.",
    "Quando eu morava no Porto, era feliz.",
    "我什么都喜欢。",
    "我住在北京。",
]


def test_two_hundred_ways_of_asking_are_questions() -> None:
    assert len(QUESTIONS) >= 200
    assert [text for text in QUESTIONS if not asks(text.removeprefix("Hi there! "))] == []


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_is_no_question(text: str) -> None:
    assert without_question(text) == text


async def test_asking_in_two_hundred_ways_states_ends_and_lists_nothing(momex: Momex) -> None:
    await momex.add_now("ann", [told(fact, days_ago=9) for fact in FACTS])
    before = await everything(momex, "ann")
    assert [memory.text for memory in before] == FACTS
    await momex.adder.add("ann", "", [told(text, key=f"q{number}") for number, text in enumerate(QUESTIONS)])
    assert [memory.text for memory in await everything(momex, "ann")] == FACTS
    assert await everything(momex, "ann") == before
    assert [memory.text for memory in await momex.for_tenant("ann").overview()] == FACTS[::-1]


async def test_a_fact_is_recalled_after_it_was_asked_about(momex: Momex) -> None:
    question = "What's my sister's name?"
    await momex.add_now("ann", [told(FACTS[0])])
    await momex.add_now("ann", [told(question)])
    assert [hit.memory.text for hit in (await momex.search("ann", question)).found] == [FACTS[0]]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I live in Graz, where can I eat well?", ["I live in Graz"]),
        ("My sister is called Ottilie and when is her birthday?", ["My sister is called Ottilie"]),
        ("I moved to Lisbon, ok?", ["I moved to Lisbon"]),
        ("Can you remember that I am vegetarian?", ["I am vegetarian"]),
        ("Where can I eat? I am vegetarian.", ["I am vegetarian."]),
        ("我住在北京。我的狗叫什么？", ["我住在北京。"]),
        ("When I lived in Berlin, what was my address?", []),
        ("If I lived in Berlin, where would I work?", []),
        ("I wanted to ask, where do I live?", []),
    ],
)
async def test_what_is_told_beside_a_question_is_kept(momex: Momex, text: str, kept: list[str]) -> None:
    await momex.add_now("ann", [told(text)])
    assert await holding(momex, "ann") == kept


@pytest.mark.parametrize(
    "text", ["My boss's birthday is in May.", "My boss's name.", "My boss's car is a Volvo.", "My dog's name is long."]
)
async def test_what_belongs_to_somebody_does_not_replace_their_name(momex: Momex, text: str) -> None:
    await momex.add_now("ann", [told("My boss is Dana Wells.", days_ago=2), told("My dog is called Rex.", days_ago=2)])
    await momex.add_now("ann", [told(text)])
    assert (await holding(momex, "ann"))[:2] == ["My boss is Dana Wells.", "My dog is called Rex."]


async def test_a_question_is_refused_by_the_tools_that_store_statements(momex: Momex) -> None:
    access = momex.for_tenant("ann", "t1")
    [kept] = await access.remember(FACTS[1], "k1")
    with pytest.raises(ToolRetry, match="asks"):
        await access.remember("Where do I live?", "k2")
    with pytest.raises(ToolRetry, match="asks"):
        await access.correct(kept.number, "Do I live in Berlin?", "k3")
    assert await holding(momex, "ann") == [FACTS[1]]
