"""The updates that wait for the bot: https://core.telegram.org/bots/api#getting-updates.

There is a queue for each chat's messages, for each user's callback queries, and for each chat's membership: in a queue,
an update waits until the previous update was taken or dropped (server source, `WebhookActor`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.simulator.journal import Json

MESSAGE_LIFE = 86_400.0
CALLBACK_LIFE = 150.0
_KINDS = frozenset(
    {
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "inline_query",
        "chosen_inline_result",
        "callback_query",
        "shipping_query",
        "pre_checkout_query",
        "poll",
        "poll_answer",
        "my_chat_member",
        "chat_member",
        "chat_join_request",
        "message_reaction",
        "message_reaction_count",
        "chat_boost",
        "removed_chat_boost",
        "business_connection",
        "business_message",
        "edited_business_message",
        "deleted_business_messages",
        "purchased_paid_media",
    }
)
# https://core.telegram.org/bots/api#setwebhook: an empty list means all but these.
_NOT_BY_DEFAULT = frozenset(("chat_member", "message_reaction", "message_reaction_count"))


@dataclass(slots=True)
class Webhook:
    """The arguments of setWebhook; `url` is empty without a webhook."""

    url: str = ""
    secret_token: str = ""
    max_connections: int = 40
    ip_address: str = ""
    last_error_at: int = 0
    last_error: str = ""


@dataclass(slots=True)
class Update:
    """An update: `person` is the person whose act made it, `about` the message it is about."""

    update_id: int
    kind: str
    body: dict[str, Json]
    queue: str
    expires_at: float
    person: str
    about: str = ""
    fails: int = 0
    delay: float = 1.0
    retry_after: int = 0
    last_error: str = ""

    def to_json(self) -> dict[str, Json]:
        return {"update_id": self.update_id, self.kind: self.body}


@dataclass(slots=True)
class Failure:
    """A delivery to the webhook that did not end in a 2xx."""

    update_id: int
    kind: str
    person: str
    at: float
    attempt: int
    error: str
    about: str = ""
    dropped: bool = False


class Updates:
    """Updates that were not taken yet, in order of update_id. `now` returns people's time."""

    def __init__(self, now: Callable[[], float], first_id: int) -> None:
        self._now = now
        self.next_id = first_id
        self._waiting: dict[int, Update] = {}
        self._listeners: list[Callable[[], None]] = []
        self.made: list[Update] = []
        self.failures: list[Failure] = []
        self.allowed: frozenset[str] = frozenset()
        self.held = False

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this after every new update."""
        self._listeners.append(listener)

    def add(
        self, kind: str, body: dict[str, Json], *, queue: str, life: float, person: str, about: str = ""
    ) -> Update | None:
        """Queue an update with the next id, or return None if the bot does not want its kind."""
        if kind not in self.allowed_kinds():
            return None
        update = Update(self.next_id, kind, body, queue, self._now() + life, person, about)
        self.next_id += 1
        self._waiting[update.update_id] = update
        self.made.append(update)
        self.tell()
        return update

    def again(self, update: Update, life: float) -> None:
        """Queue an update once more under its old id, as after an answer that was lost."""
        # Not the same object: the first delivery may still be under way, and ends by forgetting its own.
        self._waiting[update.update_id] = replace(
            update, expires_at=self._now() + life, fails=0, delay=1.0, retry_after=0, last_error=""
        )
        self._waiting = dict(sorted(self._waiting.items()))
        self.tell()

    def waiting(self) -> list[Update]:
        """Return the untaken updates, in order."""
        return list(self._waiting.values())

    def restore(self, waiting: list[Update], next_id: int) -> None:
        """Continue from an earlier run: its waiting updates wait again, and no id is used twice."""
        self._waiting = {update.update_id: update for update in waiting}
        self.made = list(waiting)
        self.next_id = max(self.next_id, next_id)

    def tell(self) -> None:
        """Wake the listeners: there may be something to take."""
        for listener in self._listeners:
            listener()

    def allow(self, given: Json) -> None:
        """Set the wanted kinds from `allowed_updates`; anything but a list of strings keeps the old kinds.

        Unknown names are passed over; an empty list, or a list of only unknown names, means the default (server source,
        `get_allowed_update_types`).
        """
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            return
        self.allowed = frozenset(str(name).lower() for name in given) & _KINDS

    def allowed_kinds(self) -> frozenset[str]:
        return self.allowed or _KINDS - _NOT_BY_DEFAULT

    def pending(self) -> int:
        self._expire()
        return len(self._waiting)

    def take(self, offset: int, limit: int) -> list[Update]:
        """Return the waiting updates from `offset` on, dropping earlier updates; 0 means the earliest.

        A negative offset keeps only that many from the end. An offset far in the future counts as 0.
        """
        self._expire()
        if offset < 0:
            for known in list(self._waiting)[:offset]:
                del self._waiting[known]
        elif 0 < offset <= self.next_id + 9:
            for known in [known for known in self._waiting if known < offset]:
                del self._waiting[known]
        return list(self._waiting.values())[:limit]

    def waits_for(self, about: str) -> bool:
        return any(update.about == about for update in self._waiting.values())

    def dropped(self, about: str) -> bool:
        return any(failure.about == about and failure.dropped for failure in self.failures)

    def queues(self) -> list[str]:
        return list(dict.fromkeys(update.queue for update in self._waiting.values()))

    def head(self, queue: str) -> Update | None:
        """Return the first of a queue that is not too old, or None."""
        self._expire()
        return next((update for update in self._waiting.values() if update.queue == queue), None)

    def forget(self, update: Update) -> None:
        """Remove an update after its delivery or drop. An update that was queued again since stays."""
        if self._waiting.get(update.update_id) is update:
            del self._waiting[update.update_id]

    def clear(self) -> None:
        self._waiting.clear()

    def fail(self, update: Update, error: str, *, dropped: bool = False) -> None:
        """Remember a delivery that failed, for the page."""
        number, kind, person, about = update.update_id, update.kind, update.person, update.about
        self.failures.append(Failure(number, kind, person, self._now(), update.fails, error, about, dropped))
        del self.failures[:-100]

    def _expire(self) -> None:
        now = self._now()
        for update in [update for update in self._waiting.values() if update.expires_at < now]:
            self.forget(update)
            self.fail(update, update.last_error or "nobody fetched it", dropped=True)
