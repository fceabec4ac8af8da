"""Answers without a model: what lets go of a question, or asks for more, in every language, is not its value."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.agents.field_collection import plain_answer
from core.agents.fields import InputField
from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus

TEXT = InputField("What shall I remind you of?")
TEXT.name = "text"
ENTRY = PoolEntry(
    "agt_1", "remind_me", None, "t", "", "c", AgentStatus.WAITING_FOR_INPUT, "1", datetime.now(UTC), asked=("text",)
)


@pytest.mark.parametrize(
    "said",
    [
        "never mind",
        "no thanks",
        "nein danke",
        "abbrechen",
        "no, gracias",
        "déjalo",
        "non merci",
        "annulez",
        "não, obrigada",
        "deixe",
        "算了",
        "取消",
    ],
)
def test_words_that_let_go_of_a_question_are_no_answer(said: str) -> None:
    assert plain_answer(ENTRY, {"text": TEXT}, said) is None
    assert plain_answer(ENTRY, {"text": TEXT}, f"{said} Bob") is not None


@pytest.mark.parametrize(
    "said",
    [
        "remind me tomorrow at 9 to call mum", "weather in Rome", "flights from Berlin to Rome on Friday",
        "what have I got scheduled", "note: buy milk", "every weekday at 7 the weather in Berlin", "/prefs language de",
        "Erinnere mich morgen um 9 an den Tee", "Wetter morgen in Rom", "Flüge von Berlin nach Rom",
        "Notiz: Milch kaufen",
        "Jeden Werktag um 7 das Wetter in Berlin", "Wie heißt meine Schwester",
        "Recuérdame llamar a mamá", "el tiempo mañana en Madrid", "vuelos de Madrid a Roma", "nota: comprar leche",
        "Rappelle-moi d'appeler maman", "la météo demain à Paris", "vols de Paris à Rome", "note : acheter du lait",
        "Lembre-me de ligar à mãe", "o tempo amanhã em Lisboa", "voos de Lisboa para Roma", "nota: comprar leite",
        "提醒我5分钟后喝茶", "明天北京天气怎么样", "下周五从北京到罗马的航班", "笔记：买牛奶",
        "每个工作日早上七点看看我的笔记",
    ],
)  # fmt: skip
def test_a_new_request_is_not_the_value_that_is_asked_for(said: str) -> None:
    assert plain_answer(ENTRY, {"text": TEXT}, said) is None


@pytest.mark.parametrize(
    "said",
    [
        "call mum", "Mama anrufen", "the note on the door", "Berlin", "New York", "flights of stairs",
        "every Monday at 9",
        "morgen um 9 Uhr", "weather balloons", "tempo médio", "Buy milk and bread", "回家喝茶", "Tell Bob about it",
        "a flight to Rome", "le temps des cerises", "envoyer le colis", "mandar o pacote",
    ],
)  # fmt: skip
def test_a_value_that_sounds_like_a_request_is_taken(said: str) -> None:
    answer = plain_answer(ENTRY, {"text": TEXT}, said)
    assert answer is not None
    assert answer.fields == {"text": said}


@pytest.mark.parametrize(
    ("said", "is_answer"), [("ann@x.org", True), ("tomorrow", False), ("ann@x.org bob@x.org", False)]
)
def test_words_that_the_field_refuses_are_no_answer(said: str, is_answer: bool) -> None:
    address = InputField("Which address?", validator=lambda value: value.count("@") == 1 and " " not in value)
    address.name = "address"
    answer = plain_answer(replace(ENTRY, asked=("address",)), {"address": address}, said)
    assert (answer is not None) is is_answer
