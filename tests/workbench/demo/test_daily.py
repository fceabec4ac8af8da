"""Mail, calendar, people, accounts and the briefing in plain words: each sentence becomes the call that it asks for."""

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.prompts import LinkAsker
from abilities.accounts.services import Services
from abilities.calendar.tools import list_events
from abilities.mail.tools import search_mail
from agents.clock import current_time
from agents.conversations import search_messages
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from core.language.catalogue import speaking
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.accounts.waiting.harness import Links
from tests.clocks import StandingClock
from tests.contract.approving import open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.credentials.harness import new_key, store_with
from tests.workbench.demo.test_languages import TOOLS
from tests.workbench.demo.test_requests import calls
from workbench.demo import events, mail
from workbench.demo.intent import Intent
from workbench.demo.model import DEMO_MODEL

NONE: JsonObject = {}
UNREAD: JsonObject = {"find": {"unread": True}}
AT_SEVEN: JsonObject = {"clock": "07:00", "days": "every day"}
ENGLISH: list[tuple[str, str, JsonObject]] = [
    ("What's in my inbox?", "search_mail", NONE),
    ("do I have new mail?", "search_mail", UNREAD),
    ("show me my unread emails", "search_mail", UNREAD),
    ("emails from Anna", "search_mail", {"find": {"sender": "Anna"}}),
    ("search my mail for the invoice", "search_mail", {"find": {"text": "the invoice"}}),
    (
        "tell me when Amazon writes",
        "ScheduleTask",
        {
            "what": "Amazon has written to you.",
            "event_source": "mail",
            "event_type": "mail.received",
            "event_filter": {"from": {"contains": "amazon"}},
            "remind_only": True,
        },
    ),
    ("remind me tonight at 10pm to call Sam", "remind_me", {"at": "tonight at 10pm", "text": "call Sam"}),
    ("remind me to call Sam tomorrow evening at 8", "remind_me", {"at": "tomorrow evening at 8", "text": "call Sam"}),
    ("connect my calendar", "connect_account", {"kinds": ["calendar"]}),
    ("connect my Google account", "connect_account", {"service": "google"}),
    ("which accounts are connected?", "list_accounts", NONE),
    ("disconnect my work account", "disconnect_account", {"account": "work"}),
    ("what's on tomorrow?", "list_events", {"day": "tomorrow", "days": 1}),
    ("what do I have in my calendar this week?", "list_events", {"day": "today", "days": 7}),
    ("show me my calendar", "list_events", NONE),
    ("when is my next meeting?", "find_events", NONE),
    ("when am I free on Friday?", "find_free_time", {"day": "Friday", "days": 1}),
    ("put dentist in my calendar tomorrow at 3pm", "create_event", {"title": "dentist", "start": "tomorrow at 3pm"}),
    (
        "add lunch with Bob Friday at noon to my calendar",
        "create_event",
        {"title": "lunch with Bob", "start": "Friday at noon"},
    ),
    ("move the dentist to Friday at 4pm", "change_event", {"event": "dentist", "start": "Friday at 4pm"}),
    ("cancel the dentist in my calendar", "cancel_event", {"event": "dentist"}),
    ("Sam's number is +1 415 555 0123", "add_contact", {"name": "Sam", "addresses": ["+1 415 555 0123"]}),
    ("what is Sam's number?", "find_contacts", {"name": "Sam"}),
    ("show me my contacts", "list_contacts", NONE),
    ("text Sam that I am late", "MessageSomeoneAgent", {"to": "Sam", "text": "I am late"}),
    ("every morning at 7 send me a briefing", "set_briefing", AT_SEVEN),
    ("Send me a briefing every weekday at 8:30", "set_briefing", {"clock": "8:30", "days": "weekdays"}),
    ("a morning briefing at 8 on weekdays", "set_briefing", {"clock": "8", "days": "weekdays"}),
    ("every Monday at 9 my briefing", "set_briefing", {"clock": "09:00", "days": "mon"}),
    ("my briefing without the weather and mail", "set_briefing", {"without": ["weather", "mail"]}),
    ("briefing with everything", "set_briefing", {"without": []}),
    ("give me my briefing now", "brief_me", NONE),
    ("undo the last thing", "undo_last", NONE),
    ("undo the dishes reminder", "undo_last", {"words": "dishes"}),
    ("what can you undo?", "undo_last", {"show": True}),
    ("find what we said about the boiler", "search_messages", {"words": "boiler"}),
    ("What did I say about the school trip?", "search_messages", {"words": "school trip"}),
    ("search our messages for the plumber", "search_messages", {"words": "plumber"}),
    ("stop my briefing", "stop_task", {"which": "briefing"}),
]
"""In English, what each becomes."""
OTHERS: list[tuple[str, str, str, JsonObject]] = [
    ("de", "Habe ich neue Mails?", "search_mail", UNREAD),
    ("de", "Mails von Anna", "search_mail", {"find": {"sender": "Anna"}}),
    ("de", "Was steht morgen im Kalender?", "list_events", {"day": "morgen", "days": 1}),
    ("de", "Wann bin ich morgen frei?", "find_free_time", {"day": "morgen", "days": 1}),
    ("de", "Verbinde meinen Google-Kalender", "connect_account", {"service": "google"}),
    ("de", "Finde, was wir über den Heizkessel gesagt haben", "search_messages", {"words": "Heizkessel"}),
    ("de", "Was haben wir zur Heizung besprochen?", "search_messages", {"words": "Heizung"}),
    ("de", "Wie ist die Nummer von Sam?", "find_contacts", {"name": "Sam"}),
    ("de", "Schreib Sam: Ich komme später", "MessageSomeoneAgent", {"to": "Sam", "text": "Ich komme später"}),
    ("de", "Jeden Morgen um 7 schick mir ein Briefing", "set_briefing", AT_SEVEN),
    ("de", "Gib mir jetzt mein Briefing", "brief_me", NONE),
    ("es", "¿Tengo correos nuevos?", "search_mail", UNREAD),
    ("es", "¿Qué tengo mañana en mi calendario?", "list_events", {"day": "mañana", "days": 1}),
    ("es", "¿Cuándo estoy libre mañana?", "find_free_time", {"day": "mañana", "days": 1}),
    (
        "es",
        "Cada día laborable a las 8 envíame el resumen del día",
        "set_briefing",
        {"clock": "08:00", "days": "weekdays"},
    ),
    ("es", "Dame mi resumen del día", "brief_me", NONE),
    ("es", "Busca lo que dijimos sobre la caldera", "search_messages", {"words": "caldera"}),
    ("es", "¿Qué dijimos de la caldera?", "search_messages", {"words": "caldera"}),
    ("fr", "Trouve ce que nous avons dit sur la chaudière", "search_messages", {"words": "chaudière"}),
    ("fr", "Qu'avons-nous dit de l'école ?", "search_messages", {"words": "école"}),
    ("pt", "Encontre o que dissemos sobre a caldeira", "search_messages", {"words": "caldeira"}),
    ("zh", "找一下我们关于锅炉说过什么", "search_messages", {"words": "锅炉"}),
    ("fr", "Ai-je de nouveaux e-mails ?", "search_mail", UNREAD),
    ("fr", "Quand suis-je libre demain ?", "find_free_time", {"day": "demain", "days": 1}),
    ("fr", "Chaque matin à 7 h envoyez-moi un briefing", "set_briefing", AT_SEVEN),
    ("fr", "Donnez-moi mon briefing", "brief_me", NONE),
    ("pt", "Tenho e-mails novos?", "search_mail", UNREAD),
    ("pt", "O que tenho amanhã na agenda?", "list_events", {"day": "amanhã", "days": 1}),
    ("pt", "Todos os dias às 7 envie-me o resumo do dia", "set_briefing", AT_SEVEN),
    ("zh", "我有新邮件吗", "search_mail", UNREAD),
    ("zh", "明天日历上有什么", "list_events", {"day": "明天", "days": 1}),
    ("zh", "我明天什么时候有空", "find_free_time", {"day": "明天", "days": 1}),
    ("zh", "每天早上7点给我发简报", "set_briefing", AT_SEVEN),
    ("zh", "简报", "brief_me", NONE),
]


@pytest.mark.parametrize(("said", "tool", "arguments"), ENGLISH)
def test_what_is_asked_daily_is_understood(said: str, tool: str, arguments: JsonObject) -> None:
    assert calls("en", said, *TOOLS) == [(tool, arguments)]


@pytest.mark.parametrize(("language", "said", "tool", "arguments"), OTHERS)
def test_what_is_asked_daily_is_understood_elsewhere(
    language: str, said: str, tool: str, arguments: JsonObject
) -> None:
    assert calls(language, said) == [(tool, arguments)]


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("what's on the shopping list?", "show_list"),
        ("what is my sister's name", "search_memory"),
        ("every weekday at 8 my notes", "ScheduleTask"),
        ("move it to 4pm", None),
        ("text me that I am late", None),
        ("add milk to the shopping list", "add_to_list"),
        ("cancel task 2", "stop_task"),
    ],
)
def test_what_was_understood_before_still_is(said: str, tool: str | None) -> None:
    assert [name for name, _ in calls("en", said, *TOOLS, "show_list", "add_to_list")] == ([tool] if tool else [])


def told(intent: Intent, result: str) -> str:
    """Return what the demo model makes of a result."""
    match = Intent(intent.expected).match(result)
    assert match is not None
    return intent.shown(match, {})["lines"]


def test_mails_are_told_by_sender_and_subject() -> None:
    found = (
        "ann@example.org: 2 found\n\nid: mail/email/primary/INBOX/1/2\nFrom: Bob <bob@example.org>\nTo: Ann\n"
        "Subject: Lunch? https://evil.example/x\nDate: Monday\nBegins: Hi\n\nid: mail/email/primary/INBOX/1/1\n"
        "From: orders@amazon.example\nSubject: (none)\nDate: Monday"
    )
    with speaking("en"):
        assert told(mail.SEARCH, found) == "- Bob: Lunch? (link)\n- orders@amazon.example: (none)"
        assert told(mail.SEARCH, "ann@example.org: 0 found") == "There is no such mail."


def test_events_are_told_without_what_a_model_needs() -> None:
    with speaking("en"):
        assert told(events.LIST, "Times are in UTC.\n“Dentist”: today") == "“Dentist”: today"
        assert told(events.LIST, "There is nothing.") == "There is nothing in your calendar then."


async def test_without_an_account_one_sentence_has_the_link(database_url: str) -> None:
    client, http = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL), GuardedClient()
    await client.warm_up()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        database = system.delivery.store.database
        credentials = store_with(database, new_key())
        system.model, system.more = client, [search_mail, list_events]
        system.options = {
            "accounts": Accounts(credentials, Services()),
            "credentials": credentials,
            "account_asker": LinkAsker(database, Links()),
            "http": http,
        }
        await system.delivery.meet()
        await system.say("what's in my inbox?")
        link = "connect it here: https://valet.example.com/connect/"
        assert system.last().startswith(f"To read your mail I need your mailbox: {link}1\n")
        await system.say("what's on tomorrow?")
        assert system.last().startswith(f"To look into your calendar I need access to it: {link}2")
    await client.close()
    await http.close()


async def test_what_was_said_is_found_in_a_talk(database_url: str) -> None:
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        system.model, system.more = client, [search_messages, current_time]
        await system.delivery.meet()
        await system.say("The boiler leaks again")
        await system.say("what time is it?")
        await system.say("find what we said about the boilers")
        assert "you wrote: The boiler leaks again" in system.last()
        await system.say("Finde, was wir über den Klempner gesagt haben")
        assert "Keine Nachricht hat diese Wörter." in system.last()
    await client.close()
