"""The demo model in the languages of the product: what it understands, and in which it answers."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.turns.decide_tool import DECIDE
from core.turns.prompt_lines import LANGUAGE, NOW, PENDING
from tests.workbench.demo.test_model import labels, says
from workbench.demo import model as demo
from workbench.demo.languages import language_written
from workbench.demo.phrases import TABLES, Phrases

NOTHING: JsonObject = {}
TOOLS = [
    "get_weather", "SendEmailAgent", "remind_me", "remember", "list_memories", "ask_to_forget", "search_memory",
    "current_time", "calculate", "add_note", "list_notes", "export_notes", "forget_note",
    "FlightSearchAgent", "ScheduleTask",
    "list_tasks", "undo_last", "why_task", "stop_task", "pause_task", "resume_task", "read_page",
    "search_mail", "connect_account", "list_accounts", "disconnect_account", "list_events", "find_events",
    "find_free_time", "create_event", "change_event", "cancel_event", "add_contact", "find_contacts", "list_contacts",
    "MessageSomeoneAgent", "set_briefing", "brief_me", "search_messages",
]  # fmt: skip
SUNDAY = NOW.format(weekday="Sunday", date="2026-11-22", time="23:10", zone="Europe/Berlin")


def prompt(*lines: str) -> JsonObject:
    """Return the system prompt of Sunday, 22 November 2026, with more lines."""
    return {"role": "system", "content": "\n\n".join(["Be brief.", SUNDAY, *lines])}


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ("Wie wird das Wetter morgen in Berlin?", "get_weather", {"city": "Berlin", "date": "2026-11-23"}),
        ("Wetter in New York am Freitag", "get_weather", {"city": "New York", "date": "2026-11-27"}),
        ("¿Qué tiempo hará mañana en Madrid?", "get_weather", {"city": "Madrid", "date": "2026-11-23"}),
        ("la météo à Lyon", "get_weather", {"city": "Lyon"}),
        ("como está o tempo em Lisboa amanhã?", "get_weather", {"city": "Lisboa", "date": "2026-11-23"}),
        ("明天北京天气怎么样", "get_weather", {"city": "北京", "date": "2026-11-23"}),
        ("erinnere mich in 5 Minuten an den Tee", "remind_me", {"at": "in 5 Minuten", "text": "den Tee"}),
        (
            "Erinnere mich bitte morgen um 9 Uhr daran, Mama anzurufen",
            "remind_me",
            {"at": "morgen um 9 Uhr", "text": "Mama anzurufen"},
        ),
        ("erinnere mich an den Tee", "remind_me", {"text": "den Tee"}),
        ("recuérdame llamar a mamá mañana a las 9", "remind_me", {"at": "mañana a las 9", "text": "llamar a mamá"}),
        ("rappelle-moi dans 5 minutes d'appeler maman", "remind_me", {"at": "dans 5 minutes", "text": "appeler maman"}),
        ("lembra-me de ligar à mãe amanhã às 9", "remind_me", {"at": "amanhã às 9", "text": "ligar à mãe"}),
        ("5分钟后提醒我喝茶", "remind_me", {"at": "5分钟后", "text": "喝茶"}),
        ("Merk dir, dass ich gern rudere.", "remember", {"statement": "Ich rudere gern"}),
        ("retiens que je rame", "remember", {"statement": "je rame"}),
        ("o que sabe sobre mim?", "list_memories", NOTHING),
        ("¿Qué sabes de mí?", "list_memories", NOTHING),
        ("忘记我不吃坚果", "ask_to_forget", {"what": "我不吃坚果"}),
        ("oublie que je rame", "ask_to_forget", {"what": "je rame"}),
        ("nein danke", ANSWER, {"drop": True}),
        ("d'accord", ANSWER, {"words": "yes"}),
    ],
)
def test_a_sentence_of_another_language_becomes_a_call(sentence: str, tool: str, arguments: JsonObject) -> None:
    answer = demo.answer([prompt(), says(sentence)], [*TOOLS, ANSWER])
    assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [(tool, arguments)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.language)
def test_each_example_of_the_help_is_understood(table: Phrases) -> None:
    for tool, example in table.examples.items():
        asked = demo.answer([prompt(), says(example)], TOOLS)
        assert [call.name for call in asked.tool_calls] == [tool], example
        assert language_written(example) == table.language, example


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Was kannst du?", "Ich bin das Demo-Modell"),
        ("¿qué puedes hacer?", "Soy el modelo de demostración"),
        ("que savez-vous faire ?", "Je suis le modèle de démonstration"),
        ("o que sabe fazer?", "Sou o modelo de demonstração"),
        ("你会什么?", "我是演示模型"),
        ("Ich hätte gern ein Bier", "Ich verstehe „Ich hätte gern ein Bier“ nicht."),
        ("Как дела?", 'I do not understand "Как дела?".'),
    ],
)
def test_with_no_language_set_it_answers_in_the_one_it_reads(asked: str, said: str) -> None:
    text = demo.answer([prompt(), says(asked)], TOOLS).text
    assert text.startswith(said)
    assert text.endswith(labels())
    assert ("I know phrases in English, Spanish" in text) is ("Как" in asked)


@pytest.mark.parametrize(
    ("asked", "said", "tells_languages"),
    [
        ("Ich hätte gern ein Bier", "Ich verstehe „Ich hätte gern ein Bier“ nicht.", False),
        ("Je voudrais réserver une table", "Je ne comprends pas", False),
        ("Как дела?", "I do not understand", True),
        ("今日はどうですか", "I do not understand", True),
        ("what is love?", "I do not understand", False),
        ("Was kannst du?", "I am the demo model", False),
    ],
)
def test_what_is_not_understood_is_answered_in_its_own_language(asked: str, said: str, tells_languages: bool) -> None:
    text = demo.answer([prompt(LANGUAGE.format(language="en")), says(asked)], TOOLS).text
    assert text.startswith(said)
    assert ("I know phrases in English, Spanish" in text) is tells_languages


def test_examples_stand_in_the_quotation_marks_of_their_language() -> None:
    for language, quoted in (
        ("de", "„Notiz: Milch kaufen“"),
        ("es", "«¿qué hora es en Tokio?»"),
        ("zh", "“东京现在几点？”"),
    ):
        text = demo.answer([prompt(LANGUAGE.format(language=language)), says("help")], TOOLS).text
        assert quoted in text
        assert '"' not in text


def test_no_space_stands_before_a_full_width_bracket() -> None:
    assert demo.answer([prompt(), says("谢谢")], TOOLS).text == "不客气。（演示模型）"


def test_the_language_that_is_set_goes_before_the_one_it_reads() -> None:
    text = demo.answer([prompt(LANGUAGE.format(language="fr-CA")), says("Was kannst du?")], TOOLS).text
    assert text.startswith("Je suis le modèle de démonstration")
    assert "quelle heure est-il à Tokyo" in text


def test_a_card_is_changed_by_what_it_calls_its_fields() -> None:
    waits = PENDING.format(code="7K", summary="Late", action='send_mail {"to": "sam@example.com", "subject": "Late"}')
    for said in ("ändere den Betreff auf Spät", "把主题改成Spät", "cambia el asunto a Spät", "EDIT 7K Betreff: Spät"):
        language = {"把": "zh", "c": "es"}.get(said[0], "de")
        messages = [prompt(LANGUAGE.format(language=language), waits), says(said)]
        [call] = demo.answer(messages, [DECIDE]).tool_calls
        [decision] = json.loads(call.arguments)["decisions"]
        assert decision == {"code": "7K", "decision": "edit", "changes": {"subject": "Spät"}}


@settings(deadline=None)  # the first date loads the parser's languages
@given(st.sampled_from([example for table in TABLES for example in table.examples.values()]), st.text(max_size=40))
def test_any_end_of_a_sentence_gets_a_call_or_an_answer(example: str, end: str) -> None:
    messages = [prompt(), says(f"{example[:-4]}{end}")]
    answer = demo.answer(messages, TOOLS)
    assert answer.tool_calls or answer.text.endswith(labels())
    assert demo.answer(messages, TOOLS) == answer
