"""What is due: a claimed outbound row with its message, its address and its parts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Literal, cast

import asyncpg

from core.db.database import Database
from core.json_types import JsonObject
from core.messaging.channels import Part
from core.messaging.messages import Action, ActionStyle, Address, Media, OutboundKind, OutboundMessage, Sentence
from core.messaging.states import IdentityState, SendState


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to send one outbound row, until its lease ends; every write carries the fence.

    `row`: the message as it was read with the claim.
    """

    tenant_id: str
    outbound_id: str
    conversation_id: str
    fence: int
    owner: str
    row: asyncpg.Record | None = field(default=None, compare=False, repr=False)


type Ended = Literal["approved", "cancelled", "replaced", "expired", "reissued"]
"""How a request for consent ended, as SQL names it."""


@dataclass(frozen=True, slots=True)
class CardState:
    """State of the request that a card shows, at the moment at which the card is sent.

    `timeout` begins when the first of its cards was sent; `expires_at` is None until then. `ended` is None while it
    waits for a decision.
    """

    code: str
    editable: bool
    timeout: timedelta
    expires_at: datetime | None
    ended: Ended | None
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueMessage:
    """A claimed row: what to send, where, how often it was tried, and how long it has waited.

    `reachable` is false when the person said STOP or blocked us, unless this is what confirms that STOP.
    """

    message: OutboundMessage
    address: Address
    reachable: bool
    attempts: int
    age: timedelta
    stream: str | None = None
    """The provider's id of the message that grew while this was written; None while that is not known."""
    stream_at: datetime | None = None
    """When that message was begun, by the database's clock; None when none was."""
    overtaken: bool = False
    """Whether something else was said since then, so that the answer belongs below it."""
    missing: bool = False
    """Whether an earlier message of this conversation was given up, and nobody has told the person yet."""
    exact: bool = False
    """Whether it says one fixed thing alone: what confirms a STOP."""
    own_chat: bool = True
    """Whether it goes to the person's own chat: what a group refuses says nothing of whether they can be reached."""
    hangs: int = 0
    """How many workers it has blocked."""
    rendered: bool = False
    """Whether its parts are stored."""
    language: str | None = None
    """The person's, as a BCP 47 tag; None where it is not known."""
    timezone: str | None = None
    """The person's, as an IANA name; None where it is not known."""
    answers: str = ""
    """The provider's id of the message that this answers, and what that was about, where messages have subjects."""
    subject: str = ""
    sentences: tuple[Sentence, ...] = ()
    """What the message says instead of a text of its own, until its first rendering fixes the words."""
    traceparent: str | None = None
    """The context of the span in which it was queued."""
    waited: timedelta | None = None
    """How long the person has waited for this answer, or did until it began to grow in sight; None where it is none."""
    asks: CardState | None = None
    """Of a card: its request."""
    read_at: float = field(default_factory=monotonic, compare=False)
    """When all this was read, by the process' own clock."""

    @property
    def takes_back(self) -> bool:
        """Tell that there is nothing to say, only a message without an answer to take back."""
        return self.stream_at is not None and not self.message.text and not self.message.media

    @property
    def tells_missing(self) -> bool:
        """Tell that an earlier message may be missing: never on a card, which shows what is consented to."""
        return self.missing and not self.exact and self.message.kind is not OutboundKind.CARD


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A part as it was rendered at the first attempt.

    `attempt`: the number of its last call, 0 before the first; `silent_for`: how long ago that started.
    `lost`: how many of its calls have an unknown outcome; `lost_since`: when the first of those started, by
    the database's clock.
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
    """Return the claimed row with the address it goes to."""
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
    """Return rows of `read_parts` as values."""
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


def new_parts(rendered: Iterable[dict[str, Any]]) -> list[KeptPart]:
    """Return parts that have just been stored, before any call."""
    none = timedelta()
    return [
        KeptPart(
            row["part"], row["ref"], Part(row["text"], row["data"], row["segments"]), SendState.READY, 0, none, 0, None
        )
        for row in rendered
    ]


def _asking(asks: JsonObject) -> CardState:
    expires, decided = asks["expires_at"], asks["decided_at"]
    return CardState(
        str(asks["code"]),
        bool(asks["editable"]),
        timedelta(seconds=float(str(asks["seconds"]))),
        datetime.fromisoformat(expires) if isinstance(expires, str) else None,
        cast(Ended | None, asks["outcome"]),
        datetime.fromisoformat(decided) if isinstance(decided, str) else None,
    )


def _action(row: dict[str, Any]) -> Action:
    return Action(row["label"], row["token"], ActionStyle(row.get("style", "plain")), row.get("needs_forms", False))
