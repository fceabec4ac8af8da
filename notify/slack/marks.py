"""The eyes on a person's message while it is worked on: the top level of a direct message has no status line.

Source: docs.slack.dev, reference/methods/reactions.add and reactions.remove.
"""

import asyncio

import structlog

from core.errors import CredentialsRejected, DeliveryError, RateLimited
from core.messaging.emoji import THUMB_UP
from core.messaging.messages import Address
from providers.slack.client import SlackApi
from providers.slack.wire import is_ts

EYES = "eyes"
NAMES = {THUMB_UP: "+1"}
"""Slack's names of the emoji with which we react."""
TRIES = 4
PAUSE = 1.0
"""Seconds between two tries to remove a mark, if Slack names no time; it doubles."""
MAX_PAUSE = 60.0
FINISH_WITHIN = 3.0
"""Seconds that closing waits for marks that are being taken away."""
_MARKED_ALREADY, _NO_MARK = "already_reacted", ("no_reaction", "message_not_found")

_log = structlog.get_logger()


class WorkingMarks:
    """Set and take away marks in the background; they are hints, so errors are logged, never raised."""

    def __init__(self, client: SlackApi) -> None:
        self._client = client
        self._setting: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._clearing: set[asyncio.Task[None]] = set()
        self.allowed = True
        """False once Slack has refused the scope: the app was installed before it was added."""

    def show(self, to: Address, ts: str) -> None:
        """Set the mark."""
        if self._is_wanted(to, ts):
            self._setting[to.peer, ts] = asyncio.create_task(self._set(to.peer, ts))

    def clear(self, to: Address, ts: str) -> None:
        """Remove the mark, no matter which process has set it."""
        if self._is_wanted(to, ts):
            task = asyncio.create_task(self._clear(to.peer, ts, self._setting.pop((to.peer, ts), None)))
            self._clearing.add(task)
            task.add_done_callback(self._clearing.discard)

    async def react(self, to: Address, ts: str, emoji: str) -> None:
        """Put a reaction that stays on a message. Raises `DeliveryError`."""
        try:
            await self._client.call("reactions.add", {"channel": to.peer, "timestamp": ts, "name": NAMES[emoji]})
        except DeliveryError as error:
            if error.code != _MARKED_ALREADY:
                raise

    async def finish(self) -> None:
        """Wait a moment for the marks that are being taken away, then end all calls."""
        if self._clearing:
            await asyncio.wait(self._clearing, timeout=FINISH_WITHIN)
        tasks = [*self._setting.values(), *self._clearing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _is_wanted(self, to: Address, ts: str) -> bool:
        return self.allowed and not to.thread and is_ts(ts)

    async def _set(self, channel: str, ts: str) -> None:
        try:
            await self._client.call("reactions.add", {"channel": channel, "timestamp": ts, "name": EYES})
        except CredentialsRejected as error:
            self.allowed = False
            _log.warning("slack_marks_off", code=error.code)
        except DeliveryError as error:
            if error.code != _MARKED_ALREADY:
                _log.info("slack_mark_not_set", code=error.code, cause=str(error))

    async def _clear(self, channel: str, ts: str, setting: asyncio.Task[None] | None) -> None:
        if setting is not None:
            await setting
        pause = PAUSE
        for _ in range(TRIES):
            try:
                await self._client.call("reactions.remove", {"channel": channel, "timestamp": ts, "name": EYES})
                return
            except CredentialsRejected:
                return
            except DeliveryError as error:
                if error.code in _NO_MARK:
                    return
                asked = error.retry_after if isinstance(error, RateLimited) else None
                _log.info("slack_mark_stays", code=error.code, cause=str(error))
            await asyncio.sleep(min(asked.total_seconds() if asked else pause, MAX_PAUSE))
            pause *= 2
