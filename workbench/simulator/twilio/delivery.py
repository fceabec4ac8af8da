"""A message after the API accepted it: its statuses, and the callbacks about them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.simulator.base import Wire
from workbench.simulator.twilio.errors import DELIVERY_ERRORS
from workbench.simulator.twilio.fetching import fetch_media
from workbench.simulator.twilio.state import Debug, Message, MessageStatus, Store
from workbench.simulator.twilio.webhooks import deliver

PHONE_MODES: dict[str, tuple[MessageStatus, int | None]] = {
    "on": ("delivered", None),
    "off": ("undelivered", 30003),
    "blocked": ("undelivered", 30004),
    "unknown": ("undelivered", 30005),
    "landline": ("undelivered", 30006),
    "filtered": ("undelivered", 30007),
    "failing": ("failed", 30008),
    "silent": ("sent", None),
}
"""A phone's effects on a message: the last status and its error. "silent" carriers send no receipt."""

CALLBACK_MODES = ("in_order", "reversed", "twice", "none")

# docs: message-resource, "Message Status Callbacks": these are reported, the states between them are not.
_TOLD = frozenset[MessageStatus]({"queued", "sent", "delivered", "undelivered", "failed"})
_STEP = 0.4


@dataclass(slots=True)
class Phone:
    """The present behaviour of a person's phone and its carrier."""

    mode: str = "on"
    callbacks: str = "in_order"


async def carry(wire: Wire, store: Store, message: Message, phone: Phone) -> None:
    """Move a message to its end, telling the gateway as the phone's callback mode says."""
    last, error = PHONE_MODES[phone.mode]
    if (unfetched := await fetch_media(wire, store, message)) is not None:
        last, error = "failed", unfetched
    callbacks: list[dict[str, str]] = []

    async def tell() -> None:
        callbacks.append(callback_form(wire, message))
        if phone.callbacks in ("in_order", "twice"):
            await _send(wire, store, message, callbacks[-1:] * (2 if phone.callbacks == "twice" else 1))

    first: list[MessageStatus] = ["queued"] if message.status == "accepted" else []
    for status in [*first, "sending", "sent", *([last] if last != "sent" else [])]:
        if status == "sent" and last == "failed":
            continue
        if not callbacks and message.status == "queued":
            await tell()
        await wire.wait(_STEP)
        message.status, message.updated = status, wire.now()
        if status == "sent":
            message.sent = message.updated
        if status == last and error is not None:
            message.error_code, message.error_message = error, DELIVERY_ERRORS[error]
        wire.journal.touch()
        if status in _TOLD:
            await tell()
    if phone.callbacks == "reversed":
        await _send(wire, store, message, list(reversed(callbacks)))


def callback_form(wire: Wire, message: Message) -> dict[str, str]:
    """Return the parameters of a status callback, for the message's present state."""
    form = message.form_of(wire.config.twilio.account_sid) | {"MessageStatus": message.status}
    if message.error_code is not None:
        form["ErrorCode"] = str(message.error_code)
        form["ErrorMessage"] = message.error_message or ""
    if message.status in ("delivered", "undelivered"):
        form["RawDlrDoneDate"] = datetime.fromtimestamp(wire.now(), UTC).strftime("%y%m%d%H%M")
    return form


async def _send(wire: Wire, store: Store, message: Message, forms: list[dict[str, str]]) -> None:
    if not message.status_callback:
        return
    for form in forms:
        done = await deliver(wire, "twilio.status_callback", message.status_callback, form, message.sid)
        if not done.ok:
            # docs: errors/11200; a callback that failed is not kept for later.
            store.debug.append(Debug(wire.now(), 11200, message.sid, message.status_callback, done.told))
