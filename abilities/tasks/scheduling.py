"""Plan tasks that recur, wait for an event or watch a value; each is read back before it is stored."""

import json
import re
from typing import Any

from abilities.moments.places import zone_named
from abilities.moments.planning import PlanningAgent
from abilities.tasks.chat_words import AWAKE
from abilities.tasks.group import GROUP
from abilities.tasks.looking_after import offer_state
from abilities.tasks.presence_words import is_of_place
from abilities.tasks.reminders import offer_undo
from abilities.tasks.types import HEARTBEAT
from core.tools.call_plans import plan_once
from onevalet import AgentResult, InputField, ToolRetry, gettext, gettext_noop, undo_word, valet

_SHORTEST_MINUTES, _MAX_MINUTES = 1, 366 * 24 * 60
_HEARTBEAT_MINUTES = 15
_NAMES = (
    gettext_noop("what"),
    gettext_noop("cron"),
    gettext_noop("every"),
    gettext_noop("start"),
    gettext_noop("every minutes"),
    gettext_noop("timezone"),
    gettext_noop("until"),
    gettext_noop("count"),
    gettext_noop("missed"),
    gettext_noop("event source"),
    gettext_noop("event type"),
    gettext_noop("event filter"),
    gettext_noop("expression"),
    gettext_noop("url"),
    gettext_noop("tool"),
    gettext_noop("tool arguments"),
    gettext_noop("path"),
    gettext_noop("reset"),
    gettext_noop("min gap minutes"),
    gettext_noop("remind only"),
    gettext_noop("only if worth it"),
    gettext_noop("urgent"),
    gettext_noop("channel"),
    gettext_noop("schedule task"),
    gettext_noop("set heartbeat"),
)
"""The names of the fields and the agents on cards and in questions."""
_SET = gettext_noop(
    "I will remind you {when}: {text}. The next time is {moment}. It is task {number}; to take it back, write “{word}”."
)
_SET_IN_QUIET = gettext_noop(
    "I will remind you {when}: {text}. The next time is {moment}, in your quiet hours; it rings all the same. It is "
    "task {number}; to take it back, write “{word}”."
)
_TO_THE_MINUTE = re.compile(r"(?:\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?)?")
"""The moments that are said in full, to the minute."""
_WAITS = gettext_noop(
    "That is in your quiet hours: it waits for their end. To let it run at its time, write “{word} {number}”."
)
_LOOK = (
    "Look whether there is anything that the person would want to be told right now: what has come in, what is due, "
    "what changed. Use what you can look at; do not repeat what they were told already."
)


def _is_whole(minutes: float | None) -> bool:
    """Return whether the words for an interval say all of it."""
    return minutes is None or float(minutes).is_integer()


def _is_plain(wanted: Any) -> bool:
    """Return whether the words for the required value of an event's field have a single meaning."""
    values = wanted.values() if isinstance(wanted, dict) else [wanted]
    return all(
        not isinstance(value, bool) if isinstance(value, int | float) else isinstance(value, str) and _is_text(value)
        for value in values
    )


def _is_text(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return bool(text) and text != gettext("nothing")
    return False


def _option(description: str, type: Any = str) -> InputField:
    """Return a field that nobody is asked for: the model fills it in if the person said so."""
    return InputField("", description, required=False, default="" if type is str else None, type=type)


@valet(name="ScheduleTask", effect="idempotent", group=GROUP, addresses=("url", "tool_arguments"))
class ScheduleTask(PlanningAgent):
    """Plan a task that comes again, waits for an event, or watches a value and tells when it changes.

    Give one of cron, every_minutes, event_type or expression; with expression every_minutes says how often to look.
    A reminder (remind_only, at times of the clock) is set at once: tell them when, and that "undo" takes it back.
    Before anything else is kept, the person is shown the whole plan, and agrees.
    """

    what = InputField(
        gettext_noop("What shall I do then?"),
        description="What to do each time, as an instruction to yourself; with remind_only the words to be told",
    )
    cron = _option("Five fields, in the person's time: 0 8 * * 1-5 is weekdays at 8; L is a month's last day")
    every = _option(
        "With cron, only each so many of its weeks, months or days: 2 with 0 9 * * 2 is every other Tuesday at 9", int
    )
    start = _option("With every, the day of the first time, if they said which: 2027-01-26")
    every_minutes = _option(
        "An interval instead; with expression how often to look (15 unless they say otherwise)", float
    )
    timezone = _option("A city or IANA zone, only if they named another than their own")
    until = _option("No more after this: 2027-01-31T15:00")
    count = _option("How often at most", int)
    missed = _option("What becomes of times missed while away: skip, once (usual) or all")
    event_source = _option("For an event: its source, * for any; mail for new mail, of all their mailboxes")
    event_type = _option("For an event: its type, * for any; mail.received for new mail")
    event_filter = _option(
        'Fields of the event that must hold: {"from": {"contains": "amazon"}, "$.total": {"gt": 100}}. '
        "Mail has from, subject, text, to, account, has_attachments, bulk",
        dict[str, Any],
    )
    expression = _option("For a watch: true when to tell, over value, previous, result: value < 300")
    url = _option("For a watch: the address to look at")
    tool = _option(
        "For a watch: the reading tool or agent to look with, such as read_page, get_weather, FlightSearchAgent"
    )
    tool_arguments = _option("For that tool", dict[str, Any])
    path = _option(
        "JSONPath of the value in what comes back; it is tried, and shown with the value. read_page has $.price, "
        "$.currency, $.prices[0].price, $.title, $.date, $.text; get_weather has $.now.temperature, $.days[0].low, "
        ".high, .rain_chance"
    )
    reset = _option("True when it may be told again: value > 320")
    min_gap_minutes = _option("For a watch: at least so long between two messages", float)
    remind_only = _option("Only tell the words, without doing anything", bool)
    only_if_worth_it = _option("Nothing is sent when there is nothing to tell", bool)
    urgent = _option("Tell even in quiet hours, only if they asked for that", bool)
    channel = _option("sms, slack or telegram, if they named one")

    def trigger_needs_zone(self) -> bool:
        # Events and watched values come at their own time.
        return not self.event_type and not self.expression

    def said_by(self, when: str) -> tuple[str, ...]:
        said = ["cron", "every", "count", "expression", "url", "tool", "path", "reset", "event_source", "event_type"]
        said += [name for name in ("every_minutes", "min_gap_minutes") if _is_whole(getattr(self, name))]
        said += ["tool_arguments"] if self._of_place() else []
        said += ["until"] if _TO_THE_MINUTE.fullmatch(self.until or "") else []
        # A long value of a filter is cut in the words, and others read like a number or a yes there.
        plain = all(map(_is_plain, (self.event_filter or {}).values())) and "…" not in when
        return (*said, "event_filter") if plain else tuple(said)

    def about(self) -> str:
        return str(self.what)

    def summary(self, when: str) -> str:
        return f"{when[:1].upper()}{when[1:]}: {self.what}" if self._of_place() else super().summary(when)

    def asks_first(self) -> bool:
        # Words that are told at times of the clock act for nobody. A task's run may read anybody's words.
        return self.context.in_task or not self._only_reminds()

    async def cost(self, trigger: dict[str, Any]) -> str:
        # Words are told without a model.
        return "" if self.remind_only else await self.context.tasks.cost(trigger)

    def _only_reminds(self) -> bool:
        return bool(self.remind_only) and not self.event_type and not self.expression

    def _of_place(self) -> bool:
        return bool(self.expression) and is_of_place(self.expression, self.tool, self.path, self.tool_arguments)

    async def keep(self) -> AgentResult:
        kept = await self.context.tasks.create(
            self.trigger(),
            {"text": self.what} if self.remind_only else {"instruction": self.what},
            executor="tell" if self.remind_only else "orchestrator",
            output={
                "channel": self.channel,
                "silent": bool(self.only_if_worth_it),
                # A person who names a time means it, as with a single reminder; an interval does not mean the night.
                "urgency": "urgent" if self.urgent or (self._only_reminds() and self.cron) else "normal",
                **({"category": "reminder"} if self._only_reminds() else {}),
            },
            title=self.what,
            key=self.context.idempotency_key,
        )
        if not self.asks_first():
            offer_undo(self.context, kept)
            rings = kept.quiet and bool(self.cron)
            sentence = gettext(_SET_IN_QUIET if rings else _SET)
            told = {"when": kept.when, "text": self.what, "moment": kept.next_at, "number": kept.number}
            text = sentence.format(**told, word=undo_word())
            return self.make_result(raw_message=text)
        offer_undo(self.context, kept, acts=not self._only_reminds())
        known = {"number": kept.number, "when": kept.when, "next": kept.next_at, "seen": self.seen()}
        if self.seen():
            text = gettext("It is set up as task {number}: {when}. Now: {seen}.", **known)
        elif kept.next_at and not self.expression:
            text = gettext("It is set up as task {number}: {when}. Next: {next}.", **known)
        else:
            text = gettext("It is set up as task {number}: {when}.", **known)
        if kept.quiet and not self.remind_only and not self.urgent:
            sentence = gettext(_WAITS, word=AWAKE.word(), number=kept.number)
            return self.make_result(raw_message=f"{text}\n{sentence}")
        return self.make_result(raw_message=text)

    def trigger(self) -> dict[str, Any]:
        given = [name for name in ("cron", "every_minutes", "event_type", "expression") if getattr(self, name)]
        if len(given) != 1 and given != ["every_minutes", "expression"]:
            raise ToolRetry("Give exactly one of cron, every_minutes, event_type and expression.")
        if self.every_minutes and not _SHORTEST_MINUTES <= self.every_minutes <= _MAX_MINUTES:
            raise ToolRetry(gettext("An interval is between a minute and a year."))
        made = self._watch() if self.expression else self._event() if self.event_type else self._schedule()
        made["count"] = self.count
        return {name: value for name, value in made.items() if value not in (None, "", {})}

    def _schedule(self) -> dict[str, Any]:
        zone = zone_named(self.timezone) if self.timezone else ""
        if self.timezone and not zone:
            raise ToolRetry(
                gettext("“{text}” names no timezone.", text=self.timezone), note="Give a city or an IANA name."
            )
        return {
            "kind": "schedule",
            "cron": self.cron,
            "every": self.every if self.every != 1 else None,
            "start": self.start,
            "interval_minutes": self.every_minutes,
            "timezone": zone,
            "missed": self.missed,
            "until": self.until,
        }

    def _event(self) -> dict[str, Any]:
        return {
            "kind": "event",
            "source": self.event_source or "*",
            "type": self.event_type,
            "filter": self.event_filter,
        }

    def _watch(self) -> dict[str, Any]:
        return {
            "kind": "condition",
            "expression": self.expression,
            "every_minutes": self.every_minutes,
            "url": self.url,
            "tool": self.tool,
            "arguments": self.tool_arguments,
            "path": self.path,
            "reset": self.reset,
            "min_gap_minutes": self.min_gap_minutes,
            "until": self.until,
        }


@valet(name="set_heartbeat", effect="idempotent", group=GROUP)
class SetHeartbeat(PlanningAgent):
    """Look from time to time whether anything is worth telling the person; nothing is sent when nothing is.

    Only when they ask for it. They are shown how often, and agree, before it begins.
    """

    every_minutes = InputField(
        gettext_noop("How often shall I look, in minutes?"),
        description="How often to look, at least 15; 0 ends it",
        type=int,
    )

    async def on_running(self, msg: str) -> AgentResult:
        # To end it needs no consent; to begin does.
        if self.every_minutes <= 0:
            for ended in await self._end_old():
                title = gettext("Stopped: {title}", title=HEARTBEAT)
                offer_state(self.context, ended["task"], title, active=ended["active"])
            return self.make_result(raw_message=gettext("I no longer look by myself."))
        return await super().on_running(msg)

    def trigger(self) -> dict[str, Any]:
        if not _HEARTBEAT_MINUTES <= self.every_minutes <= _MAX_MINUTES:
            raise ToolRetry(gettext("Every {number} minutes is the shortest interval.", number=_HEARTBEAT_MINUTES))
        return {"kind": "schedule", "interval_minutes": self.every_minutes, "missed": "skip"}

    def said_by(self, when: str) -> tuple[str, ...]:
        return ("every_minutes",)

    async def cost(self, trigger: dict[str, Any]) -> str:
        return await self.context.tasks.cost(trigger)

    def about(self) -> str:
        return gettext("Look whether anything is worth telling you, and write only then")

    async def keep(self) -> AgentResult:
        kept = await self.context.tasks.create(
            self.trigger(),
            {"instruction": _LOOK},
            output={"silent": True, "urgency": "low", "category": HEARTBEAT},
            title=HEARTBEAT,
            key=self.context.idempotency_key,
        )
        ended = await self._end_old(but=kept.id)
        offer_undo(self.context, kept, acts=True, instead_of=ended[-1]["task"] if ended else "")
        return self.make_result(
            raw_message=gettext(
                "I look {when} and write only when something is worth it. It is task {number}.",
                when=kept.when,
                number=kept.number,
            )
        )

    async def _end_old(self, but: str = "") -> list[dict[str, Any]]:
        """Stop the earlier heartbeats, and return each task with whether it was active."""

        async def plan() -> dict[str, Any]:
            old = [task for task in await self.context.tasks.list() if task.title == HEARTBEAT and task.id != but]
            return {"old": [{"task": task.id, "active": task.active} for task in old]}

        old: list[dict[str, Any]] = (await plan_once(self.context, plan))["old"]
        for task in old:
            await self.context.tasks.change(task["task"], "delete")
        return old
