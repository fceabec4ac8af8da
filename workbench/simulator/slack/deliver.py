"""Deliver to the gateway: signed requests or Socket Mode, three seconds to answer, and Slack's retries for events."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from workbench.simulator.base import Answer, NoAnswer, Wire
from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.events import changed_event, deleted_event, envelope, message_event, reaction_event
from workbench.simulator.slack.shapes import Obj, text
from workbench.simulator.slack.signature import signed_headers
from workbench.simulator.slack.sockets import Ack, Sockets
from workbench.simulator.slack.state import Delivery, Message, World

# apis/events-api, "Retries": the words of x-slack-retry-reason.
_REASONS = {"timeout": "http_timeout", "connect_failed": "connection_failed", "reset": "connection_failed"}
_FORM = "application/x-www-form-urlencoded"
_USER_AGENT = "Slackbot 1.0 (+https://api.slack.com/robots)"

type ChangeEvent = Callable[[World, Message, Obj, str], Obj]


@dataclass(frozen=True, slots=True)
class Reply:
    """The gateway's answer to an interaction; `reason` is empty for a good answer."""

    body: Json = None
    reason: str = ""


class Deliverer:
    """The way from the team to the gateway, for a single world."""

    def __init__(self, wire: Wire, world: World, sockets: Sockets) -> None:
        self._wire = wire
        self._world = world
        self.sockets = sockets

    def posted(self, message: Message) -> None:
        """Send the app its own message back, as Slack does to who is subscribed to message.im."""
        if self._world.switches.own_events:
            self.event(message_event(self._world, message), message.ts, self._whose(message))

    def changed(self, message: Message, before: Obj, event: ChangeEvent = changed_event) -> None:
        """Send the event of a changed message; for the app's own messages only if it is subscribed to them."""
        if self._world.switches.own_events or not message.bot_id:
            payload = event(self._world, message, before, self._world.next_ts())
            self.event(payload, message.ts, self._whose(message))

    def deleted(self, message: Message, before: Obj) -> None:
        self.changed(message, before, deleted_event)

    def reacted(self, kind: str, message: Message, user: str, name: str) -> None:
        """Send the event of a reaction, if the app may read reactions; for its own, only if it gets them."""
        own = user == self._world.config.slack.bot_user
        if "reactions:read" not in self._world.switches.scopes or (own and not self._world.switches.own_events):
            return
        event = reaction_event(kind, message, user, name, self._world.next_ts())
        self.event(event, message.ts, self._whose(message) if own else user)

    def event(self, event: Obj, about: str, user: str) -> Delivery:
        """Send an event, in the background, with retries."""
        payload = envelope(self._world.config.slack, event, self._world.now())
        delivery = self._world.deliver(text(event.get("type")), payload, about, user)
        self.redeliver(delivery)
        return delivery

    def redeliver(self, delivery: Delivery) -> None:
        """Send an event again from the first attempt on, under the same event_id."""
        delivery.state = "pending"
        self._wire.spawn(self._send_event(delivery), f"slack:event:{delivery.number}")

    def resume(self) -> None:
        """Go on with the events that were under way when the simulator stopped; interactions are never repeated."""
        for delivery in self._world.deliveries:
            if delivery.state != "pending":
                continue
            if delivery.payload.get("type") == "event_callback":
                self._wire.spawn(self._send_event(delivery, len(delivery.attempts)), f"slack:event:{delivery.number}")
            else:
                delivery.state = "failed"

    async def verify(self) -> bool:
        """Send url_verification (apis/events-api) and return whether the challenge was returned."""
        challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
        token = self._world.config.slack.verification_token
        body: Obj = {"token": token, "challenge": challenge, "type": "url_verification"}
        outcome = await self._post("url_verification", json.dumps(body).encode(), "application/json", {}, "")
        if not isinstance(outcome, Answer) or not outcome.ok:
            return False
        answered = outcome.body.decode(errors="replace").strip()
        return answered == challenge or _json(answered) == {"challenge": challenge}

    async def interact(self, kind: str, payload: Obj, about: str, user: str) -> Reply:
        """Send an interaction or a slash command once: Slack never retries those, the person sees an error."""
        delivery = self._world.deliver(text(payload.get("type")) or kind, payload, about, user)
        if self.sockets.on:
            ack = await self.sockets.send(kind, payload, about)
            reply = Reply(ack.payload) if isinstance(ack, Ack) else Reply(reason=ack)
        else:
            reply = await self._post_form(kind, payload, about)
        delivery.attempts.append({"attempt": 0, "at": self._world.now(), "outcome": reply.reason or "ok"})
        delivery.state = "failed" if reply.reason else "delivered"
        self._wire.journal.touch()
        return reply

    def _whose(self, message: Message) -> str:
        return self._world.channels[message.channel].user or message.user

    async def _post_form(self, kind: str, payload: Obj, about: str) -> Reply:
        fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        body = urlencode({key: str(value) for key, value in fields.items()}).encode()
        label = text(payload.get("type")) or kind
        outcome = await self._post(label, body, _FORM, {}, about)
        if not isinstance(outcome, Answer):
            return Reply(reason=outcome)
        # interactivity/handling-user-interaction: the acknowledgement is a 200.
        if outcome.status != 200:
            return Reply(reason=f"http_error_{outcome.status}")
        answered = outcome.body.decode(errors="replace").strip()
        return Reply(_json(answered) if answered else None)

    async def _send_event(self, delivery: Delivery, begun: int = 0) -> None:
        reason = ""
        for attempt in range(begun, len(limits.RETRY_AFTER_SECONDS) + 1):
            if attempt > begun:
                await self._wire.wait(limits.RETRY_AFTER_SECONDS[attempt - 1])
            reason, again = await self._attempt(delivery, attempt, reason)
            delivery.attempts.append({"attempt": attempt, "at": self._world.now(), "outcome": reason or "ok"})
            if not reason or not again:
                break
        delivery.state = "failed" if reason else "delivered"
        self._wire.journal.touch()

    async def _attempt(self, delivery: Delivery, attempt: int, reason: str) -> tuple[str, bool]:
        """Try once; give why it failed, if it did, and whether Slack would try again."""
        if self.sockets.on:
            ack = await self.sockets.send("events_api", delivery.payload, delivery.about, attempt=attempt)
            # Events for an app without an open socket are dropped: the app must look them up itself.
            return ("", False) if isinstance(ack, Ack) else (ack, ack != "no_connection")
        headers = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason} if attempt else {}
        body = json.dumps(delivery.payload).encode()
        outcome = await self._post(delivery.kind, body, "application/json", headers, delivery.about)
        if not isinstance(outcome, Answer):
            return outcome, True
        if outcome.ok:
            return "", False
        # apis/events-api, "Turning retries off": x-slack-no-retry: 1 on an answer that isn't 200.
        return "http_error", outcome.headers.get("X-Slack-No-Retry") != "1"

    async def _post(self, label: str, body: bytes, kind: str, extra: dict[str, str], about: str) -> Answer | str:
        """Send a signed request, following up to two redirects; return the answer or Slack's reason."""
        path = self._wire.config.slack.events_url or f"{self._wire.public_url}/webhooks/slack"
        for _ in range(limits.REDIRECTS + 1):
            # The signature's age is checked by machines' clocks, which are never shifted.
            proof = signed_headers(self._wire.config.slack.signing_secret, time.time(), body)
            headers = {"Content-Type": kind, "User-Agent": _USER_AGENT, **proof, **extra}
            outcome = await self._wire.call_gateway(
                "slack", f"slack.{label}", "POST", path, headers, body, about, limits.ACK_SECONDS
            )
            if isinstance(outcome, NoAnswer):
                return _REASONS[outcome.reason]
            if outcome.status not in (301, 302, 307, 308) or "Location" not in outcome.headers:
                return outcome
            path = outcome.headers["Location"]
        return "too_many_redirects"


def _json(answered: str) -> Json:
    try:
        value: Json = json.loads(answered)
    except ValueError:
        return answered
    return value
