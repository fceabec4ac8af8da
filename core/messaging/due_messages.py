"""Due messages: a claimed outbound row with its message, its address and its parts."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from time import monotonic
from typing import Any, Literal, cast

import asyncpg

from core.db.database import Database
from core.ids import IdMaker, for_person
from core.json_types import JsonObject, moment_in
from core.messaging.channels import Part
from core.messaging.messages import Action, ActionStyle, Address, Media, OutboundKind, OutboundMessage, Sentence
from core.messaging.states import IdentityState, SendState


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to send an outbound row until its lease ends; every write carries the fence.

    `row`: the message, which was read together with the claim.
    """

    tenant_id: str
    outbound_id: str
    conversation_id: str
    fence: int
    owner: str
    row: asyncpg.Record | None = field(default=None, compare=False, repr=False)


type Ended = Literal["approved", "cancelled", "replaced", "expired", "reissued", "amended"]
"""The end of a request for consent, as SQL names it."""


@dataclass(frozen=True, slots=True)
class CardState:
    """The state of the request on a card at the moment when the card is sent.

    `timeout` begins when the first card of the request is sent; `expires_at` is None until then. `ended` is None while
    the request waits for a decision.
    """

    code: str
    editable: bool
    timeout: timedelta
    expires_at: datetime | None
    ended: Ended | None
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueMessage:
    """A claimed row: its message, its address, the number of its attempts, and its waiting time.

    `reachable` is False if the person said STOP or blocked us, unless this message confirms that STOP.
    """

    message: OutboundMessage
    address: Address
    reachable: bool
    attempts: int
    age: timedelta
    stream: str | None = None
    """The provider's id of the message that grew while this answer was written; None while it is unknown."""
    stream_at: datetime | None = None
    """The moment when that message was begun, by the database's clock; None if there is none."""
    overtaken: bool = False
    """Whether another message came since then, below which the answer belongs."""
    missing: bool = False
    """Whether an earlier message of this conversation was given up without the person knowing."""
    exact: bool = False
    """Whether its text is fixed and must stand alone, such as the confirmation of a STOP."""
    own_chat: bool = True
    """Whether it goes to the person's own chat: a refusal by a group does not mean that they cannot be reached."""
    hangs: int = 0
    """The number of workers that it has blocked."""
    rendered: bool = False
    """Whether its parts are stored."""
    language: str | None = None
    """The person's language as a BCP 47 tag; None if it is unknown."""
    timezone: str | None = None
    """The person's timezone as an IANA name; None if it is unknown."""
    answers: str = ""
    """The provider's id of the message that this message answers; below, its subject, if messages have subjects."""
    subject: str = ""
    sentences: tuple[Sentence, ...] = ()
    """The sentences that stand for the text until the first rendering fixes the words."""
    traceparent: str | None = None
    """The context of the span in which it was queued."""
    waited: timedelta | None = None
    """The person's wait for this answer, which ends when it begins to grow in sight; None if it is no answer."""
    asks: CardState | None = None
    """The request of a card."""
    read_at: float = field(default_factory=monotonic, compare=False)
    """The moment of reading, by the process' own clock."""

    @property
    def takes_back(self) -> bool:
        """Return whether there is only an abandoned growing message to delete."""
        return self.stream_at is not None and not self.message.text and not self.message.media

    @property
    def tells_missing(self) -> bool:
        """Return whether to say that an earlier message may be missing; never on a card, which shows an action only."""
        return self.missing and not self.exact and self.message.kind is not OutboundKind.CARD


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A part as it was rendered for the first attempt.

    `attempt`: the number of its last call, 0 before the first; `silent_for`: the time since that call started.
    `lost`: the number of its calls with an unknown outcome; `lost_since`: the start of the first of them, by the
    database's clock.
    """

    number: int
    ref: str
    part: Part
    state: SendState
    attempt: int
    silent_for: timedelta
    lost: int
    lost_since: datetime | None


async def load_message(database: Database, claim: Claim) -> DueMessage:
    """Return the claimed row with its address."""
    row = claim.row or await database.one("select * from read_outbound($1,$2)", claim.tenant_id, claim.outbound_id)
    identity_state = IdentityState(row["identity_state"])
    message = OutboundMessage(
        id=row["id"],
        kind=OutboundKind(row["kind"]),
        text=row["text"],
        actions=tuple(_action(action) for action in row["actions"]),
        media=tuple(Media(**media) for media in row["media"]),
        wants_reply=row["wants_reply"],
        closing=row["closing"],
    )
    return DueMessage(
        message=message,
        address=Address(row["channel"], row["account"], row["peer"], row["thread"]),
        reachable=identity_state is IdentityState.ACTIVE
        or (row["regardless"] and identity_state is IdentityState.OPTED_OUT),
        attempts=row["attempts"],
        age=row["age"],
        stream=row["stream"] or None,
        stream_at=row["stream_at"],
        overtaken=row["overtaken"],
        missing=row["missing"],
        exact=row["regardless"],
        own_chat=row["own_chat"],
        hangs=row["hangs"],
        language=row["language"],
        timezone=row["timezone"],
        rendered=row["rendered"],
        answers=row["answers"],
        subject=row["subject"],
        sentences=tuple(Sentence(**sentence) for sentence in row["sentences"]),
        traceparent=row["traceparent"],
        waited=row["waited"],
        asks=_asking(row["asks"]) if row["asks"] else None,
    )


async def load_parts(database: Database, claim: Claim) -> list[KeptPart]:
    """Return the stored parts in order; empty before the first attempt."""
    rows = await database.rows("select * from read_parts($1,$2)", claim.tenant_id, claim.outbound_id)
    return kept_parts(rows)


def kept_parts(rows: Iterable[asyncpg.Record]) -> list[KeptPart]:
    """Convert rows of `read_parts`."""
    return [
        KeptPart(
            number=row["part"],
            ref=row["ref"],
            part=Part(row["text"], row["data"], row["segments"]),
            state=SendState(row["state"]),
            attempt=row["attempt"],
            silent_for=row["silent_for"],
            lost=row["lost"],
            lost_since=row["lost_since"],
        )
        for row in rows
    ]


def portions_of(claim: Claim, parts: Sequence[Part], make_id: IdMaker) -> list[list[dict[str, Any]]]:
    """Return the rows of a rendering by its portions, of which the first goes out now; at least one portion."""
    portions = [list(portion) for _, portion in groupby(parts, key=lambda part: part.portion)] or [[]]
    return [
        [
            {**asdict(part), "part": number, "ref": for_person(claim.tenant_id, make_id("part"))}
            for number, part in enumerate(portion, start=1)
        ]
        for portion in portions
    ]


def new_parts(rendered: Iterable[dict[str, Any]]) -> list[KeptPart]:
    """Convert parts that have just been stored, before any call."""
    none = timedelta()
    return [
        KeptPart(
            row["part"], row["ref"], Part(row["text"], row["data"], row["segments"]), SendState.READY, 0, none, 0, None
        )
        for row in rendered
    ]


def _asking(asks: JsonObject) -> CardState:
    return CardState(
        str(asks["code"]),
        bool(asks["editable"]),
        timedelta(seconds=float(str(asks["seconds"]))),
        moment_in(asks["expires_at"]),
        cast(Ended | None, asks["outcome"]),
        moment_in(asks["decided_at"]),
    )


def _action(row: dict[str, Any]) -> Action:
    return Action(row["label"], row["token"], ActionStyle(row.get("style", "plain")), row.get("needs_forms", False))
