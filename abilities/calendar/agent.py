"""The shared parts of agents that write into calendars: the person's zone, a plan, a card if needed, and undo."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast
from zoneinfo import ZoneInfo

from abilities.calendar.calendars import Calendars
from abilities.calendar.letters import LettersOf, mail_in
from abilities.calendar.mailing import send_letters
from abilities.calendar.opening import CHANGE, open_calendars, zone_of
from abilities.calendar.places import CalendarEntry, EventPlace, WrittenEvent
from abilities.calendar.types import SeriesScope
from abilities.calendar.words import event_in_words, guests_in_words, span_in_words
from abilities.moments.asking_where import ZoneAgent
from core.json_types import object_of
from onevalet import (
    AgentResult,
    AgentStatus,
    ApprovalRequest,
    InputField,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    undo_word,
)

_NAMES = (
    gettext_noop("event"),
    gettext_noop("day"),
    gettext_noop("start"),
    gettext_noop("minutes"),
    gettext_noop("title"),
    gettext_noop("location"),
    gettext_noop("notes"),
    gettext_noop("invite"),
    gettext_noop("uninvite"),
    gettext_noop("series"),
    gettext_noop("calendar"),
    gettext_noop("repeats"),
    gettext_noop("days"),
    gettext_noop("answer"),
    gettext_noop("file"),
    gettext_noop("before"),
    gettext_noop("after"),
    gettext_noop("others"),
    gettext_noop("invitations"),
    gettext_noop("events"),
    gettext_noop("cancelled"),
    gettext_noop("left out"),
    gettext_noop("sent by"),
    gettext_noop("create event"),
    gettext_noop("change event"),
    gettext_noop("cancel event"),
    gettext_noop("answer invitation"),
    gettext_noop("add events from file"),
)
"""Names of the fields, the details and the agents on cards and in questions."""
_PLAN = "plan"
_BEGUN = "calendar_calls"
_MAX_BEGUN = 20
OPEN_MINUTES = 24 * 60
_TOLD = gettext_noop("Others have been notified. I can change or cancel it, and they will be notified again.")
_MAX_KEPT = 50_000
"""Characters of an event that are kept for an undo."""
_HOW_MUCH = {
    SeriesScope.THIS: gettext_noop("this one only"),
    SeriesScope.FOLLOWING: gettext_noop("this one and all that follow"),
    SeriesScope.ALL: gettext_noop("all of the series"),
}
SCOPES = {"": SeriesScope.THIS, "this": SeriesScope.THIS, "following": SeriesScope.FOLLOWING, "all": SeriesScope.ALL}


def option(description: str, type: Any = str, default: Any = "") -> InputField:
    """Return an optional field, which is never asked for: the model fills it in if the person gave it."""
    return InputField("", description, required=False, default=default, type=type)


def how_much(scope: SeriesScope) -> str:
    """Return the scope of a change in a series, as a card shows it."""
    return gettext(_HOW_MUCH[scope])


def text_of(entry: CalendarEntry) -> str:
    """Return an event's object, to be stored in a plan; empty if it is too large for that."""
    return entry.text if len(entry.text) <= _MAX_KEPT else ""


def one_line(text: str) -> bool:
    """Return whether a text can be a title or a place."""
    return 0 < len(" ".join(text.split())) <= 200


class CalendarAgent(ZoneAgent):
    """Write into a calendar. The change is planned first, and shown if the person must agree.

    A subclass plans the change in `plan`, and makes it in `perform`. A plan is JSON: `details` are the card's lines,
    `summary` its heading, `asks` whether there is a card. `mail` is a `GuestMail` or None; `served` says whether the
    calendar's server notifies guests.
    """

    said_in_words: ClassVar[tuple[str, ...]] = ()
    """The fields that the details and the heading say in full."""

    async def plan(self) -> Mapping[str, Any]:
        """Plan the change, without any effect; raise `ToolRetry` if that is impossible."""
        raise NotImplementedError

    async def perform(self) -> AgentResult:
        """Make the planned change."""
        raise NotImplementedError

    async def on_running(self, msg: str) -> AgentResult:
        zone = await self._known_zone()
        if not zone:
            return self.ask_where()
        return await self.go_on(zone)

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        return await self.perform()

    def approval_request(self) -> ApprovalRequest:
        if not self.planned:
            return super().approval_request()
        return ApprovalRequest(
            self.valet.name,
            str(self.planned["summary"]),
            dict(cast(Any, self.planned["details"])),
            options=("approve", "cancel"),
            timeout_minutes=OPEN_MINUTES,
            allow_modification=False,
            in_words=self.said_in_words,
        )

    @property
    def planned(self) -> Mapping[str, Any]:
        return object_of(self.state.get(_PLAN))

    @property
    def zone(self) -> ZoneInfo:
        """Return the person's zone, as it was when this was planned."""
        return ZoneInfo(str(self.state.get("zone") or self.context.timezone))

    async def calendars(self) -> Calendars:
        """Return the calendars that may be written to."""
        return await open_calendars(self.context, CHANGE, self.zone)

    def place(self) -> EventPlace:
        """Return the event that is planned to be written, as it was read."""
        return EventPlace.from_json(self.planned["place"])

    def scope(self, series: str, entry: CalendarEntry) -> SeriesScope:
        """Return the scope of a change in a series; for a single event, all."""
        if series not in SCOPES:
            raise ToolRetry("series is this, following or all.")
        return SCOPES[series] if entry.occurrence.repeats else SeriesScope.ALL

    def described(self, entry: CalendarEntry) -> str:
        """Return an event as a card shows it."""
        return event_in_words(entry.occurrence, self.zone)

    def when(self, entry: CalendarEntry) -> str:
        return span_in_words(entry.occurrence.start, entry.occurrence.end, self.zone)

    def with_others(self, entry: CalendarEntry) -> dict[str, Any]:
        """Return the other guests of an event, as a detail of a card."""
        guests = guests_in_words(entry)
        return {"others": guests} if guests else {}

    def offer_undo(
        self, title: str, *written: WrittenEvent, before: str = "", reminders: Sequence[Any] = (), told: bool = False
    ) -> str:
        """Offer to take a write back; return the sentence about it, empty if it cannot be taken back.

        `before` is the former object, for a repeat of the call that finds it overwritten. `told`: guests were notified.
        """
        if told:
            self.context.undo.final(title, gettext(_TOLD))
            return ""
        events: list[Any] = [
            {"place": one.place.to_json(), "before": one.before or before}
            | ({"parted": one.parted.to_json()} if one.parted else {})
            for one in written
        ]
        arguments: dict[str, Any] = {"events": events, "reminders": [*reminders]}
        if not events or not self.context.undo.offer(title, "undo_event", arguments):
            return ""
        return " " + gettext("To take it back, write “{word}”.", word=undo_word())

    async def tell_guests(
        self, calendars: Calendars, letters_of: LettersOf, scope: SeriesScope, written: WrittenEvent
    ) -> tuple[str, bool]:
        """Send the planned mail; return the sentence for the person, and whether any guest may know of the change."""
        mail = mail_in(self.planned)
        if mail is None:
            return "", bool(self.planned.get("served"))
        letters = letters_of(mail, scope, written, self.planned_text() or written.before)
        said, told = await send_letters(self.context, calendars, mail, letters)
        return f" {said}", told

    def planned_text(self) -> str:
        """Return the object as it was when this was planned; empty if it was too large to store."""
        return str(self.planned.get("text", ""))

    async def go_on(self, zone: str | None) -> AgentResult:
        self.state["zone"] = zone
        begun = await self._begun()
        plan = begun or dict(await self.plan())
        self.state[_PLAN] = plan
        if plan["asks"] or self.must_ask:
            # The card has its own words for the question.
            return self.make_result(AgentStatus.WAITING_FOR_APPROVAL)
        if begun is None:
            await self._begin(plan)
        return await self.perform()

    async def _begun(self) -> dict[str, Any] | None:
        """Return the stored plan of this call, if an earlier run of it was interrupted."""
        try:
            stored = await self.context.storage.get(_BEGUN, self.context.idempotency_key)
        except ToolFailed:  # this assistant keeps nothing
            return None
        return stored.value if stored is not None and isinstance(stored.value, dict) else None

    async def _begin(self, plan: dict[str, Any]) -> None:
        """Store a plan before it is carried out, so that a repeat carries out the same plan, and only once."""
        storage = self.context.storage
        try:
            await storage.put(_BEGUN, self.context.idempotency_key, plan)
            for old in (await storage.list(_BEGUN))[:-_MAX_BEGUN]:
                await storage.delete(_BEGUN, old.key)
        except ToolFailed:
            return

    async def _known_zone(self) -> str | None:
        try:
            return await self.context.tasks.timezone()
        except ToolFailed:  # this assistant plans nothing, so it never asked
            return zone_of(self.context).key
