"""What the tools and agents that ship say to a person, in the person's language: nothing of it stays English."""

import re
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import count

import pytest
from yarl import URL

from abilities.lists.notes import add_note, forget_note, list_notes
from abilities.mail.tools import SendEmailAgent
from abilities.memory.tools import ask_to_forget, correct_memory, forget, list_memories, remember, search_memory
from abilities.tasks.looking_after import list_tasks, pause_task, resume_task, run_task_now, stop_task
from abilities.tasks.reminders import RemindMe, take_back_reminder
from abilities.tasks.scheduling import ScheduleTask, SetHeartbeat
from abilities.weather.tools import get_weather
from agents.arithmetic import calculate
from agents.clock import current_time
from agents.travel import FlightSearchAgent
from core.approvals.describe import tool_consent
from core.approvals.rendering import render_arguments
from core.errors import ToolError
from core.http.guarded_client import GuardedClient
from core.language.catalogue import speaking
from core.replies import without_notes
from core.tools.context import TaskState
from core.tools.memory_access import Remembered
from onevalet import AgentResult, TaskNote, ToolExecutionContext
from onevalet.testing import MemoryCredentials, StandingClock, make_context, rehearse
from tests.abilities.mail.test_email import Connected
from tests.agents.services import open_meteo
from workbench.pages.catalogues import translated

NAMES = re.compile(
    r"Ann|(?i:Berlin|Rome)|Germany|primary|(?i:home|tee)|E?mail|Example Air|Sample Airways|Specimen Airlines|US\$|UTC"
    r"|Europe/Berlin|[\w@.]+@example\.com|Atlantis|undo|tls|implicit|starttls|none|email|cron|\d+-\d+-\d+T?[\d:]*|Celsius|km/h|sms"
)
"""What is a name, an address or a word to type, in every language."""
ENGLISH = re.compile(
    r"\b(?:the|is|are|of|to|and|with|for|you|your|nothing|there|that|which|who|what|when|should|must|it|no|not|known|from"
    r"|rain|degrees|now|next|task|notes?|reminder|every|back|people|remembered|forgotten|sent|cannot)\b",
    re.IGNORECASE,
)


class Tasks:
    """Tasks of a person: one that comes again, and what is created."""

    def __init__(self) -> None:
        self.kept = [
            TaskNote("t", 1, "Tee", "08:00", "09:00", TaskState.ACTIVE),
            TaskNote("u", 2, "Ann", "10:00", "", TaskState.PAUSED),
        ]

    async def timezone(self) -> str:
        return "Europe/Berlin"

    async def check(self, trigger: object) -> str:
        return "7"

    def describe(self, trigger: object, timezone: str = "") -> str:
        return "08:00"

    async def create(self, *args: object, **options: object) -> TaskNote:
        return TaskNote("t", 3, "Tee", "08:00", "09:00", TaskState.ACTIVE, quiet=True)

    async def list(self) -> list[TaskNote]:
        return self.kept

    async def change(self, task_id: str, change: str) -> bool:
        return change != "resume"

    async def find(self, task_id: str) -> TaskNote | None:
        return self.kept[0]

    async def run_now(self, task_id: str, key: str) -> None:
        """Run nothing."""


class Memory:
    """A memory that holds one statement, and finds nothing."""

    held = (Remembered(1, "Tee", datetime(2026, 11, 21, tzinfo=UTC), "Ann"),)

    async def remember(self, text: str, key: str) -> tuple[Remembered, ...]:
        return self.held

    async def correct(self, number: int, text: str, key: str) -> tuple[Remembered, ...]:
        return self.held

    async def search(self, query: str) -> tuple[Remembered, ...]:
        return self.held if query == "Tee" else ()

    async def overview(self, most: int = 30) -> tuple[Remembered, ...]:
        return self.held

    async def ask_to_forget(self, what: str, numbers: object = ()) -> tuple[Remembered, ...]:
        return await self.search(what)

    async def forget(self, shown: object = ()) -> int:
        return 1


@pytest.fixture
async def context() -> AsyncIterator[ToolExecutionContext]:
    """Yield a context with everything that a tool may use; it is Saturday, 21 November 2026."""
    async with open_meteo() as weather:
        http = GuardedClient(allowed_hosts=[URL(weather.url).authority])
        yield make_context(
            http=http,
            clock=StandingClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC)),
            settings={"weather_url": weather.url},
            tasks=Tasks(),
            memory=Memory(),
            timezone="Europe/Berlin",
            credentials=MemoryCredentials({"email": {"user": "home"}}),
            accounts=Connected({"home": {"user": "home"}}),
        )
        await http.close()


async def said(call: Awaitable[object]) -> str:
    """Return what a call returns, or the error that may reach the person; notes for the model are none of it."""
    try:
        result = await call
        return without_notes(result.raw_message if isinstance(result, AgentResult) else str(result))
    except ToolError as error:
        return str(error)


async def told(context: ToolExecutionContext) -> list[str]:
    """Return what people are told by tools and agents, in the language that is spoken."""
    remind = {"text": "Tee", "at": "2026-11-21T15:00"}
    mail = {"recipient": ["ann@example.com"], "cc": ["bo@example.com"], "body": "Tee"}
    flight = {"origin": "Berlin", "destination": "Rome", "date": "2026-11-27"}
    keys = count()

    def own() -> ToolExecutionContext:
        """Return the context of another call."""
        return replace(context, idempotency_key=f"turn.0.{next(keys)}")

    calls: list[Awaitable[object]] = [
        current_time(own()),
        current_time(own(), "Atlantis"),
        calculate("1/0"),
        calculate("Tee"),
        get_weather("Berlin", own()),
        get_weather("Atlantis", own()),
        get_weather("Berlin", own(), date=date(2027, 11, 21)),
        add_note("Tee", own()),
        list_notes(own()),
        forget_note(1, own()),
        forget_note(1, own()),
        list_notes(own()),
        remember("Tee", own()),
        search_memory("Tee", own()),
        search_memory("Ann", own()),
        list_memories(own()),
        correct_memory(1, own(), "Tee"),
        ask_to_forget("Tee", own()),
        ask_to_forget("Ann", own()),
        forget(["1. Tee"], own()),
        list_tasks(own()),
        pause_task("1", own()),
        resume_task("1", own()),
        stop_task("Tee", own()),
        run_task_now("1", own()),
        stop_task("Rome", own()),
        take_back_reminder("t", own()),
        rehearse(RemindMe, own(), **remind).go_on(),
        rehearse(SetHeartbeat, own(), every_minutes=0).go_on(),
        rehearse(SendEmailAgent, own(), **mail).go_on(),
        rehearse(FlightSearchAgent, own(), **flight, return_date="2026-11-30", passengers=2).go_on(),
        rehearse(FlightSearchAgent, own(), **flight | {"date": "2026-11-01"}).go_on(),
    ]
    texts = [await said(call) for call in calls]
    for agent in (
        rehearse(ScheduleTask, context, what="Tee", cron="0 8 * * *"),
        rehearse(SetHeartbeat, context, every_minutes=60),
    ):
        assert agent.agent is not None
        texts += [agent.agent.approval_request().action_summary, (await agent.agent.keep()).raw_message]  # type: ignore[attr-defined]
    card = rehearse(SendEmailAgent, context, **mail).approval
    asked = rehearse(SendEmailAgent, context, recipient="Ann", subject="a\nb").question
    return [*texts, card.action_summary if card else "", asked, rehearse(RemindMe, context, text="x" * 2000).question]


@pytest.mark.parametrize(
    ("language", "english"), [("de", ENGLISH), ("zh", re.compile("[A-Za-z]{2,}"))], ids=["de", "zh"]
)
async def test_no_english_is_left_in_what_people_read(
    context: ToolExecutionContext, language: str, english: re.Pattern[str]
) -> None:
    with speaking(language):
        texts = await told(context)
    assert all(texts)
    left = {text: found for text in texts if (found := english.findall(NAMES.sub("", text)))}
    assert not left
    said_in_english = await told(context)
    assert [ENGLISH.search(text) is not None for text in said_in_english].count(True) > len(texts) * 0.8, (
        "it would be found"
    )


async def test_what_a_watch_looks_into_is_the_same_in_every_language(context: ToolExecutionContext) -> None:
    english = await get_weather("Berlin", context)
    with speaking("de"):
        german = await get_weather("Berlin", context)
    assert german != english
    assert german.data == english.data
    assert german.splitlines() == [
        "Wetter in Berlin, Germany, in Grad Celsius:",
        "Jetzt: Regen, 3 Grad (gefühlt 0), Wind 14 km/h",
        "Sa., 21. Nov. 2026: bedeckt, 2 bis 7 Grad, 80 % Regenwahrscheinlichkeit",
        "So., 22. Nov. 2026: bedeckt, 2 bis 7 Grad, 80 % Regenwahrscheinlichkeit",
        "Mo., 23. Nov. 2026: bedeckt, 2 bis 7 Grad, 80 % Regenwahrscheinlichkeit",
    ]


async def test_cards_call_actions_and_fields_by_words_of_the_language(context: ToolExecutionContext) -> None:
    with speaking("de"):
        consent = tool_consent("call", forget, {"memories": ["1. Tee", "2. Rudern"]})
        shown = await consent.describe(consent.arguments)
        assert shown.summary == "Endgültig vergessen"
        assert dict(render_arguments(consent.arguments, shown)) == {"Erinnerungen": "1. Tee, 2. Rudern"}
        names = [field.label for agent in (SendEmailAgent, FlightSearchAgent) for field in agent.valet.inputs.values()]
    assert names[:4] == ["Empfänger", "Kopie", "Betreff", "Text"]
    assert [name for name in names if ENGLISH.search(name)] == []
    assert SendEmailAgent.recipient.label == "recipient"


@pytest.mark.whole("it reads all of the catalogues")
def test_each_field_of_our_agents_is_a_sentence_of_the_catalogues() -> None:
    known = {message.id for message in translated("de")}
    for agent in (SendEmailAgent, FlightSearchAgent, RemindMe, ScheduleTask, SetHeartbeat):
        for field in agent.valet.inputs.values():
            assert {field.words, field.prompt, field.validator_description} - {""} <= known
