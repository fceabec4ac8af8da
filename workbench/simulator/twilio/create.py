"""Accept or refuse a message to be sent, in the order in which Twilio checks."""

from workbench.simulator.twilio.errors import Refusal
from workbench.simulator.twilio.forms import Form, check_options, is_e164, is_url
from workbench.simulator.twilio.state import Media, Message, Store, new_sid

MAX_BODY = 1600
MAX_MEDIA = 10

# docs: iam/test-credentials, "magic" numbers for sending messages.
_MAGIC_TO = {
    "+15005550001": 21211,
    "+15005550002": 21612,
    "+15005550003": 21408,
    "+15005550004": 21610,
    "+15005550009": 21614,
}
_MAGIC_FROM = {"+15005550001": 21212, "+15005550007": 21606, "+15005550008": 21611}
_MAGIC_GOOD = "+15005550006"


def make_message(form: Form, store: Store, account: str, now: float, ours: str) -> Message:
    """Return the message of a create call; `ours` is the gateway's public origin. Raises Refusal."""
    to, body = form.one("To"), form.one("Body")
    if not to:
        raise Refusal(21604)
    service = form.one("MessagingServiceSid")
    sender = _sender(form.one("From"), service, to, store, account)
    _check_to(to, sender)
    if not body and not form.all("MediaUrl"):
        raise Refusal(21602)
    # docs: errors/21617. Counted in UTF-16 units, the stricter reading of "characters".
    if len(body.encode("utf-16-le")) // 2 > MAX_BODY:
        raise Refusal(21617)
    media = _media(form.all("MediaUrl"), ours)
    callback = form.one("StatusCallback")
    if service and not callback:
        # docs: message-resource, a message's own StatusCallback stands over its service's.
        callback = store.services[service].settings.get("StatusCallback", "")
    if callback and not is_url(callback, ours):
        raise Refusal(21609, f"The 'StatusCallback' URL {callback} is not a valid URL.")
    check_options(form)
    # docs: errors/21610, and the help page on opt-out keywords.
    if (sender, to) in store.stopped:
        raise Refusal(21610)
    return Message(
        sid=new_sid("MM" if media else "SM"),
        direction="outbound-api",
        sender=sender,
        to=to,
        body=body,
        status="accepted" if service and not form.one("From") else "queued",
        created=now,
        updated=now,
        media=media,
        service_sid=service or None,
        status_callback=callback,
    )


def _sender(sender: str, service: str, to: str, store: Store, account: str) -> str:
    if service:
        # docs: errors/21701 and 21703.
        if service not in store.services:
            raise Refusal(21701)
        pool = store.services[service].numbers
        if not pool:
            raise Refusal(21703)
        if not sender:
            # docs: messaging/services, sticky sender: the same person keeps the same number.
            return pool[sum(map(ord, to)) % len(pool)]
    if not sender:
        raise Refusal(21603)
    if sender in _MAGIC_FROM:
        raise Refusal(_MAGIC_FROM[sender])
    if sender in store.numbers or sender == _MAGIC_GOOD:
        return sender
    if any(letter.isalpha() for letter in sender) and len(sender) <= 11:
        # docs: errors/21606; alphanumeric sender ids are not registered on this account.
        raise Refusal(21606)
    if not is_e164(sender):
        # docs: errors/21212.
        detail = f"The 'From' number {sender} is not a valid phone number, shortcode, or alphanumeric sender ID"
        raise Refusal(21212, detail)
    # docs: errors/21660: a number, but not this account's.
    raise Refusal(21660, f"Mismatch between the 'From' number {sender} and the account {account}")


def _check_to(to: str, sender: str) -> None:
    if to in _MAGIC_TO:
        raise Refusal(_MAGIC_TO[to])
    if not is_e164(to):
        # docs: errors/21211.
        raise Refusal(21211, f"The 'To' number {to} is not a valid phone number.")
    if to == sender:
        # docs: errors/21266.
        raise Refusal(21266)


def _media(urls: list[str], ours: str) -> list[Media]:
    # docs: errors/21623 and 21620; the files are fetched later (`workbench.simulator.twilio.fetching`).
    if len(urls) > MAX_MEDIA:
        raise Refusal(21623)
    if not all(is_url(url, ours) for url in urls):
        raise Refusal(21620)
    return [Media(new_sid("ME"), "application/octet-stream", url=url) for url in urls]
