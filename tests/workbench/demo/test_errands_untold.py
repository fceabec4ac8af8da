"""Without a model, nothing is remembered of errands, commands and canned replies; all statements are."""

from contextlib import AsyncExitStack
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.lists.notes import add_note, list_notes
from abilities.memory.config import MomexConfig
from abilities.memory.extraction.ingest import may_tell
from abilities.memory.extraction.speech import spoken_of
from abilities.memory.extraction.statements import statements, worth_keeping
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.tools import list_memories, remember, search_memory
from abilities.memory.types import ASSISTANT, PERSON
from agents.arithmetic import calculate
from agents.clock import current_time
from core.agents.pending_answers import ANSWER
from core.approvals.exact_replies import parse_exact_reply
from core.clock import Clock
from core.db.database import Database
from core.llm.litellm_client import LiteLLMClient
from core.llm.types import ChatMessage, Role
from core.messaging.chat_reader import chat_words
from core.messaging.help_text import words
from core.tools.storage import Storage
from core.turns.decide_tool import DECIDE
from onevalet.settings import Settings
from onevalet.wiring.models import build_models
from onevalet.wiring.recall import open_recall
from tests.abilities.memory.harness import NOW, WordEmbedder
from tests.abilities.memory.test_requests import of
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.harness import Ids
from tests.workbench.demo.test_requests import REQUESTS
from workbench.demo.errands import TELLING, tells_nothing
from workbench.demo.intents import INTENTS
from workbench.demo.model import DEMO_MODEL
from workbench.demo.phrases import TABLES

CHANNELS = ("sms", "slack", "telegram", "terminal")
MORE = {
    "en": """what time is it in Tokyo? | what is 3 percent of 80? | note: buy milk | what are my notes? | forget note 1
        send me my notes as a file
        weather in Berlin tomorrow | flights from Berlin to Rome next Friday | email sam@example.com that I am late
        remind me at 3pm to call mum | every weekday at 8 my notes | every Monday at 9 remind me to water the plants
        what have I got scheduled? | undo it | why didn't task 2 run | stop task 2 | pause task 2 | resume task 2
        forget that I am allergic to nuts | what do you know about me? | read https://example.com/page2
        take a note: the bins go out on Monday | will it rain in Graz on Friday | https://example.com/2
        put milk and eggs on the shopping list | what's on the shopping list? | tick off milk
        note to self: call the bank | every 2 hours remind me to drink
        do I have new mail? | search my mail for the invoice | tell me when Amazon writes | connect my calendar
        which accounts are connected? | disconnect my work account | what's on tomorrow? | when is my next meeting?
        when am I free on Friday? | put dentist in my calendar tomorrow at 3pm | move the dentist to Friday at 4pm
        cancel the dentist in my calendar | what is Sam's number? | show me my contacts | text Sam that I am late
        every morning at 7 send me a briefing | give me my briefing now | find what we said about the boiler
        ask me a question | make it 4pm""",
    "de": """Wetter in Rom | Jeden Werktag um 7 das Wetter in Berlin | Erinnere mich am 3. um 10 Uhr an den Zahnarzt
        Vergiss, dass ich keine Nüsse vertrage | Pausiere Aufgabe 2 | Warum lief Aufgabe 2 nicht
        Was weißt du über mich? | Was steht an?
        Mach 15 Uhr daraus | Ändere den Betreff auf Spät | Wetter morgen in New York | Lies mal https://example.com/2
        Notiz: Die Tür ist offen | Erinnere mich am 31. Februar an den Zahnarzt | Jeden Montag um 9 Müll rausbringen
        Habe ich neue Mails? | Was steht morgen im Kalender? | Wann bin ich morgen frei? | Verbinde meinen Kalender
        Zeig mir meine Kontakte | Wie ist die Nummer von Sam? | Schreib Sam: Ich komme später
        Jeden Morgen um 7 schick mir ein Briefing | Gib mir mein Briefing
        Finde, was wir über den Heizkessel gesagt haben | Frag mich was""",
    "es": """El tiempo en Roma | Recuérdame llamar a mamá mañana a las 9 | Deshazlo | Para la tarea 2
        Continúa con la tarea 2 | ¿Por qué no llegó la tarea 2? | Olvida que no como nueces | ¿Qué sabes de mí?
        Envía un correo a sam@example.com: llego tarde | Vuelos de Madrid a Roma el viernes, vuelta el domingo
        Cambia el asunto a Tarde | Que sea a las 15:00 | Anota comprar pan
        ¿Tengo correos nuevos? | ¿Qué tengo mañana en mi calendario? | ¿Cuándo estoy libre mañana?
        Conecta mi calendario | Muéstrame mis contactos | ¿Cuál es el número de Sam? | Escribe a Sam: llego tarde
        Cada día a las 7 envíame el resumen del día | Dame mi resumen del día
        Busca lo que dijimos sobre la caldera | Hazme una pregunta""",
    "fr": """La météo à Rome demain | Rappelle-moi dans 5 minutes d'appeler maman | Annule le rappel
        Suspendez la tâche 2 | Reprenez la tâche 2 | Pourquoi la tâche 2 n'est pas venue
        Oubliez que je ne mange pas de noix | Que savez-vous de moi ? | Montrez-moi mes notes
        Envoyez un e-mail à sam@example.com : je serai en retard | Change le sujet en Retard | Plutôt 16 h
        Ai-je de nouveaux e-mails ? | Montrez-moi mon agenda de demain | Quand suis-je libre demain ?
        Connectez mon agenda | Montrez-moi mes contacts | Quel est le numéro de Sam ? | Écrivez à Sam : je suis là
        Chaque matin à 7 h envoyez-moi un briefing | Donnez-moi mon briefing
        Trouvez ce que nous avons dit sur la chaudière | Posez-moi une question""",
    "pt": """O tempo em Roma amanhã | Lembra-me de ligar à mãe amanhã às 9 | Desfaz isso | Pare a tarefa 2
        Pause a tarefa 2 | Porque é que a tarefa 2 não veio | Esqueça que não como nozes | O que sabe sobre mim?
        Envie um e-mail para sam@example.com: chego tarde | Mude o assunto para Tarde | Que seja às 16
        Tenho e-mails novos? | O que tenho amanhã na agenda? | Quando estou livre amanhã? | Ligue o meu calendário
        Mostre-me os meus contactos | Qual é o número do Sam? | Escreva ao Sam: chego tarde
        Todos os dias às 7 envie-me o resumo do dia | Dê-me o meu resumo do dia
        Encontre o que dissemos sobre a caldeira | Faça-me uma pergunta""",
    "zh": """罗马的天气 | 明天北京天气怎么样 | 5分钟后提醒我喝茶 | 每个工作日早上七点看看我的笔记
        每个工作日早上七点北京的天气
        撤销 | 停止任务2 | 恢复任务2 | 为什么任务2没有来 | 忘记我不吃坚果 | 你知道我什么 | 把主题改成晚点到
        给 sam@example.com 发邮件说我晚点到 | 我有新邮件吗 | 明天日历上有什么 | 我明天什么时候有空 | 连接我的日历
        看看我的联系人 | 山姆的电话号码是多少 | 给山姆发消息：我晚点到 | 每天早上7点给我发简报 | 给我发简报
        找一下我们关于锅炉说过什么 | 问我一个问题 | 改到下午四点""",
}
ERRANDS = {
    language: [
        *of(lines),
        *REQUESTS.get(language, ()),
        *(example for table in TABLES if table.language == language for example in table.examples.values()),
    ]
    for language, lines in MORE.items()
}
STATEMENTS = """I note everything in a red book. | My flight leaves on Friday. | My name is Note.
    I fly to Rome on Friday. | Every Friday I swim with my brother. | Every Monday at 9 I have a class.
    The weather in Graz suits me.
    Weather makes my knee hurt. | I email my mother on Sundays. | My reminders are all about plants.
    I forget names all the time. | Reminders stress me. | I live in Berlin and work in Rome. | Flights to Rome scare me.
    I was born on 2 May 1980. | My time zone is Vienna's. | My website is https://ada.example/2.
    I take notes on paper only. | My task at work is to count trees. | I stop work at five every day.
    Note: I'm allergic to nuts. | Pause is the name of my dog. | Calls from my bank are fraud.
    Ich notiere gern. | Mein Name ist Notiz. | Mein Flug geht am Freitag. | Jeden Freitag gehe ich schwimmen.
    Das Wetter in Graz macht mich müde. | Ich fliege am Freitag nach Rom. | Jeden Morgen um 7 trinke ich Tee.
    Meine Notizen sind alle auf Papier. | Wetter ist mein Beruf. | Ich erinnere mich gern an Graz.
    Um 10 Uhr beginnt meine Arbeit. | Flüge machen mir Angst. | Ich beende jeden Tag mit einem Buch.
    Tomo notas siempre a mano. | Mi vuelo sale el viernes. | Me llamo Nota. | Cada viernes voy a nadar con Ana.
    Para desayunar tomo té verde. | Para mí el café es mejor sin azúcar. | El tiempo libre lo paso leyendo.
    Cada lunes a las 9 tengo clase. | Vuelo a Roma cada verano. | Mi hermana se llama Ana. | Continúa lloviendo en Graz.
    Je note tout dans un carnet. | Mon vol part vendredi. | Je m'appelle Note. | Chaque matin je cours au parc.
    Le temps libre, je le passe à lire. | Tous les lundis à 9 h j'ai un cours. | La météo est mon métier.
    Je prends l'avion pour Rome demain. | Il pleut souvent chez nous à Graz. | Mes rappels sont tous sonores.
    Anoto tudo num caderno. | O meu voo parte na sexta-feira. | O meu nome é Nota. | Cada sexta vou nadar com a Ana.
    O tempo livre passo a ler. | Continua a chover em Graz. | Quando chego a casa, leio sempre o jornal.
    Todos os dias às 8 bebo chá. | Vou de avião para Roma amanhã. | As minhas notas são boas.
    我喜欢记笔记。 | 我的航班星期五起飞。 | 我的名字是笔记。 | 每天早上我都跑步。 | 我喜欢下雨的天气。
    我每个星期五去游泳。 | 我把名字改成了小丽。 | 我的妹妹叫小丽。 | 我明天飞往罗马。 | 我妈妈总是提醒我吃药。
    我每天8点上班。"""


def kept(text: str, speaker: str = PERSON) -> list[str]:
    """Return what is remembered of a message where the demo model answers."""
    told = statements(text, tells_nothing=partial(tells_nothing, speaker))
    return [statement for statement in told if worth_keeping(statement)]


@pytest.mark.parametrize("language", ERRANDS)
def test_no_errand_that_the_demo_model_knows_is_remembered(language: str) -> None:
    told = {table.examples["remember"] for table in TABLES}
    errands = [errand for errand in ERRANDS[language] if errand not in told]
    framed = [text for errand in errands for text in (errand, f"{errand[0].upper()}{errand[1:]}!")]
    assert {text: kept(text) for text in framed if kept(text)} == {}


@pytest.mark.parametrize("language", ERRANDS)
def test_each_kind_of_errand_has_a_sentence_here(language: str) -> None:
    """Complete by construction: an errand that a table learns has its sentence in ERRANDS, or this fails."""
    own = [intent for intent in INTENTS if intent.language == language and intent.tool not in {"", ANSWER, *TELLING}]
    plain = [errand.strip(" .!?¿？") for errand in ERRANDS[language]]
    untried = {
        intent.tool
        for intent in own
        if not any(other.tool == intent.tool and other.match(text) for other in own for text in plain)
    }
    assert untried - {DECIDE} == set()


@pytest.mark.parametrize("statement", of(STATEMENTS))
def test_a_statement_that_sounds_like_an_errand_is_remembered(statement: str) -> None:
    assert [text.rstrip(".。") for text in kept(statement)] == [statement.removeprefix("Note: ").rstrip(".。")]


def test_there_are_statements_enough() -> None:
    assert len(of(STATEMENTS)) >= 60


def heard(text: str, role: Role = Role.USER) -> list[str]:
    """Return what is remembered of a message in history, whoever answers."""
    said = spoken_of("k", ChatMessage(role, text), NOW)
    return [statement for part in said for statement in statements(part.text) if worth_keeping(statement)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_command_is_remembered_as_its_channel_spells_it(channel: str) -> None:
    for listed, _ in words(channel):
        for word in listed.strip("`").split(", "):
            takes_more = "/" in word or word in ("PREFS", "PROFILE", "LINK")
            more = ("", ".", " timezone Lisbon", " mach es 2 Tage kürzer") if takes_more else ("", ".")
            assert {said: heard(said) for end in more if heard(said := word + end)} == {}, word


@pytest.mark.parametrize(
    "text",
    [
        "EDIT 7P kürzer", "EDIT 7P mach es kürzer. Und sag, dass ich in Graz wohne.", "OK 8E", "NO 3K", "ok 8e.",
        "LINK ABC-DEF-GH2", "link k4m q7r t2w agree", "/prefs language de", "/valet prefs timezone Lisbon",
        "PREFS timezone Lisbon", "/prefs colour blue as the sky", "SNOOZE 7K 30m", "AGAIN 7K", "OK 7K 123456",
        "/memory@valet_bot", "LINK mein Telefon bitte",
    ],
)  # fmt: skip
def test_a_command_or_a_decision_tells_nothing(text: str) -> None:
    assert heard(text) == []


@given(
    st.sampled_from(["ok", "OKAY", "no", "Snooze", "EDIT", "edit", "again", "link", "prefs", "profile"]),
    st.sampled_from(["7K", "7k", "8E", "22A", "9Z", "ALL", "abc-def-gh2", "quiet 22-7", "undo 3"]),
    st.sampled_from(["", " 123456", " 1h", " make it 3pm and shorter", ".", " agree", "!"]),
)
def test_whatever_is_read_as_a_command_tells_nothing(verb: str, code: str, more: str) -> None:
    text = f"{verb} {code}{more}"
    reply = parse_exact_reply(text)
    if (reply and reply.names_code) or any(chat_words().read(text, channel) for channel in CHANNELS):
        assert heard(text) == []


@pytest.mark.parametrize("text", ["New flat in Graz since May 2nd.", "Link and I live together.", "No 3 of us smokes."])
def test_a_sentence_that_begins_like_a_command_is_remembered(text: str) -> None:
    assert heard(text) == [text]


async def test_the_demo_model_alone_has_its_table_tell_what_is_an_errand(database_url: str) -> None:
    database = Database(database_url, patience=5, size=1)
    for model, tells in (("", tells_nothing), ("openai/mine", may_tell)):
        settings = Settings(_env_file=None, onevalet_model=model)
        async with AsyncExitStack() as stack:
            momex = open_recall(stack, settings, database, Clock(), build_models(settings))
            assert isinstance(momex, Momex)
            assert momex.adder.tells_nothing is tells
    await database.close()


@pytest.mark.parametrize(
    "reply",
    [
        "Versuch es mit „Notiz: Milch kaufen“ oder „merk dir, dass ich keine Nüsse vertrage“. (Demo-Modell)",
        "Ich erinnere dich am Do., 3. Dez. 2026, 10:00 Uhr (Europe/London): den Zahnarzt. Es ist Aufgabe 2.",
        "Notiert als Nummer 1: Milch kaufen (Demo-Modell)",
    ],
)
def test_no_reply_of_the_demo_model_is_remembered(reply: str) -> None:
    assert heard(reply, Role.ASSISTANT) != []
    assert kept(reply, ASSISTANT) == []


TALK = """Hallo | Was kannst du? | Flüge von Berlin nach Rom am Freitag | Notiz: Milch kaufen | Zeig mir meine Notizen
    Jeden Werktag um 7 das Wetter in Berlin | EDIT 7P kürzer | /prefs language de | Was ist 17,5 % von 260?
    Erinnere mich am 31. Februar an den Zahnarzt | Was weißt du über mich?"""


async def test_a_talk_with_the_demo_model_leaves_what_was_told_alone(database_url: str) -> None:
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        database = system.delivery.store.database
        parts = MomexParts(WordEmbedder(), make_id=Ids(), clock=StandingClock(NOW), tells_nothing=tells_nothing)
        momex = Momex(config=MomexConfig(structured=False), database=database, parts=parts)
        system.model, system.options = client, {"momex": momex, "storage": Storage(database)}
        system.more = [current_time, calculate, add_note, list_notes, list_memories, search_memory, remember]
        for text in [*of(TALK), "Meine Schwester heißt Ottilie."]:
            await system.say(text)
            while job := await momex.work.claim(None, "w"):
                await momex.work.run(job)
        assert await database_texts(system) == ["Meine Schwester heißt Ottilie."]
        await momex.close()
    await client.close()


async def database_texts(system: Approving) -> list[object]:
    return await system.delivery.store.column("select text from memories order by number")


@pytest.mark.parametrize(
    "said",
    [
        "without the weather",
        "Ohne das Wetter, bitte.",
        "y sin el tiempo",
        "Ok 3k please",
        "nein 2v danke",
        "tomorrow morning remind me to take the bins out",
    ],
)
def test_an_answer_that_was_not_understood_is_not_remembered_as_told(said: str) -> None:
    assert tells_nothing("person", said)


@pytest.mark.parametrize(
    "said",
    ["Without my glasses I see nothing", "Ohne Kaffee bin ich müde", "I live without a car", "No 2nd dog for us, ever"],
)
def test_a_statement_that_begins_like_such_an_answer_is_remembered(said: str) -> None:
    assert not tells_nothing("person", said)
