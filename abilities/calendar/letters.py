"""The mails that a write into a calendar requires: recipients, subjects, texts. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self
from zoneinfo import ZoneInfo

from abilities.calendar.places import EventPlace, WrittenEvent
from abilities.calendar.types import ItipMessage, ItipMethod, Occurrence, SeriesScope
from abilities.calendar.words import rule_in_words, span_in_words, title_of
from onevalet import gettext


@dataclass(frozen=True, slots=True)
class GuestMail:
    """The recipients of mail about a write, and its text. `account` is the sender's, by service and name.

    `before` are the guests until now, `after` the guests from then on. `event` is the event on a single line, `body`
    the same on several; only invited guests read `notes`.
    """

    account: str
    sender: str
    own: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    event: str = ""
    body: str = ""
    notes: str = ""

    @property
    def everybody(self) -> Sequence[str]:
        return tuple(dict.fromkeys([*self.after, *self.before]))

    def message(self, method: ItipMethod, to: Iterable[str], recurrence: str = "", *, ends: bool = True) -> ItipMessage:
        """Return a message to some of them; without `ends`, a cancellation applies only to its recipients."""
        return ItipMessage(method, tuple(to), frozenset(self.own), recurrence, uninvites=not ends)

    def about(self, occurrence: Occurrence, zone: ZoneInfo) -> Self:
        """Return it with an event in words, as those have it whose program shows no calendar."""
        title, when = title_of(occurrence), span_in_words(occurrence.start, occurrence.end, zone)
        rule = rule_in_words(occurrence.rule) if occurrence.rule else ""
        lines = [line for line in (title, f"{when} ({zone.key})", rule, occurrence.location) if line]
        return replace(self, event=f"{title}, {when}", body="\n".join(lines), notes=occurrence.text)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {name: list(getattr(self, name)) for name in ("own", "before", "after")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        values: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in data.items()}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail. `name` tells it from the call's others; `text` is its object, None for the new object."""

    name: str
    subject: str
    message: ItipMessage
    place: EventPlace
    text: str | None = None


type LettersOf = Callable[[GuestMail, SeriesScope, WrittenEvent, str], Sequence[Letter]]
"""Returns the mails about a write with a scope; the text is the former object."""


def mail_in(plan: Mapping[str, Any]) -> GuestMail | None:
    """Return the mail that a plan holds."""
    return GuestMail.from_json(plan["mail"]) if plan.get("mail") else None


def letters_of_invitation(mail: GuestMail, scope: SeriesScope, written: WrittenEvent, before: str) -> Sequence[Letter]:
    """Return the invitations to an event that had no guests before."""
    subject = gettext("Invitation: {event}", event=mail.event)
    one = written.place.recurrence if scope is SeriesScope.THIS else ""
    return [
        Letter("request", subject, mail.message(ItipMethod.REQUEST, mail.after, one), written.parted or written.place)
    ]


def letters_of_change(mail: GuestMail, scope: SeriesScope, written: WrittenEvent, before: str) -> Sequence[Letter]:
    """Return cancellations for removed guests and updates for the rest."""
    if not mail.before:
        return letters_of_invitation(mail, scope, written, before)
    subject = gettext("Changed event: {event}", event=mail.event)
    request = ItipMethod.REQUEST
    if written.parted is not None:
        # Two series from now on: the old series, which ends sooner, and the new series that begins there.
        return [
            Letter("request", subject, mail.message(request, mail.before), written.place),
            Letter("new", subject, mail.message(request, mail.after), written.parted),
        ]
    one = written.place.recurrence if scope is SeriesScope.THIS else ""
    gone = [address for address in mail.before if address not in mail.after]
    cancelled = mail.message(ItipMethod.CANCEL, gone, one, ends=False)
    return [
        Letter("request", subject, mail.message(request, mail.after, one), written.place),
        Letter("cancel", gettext("Cancelled event: {event}", event=mail.event), cancelled, written.place, before),
    ]


def letters_of_end(mail: GuestMail, scope: SeriesScope, written: WrittenEvent, before: str) -> Sequence[Letter]:
    """Return the mails about an event that is cancelled or cut short."""
    one = written.place.recurrence
    if scope is SeriesScope.FOLLOWING and one:
        # Those before it stay, so that it is a newer state of the series (RFC 5546 3.2.2.1).
        subject = gettext("Cancelled from then on: {event}", event=mail.event)
        return [Letter("request", subject, mail.message(ItipMethod.REQUEST, mail.before), written.place)]
    subject = gettext("Cancelled event: {event}", event=mail.event)
    message = mail.message(ItipMethod.CANCEL, mail.before, one if scope is SeriesScope.THIS else "")
    return [Letter("cancel", subject, message, written.place, before)]


def letters_of_answer(mail: GuestMail, scope: SeriesScope, written: WrittenEvent, before: str) -> Sequence[Letter]:
    """Return the person's answer to who invited them; its subject is the plan's `event`."""
    one = written.place.recurrence if scope is SeriesScope.THIS else ""
    return [Letter("reply", mail.event, mail.message(ItipMethod.REPLY, mail.after, one), written.place)]
