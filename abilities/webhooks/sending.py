"""The calls to endpoints: signed, bounded in time, and tried again for a day with growing pauses."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

import aiohttp
import structlog

from abilities.webhooks.outbox import CallEnd, ClaimedMessage, OutgoingEvent, WebhookOutbox
from abilities.webhooks.signing import secrets_of, signed_headers
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.errors import StoreUnavailable
from core.http.address_guard import Barred
from core.http.guarded_client import GuardedClient
from core.queue.wakeups import NOBODY, Later

DUE = "webhooks"
"""Its kind of due work."""
TIMEOUT = 10.0
"""Seconds of a call. An answer need not come whole: its status is all that counts."""
GIVE_UP_AFTER = timedelta(days=1)
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 60, 300, 900, 3600))
"""The pauses after the first calls that failed; the last is that of all others."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """Send claimed messages. `elsewhere` is told of calls that are due later."""

    outbox: WebhookOutbox
    http: GuardedClient
    keys: SecretKeys
    worker: str
    clock: Clock
    later: Later = NOBODY
    chance: Callable[[], float] = field(default=random.random)
    timeout: float = TIMEOUT

    async def claim(self, message_id: str | None) -> ClaimedMessage | None:
        """Claim the named message, or the one that is due longest."""
        return await self.outbox.claim(message_id, self.worker)

    async def run(self, claimed: ClaimedMessage) -> None:
        """Make the call of a message, and record how it ended; a lost record leads to the same message again."""
        try:
            event = await self.outbox.read(claimed)
            if event is None:
                return
            status, reason = await self._call(claimed.id, event)
            end, delay = self._end_of(status, event)
            await self.outbox.end(claimed, end, status, reason, delay)
        except StoreUnavailable as error:
            _log.warning("webhook_delayed", message=claimed.id, cause=str(error))
            return
        if end is CallEnd.AGAIN:
            self.later.come_due(DUE, claimed.id, delay)
        tell = _log.info if end is CallEnd.SENT else _log.warning
        tell("webhook_called", message=claimed.id, endpoint=event.endpoint_id, end=end.value, status=status)

    async def _call(self, message_id: str, event: OutgoingEvent) -> tuple[int | None, str]:
        """Return the status of the answer, and why it is none of success; None without an answer."""
        # Signatures are told from repeats by their time, which is the machine's, not people's.
        now = self.clock.machine_now()
        secrets = secrets_of(self.keys, event.endpoint_id, event.generation, event.rotated_at, now)
        headers = signed_headers(message_id, now, event.body, secrets)
        try:
            async with (
                asyncio.timeout(self.timeout),
                self.http.stream("POST", event.url, headers, event.body, self.timeout) as answer,
            ):
                status = answer.status
        except Barred:
            return None, "its address is not public, and not named in ONEVALET_FETCH_HOSTS"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return None, type(error).__name__
        return status, "" if _is_success(status) else f"it answered {status}"

    def _end_of(self, status: int | None, event: OutgoingEvent) -> tuple[CallEnd, timedelta]:
        if status is not None and _is_success(status):
            return CallEnd.SENT, timedelta()
        pause = PAUSES[min(event.attempts, len(PAUSES)) - 1] * (1 + self.chance() / 5)
        if status == HTTPStatus.GONE:
            return CallEnd.GONE, pause
        return (CallEnd.FAILED if event.age >= GIVE_UP_AFTER else CallEnd.AGAIN), pause


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
