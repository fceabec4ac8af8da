"""A person's text to a number of the account: the message, the webhook, and the texts in its answer."""

from collections.abc import Callable

from workbench.simulator.base import Answer, Wire
from workbench.simulator.twilio.optout import REPLIES, OptOut, opt_out_of
from workbench.simulator.twilio.state import Debug, Hook, Media, Message, PhoneNumber, Store, new_sid
from workbench.simulator.twilio.webhooks import Delivered, TwimlError, deliver, replies_of

_PLACE = {"City": "SAN FRANCISCO", "State": "CA", "Zip": "94105", "Country": "US"}


class Inbound:
    """The way from a phone to the gateway. `sent` is called with every message that answers."""

    def __init__(self, wire: Wire, store: Callable[[], Store], sent: Callable[[Message], None]) -> None:
        self._wire = wire
        self._config = wire.config.twilio
        self._store = store
        self._sent = sent

    def receive(self, sender: str, number: PhoneNumber, body: str, media: list[Media]) -> Message:
        """Accept a text and apply STOP, START and HELP, which Twilio answers itself."""
        store, now = self._store(), self._wire.now()
        message = Message(
            sid=new_sid("MM" if media else "SM"),
            direction="inbound",
            sender=sender,
            to=number.number,
            body=body,
            status="received",
            created=now,
            updated=now,
            sent=now,
            media=media,
            webhook="waiting",
        )
        store.messages[message.sid] = message
        word = opt_out_of(body) if self._config.answers_stop and not media else None
        message.service_sid = self.hook_of(number).service_sid or None
        message.form = self._form(message, word)
        if word:
            self._opt_out(word, number.number, sender)
        return message

    async def tell(self, message: Message, number: PhoneNumber) -> Delivered:
        """Call the webhook, then the fallback if that failed, and send the texts of the answer."""
        hook = self.hook_of(number)
        done = await deliver(self._wire, "twilio.webhook", hook.url, message.form, message.sid, hook.method)
        message.attempts += done.attempts
        failure = self._failure(done)
        if failure:
            self._debug(failure, message, hook.url, done.told)
            if hook.fallback_url:
                done = await self._tell_fallback(message, hook, failure)
                failure = self._failure(done)
        message.webhook = done.told if failure in (0, 11200) else str(failure)
        if not failure and isinstance(done.outcome, Answer):
            self._reply(message, done.outcome)
        self._wire.journal.touch()
        return done

    def hook_of(self, number: PhoneNumber) -> Hook:
        """Return the number's webhook: the URL that the gateway set, else the configured URL, else the usual path."""
        usual = f"{self._wire.public_url}/webhooks/sms" if self._wire.public_url else ""
        return self._store().hook_of(number, usual)

    async def _tell_fallback(self, message: Message, hook: Hook, failure: int) -> Delivered:
        # docs: messaging/twiml, fallback requests carry ErrorCode and ErrorUrl.
        form = {**message.form, "ErrorCode": str(failure), "ErrorUrl": hook.url}
        url, method = hook.fallback_url, hook.fallback_method
        done = await deliver(self._wire, "twilio.fallback", url, form, message.sid, method)
        message.attempts += done.attempts
        if code := self._failure(done):
            self._debug(code, message, url, done.told)
        return done

    def _failure(self, done: Delivered) -> int:
        """Return the debugger's code for an outcome, or 0 (docs: errors/11200, 12100, 12300)."""
        if not done.ok or not isinstance(done.outcome, Answer):
            return 11200
        try:
            replies_of(done.outcome)
        except TwimlError as error:
            return error.code
        return 0

    def _reply(self, message: Message, answer: Answer) -> None:
        for reply in replies_of(answer):
            media = [Media(new_sid("ME"), "application/octet-stream", url=url) for url in reply.media]
            self._answer(message.to, reply.to or message.sender, reply.body, media)

    def _answer(self, sender: str, to: str, body: str, media: list[Media] | None = None) -> None:
        store, now = self._store(), self._wire.now()
        if (sender, to) in store.stopped:
            self._debug(21610, None, "", "a reply to somebody who said STOP")
            return
        reply = Message(
            sid=new_sid("MM" if media else "SM"),
            direction="outbound-reply",
            sender=sender,
            to=to,
            body=body,
            status="queued",
            created=now,
            updated=now,
            media=media or [],
        )
        store.messages[reply.sid] = reply
        self._sent(reply)

    def _opt_out(self, word: OptOut, number: str, person: str) -> None:
        stopped, pair = self._store().stopped, (number, person)
        match word:
            case "STOP" if pair not in stopped:
                self._answer(number, person, REPLIES["STOP"])
                stopped.add(pair)
            case "START" if pair in stopped:
                stopped.discard(pair)
                self._answer(number, person, REPLIES["START"])
            case "HELP":
                self._answer(number, person, REPLIES["HELP"])
            case _:
                pass  # said again: Twilio answers the first time only

    def _form(self, message: Message, word: OptOut | None) -> dict[str, str]:
        # docs: messaging/guides/webhook-request; new parameters may appear there at any time.
        form = message.form_of(self._config.account_sid) | {
            "Body": message.body,
            "NumMedia": str(len(message.media)),
            "NumSegments": str(message.segments.count),
            "SmsMessageSid": message.sid,
        }
        for name, value in _PLACE.items():
            form[f"From{name}"] = form[f"To{name}"] = value
        base = f"{self._wire.url}/twilio/2010-04-01/Accounts/{self._config.account_sid}/Messages/{message.sid}"
        for index, media in enumerate(message.media):
            form[f"MediaUrl{index}"] = f"{base}/Media/{media.sid}"
            form[f"MediaContentType{index}"] = media.content_type
        if word and self._config.tells_opt_out:
            form["OptOutType"] = word
        return form

    def _debug(self, code: int, message: Message | None, url: str, detail: str) -> None:
        sid = message.sid if message else ""
        self._store().debug.append(Debug(self._wire.now(), code, sid, url, detail))
