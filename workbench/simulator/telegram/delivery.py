"""Delivery to the webhook: https://core.telegram.org/bots/api#setwebhook.

The order and the delays follow the server source, `WebhookActor`: queues are served side by side, each in
order; the first retry comes at once, then after 2, 4, 8 … seconds, at most a random 60 to 120.
"""

import asyncio
import json
from http import HTTPStatus

from workbench.simulator.base import Answer, NoAnswer, Wire
from workbench.simulator.telegram.arguments import whole
from workbench.simulator.telegram.state import World
from workbench.simulator.telegram.updates import Update

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - a header's name
_MAX_RETRY_AFTER = 3600
_PATIENCE = 50.0
_NO_ANSWER = {
    "connect_failed": "Connection refused",
    "timeout": "Read timeout expired",
    "reset": "Connection reset by peer",
}


class Delivery:
    """Deliver all that waits to the webhook that is set now, until closed."""

    def __init__(self, wire: Wire, world: World) -> None:
        self._wire = wire
        self._world = world
        self._free = asyncio.Semaphore(world.webhook.max_connections)
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def wake(self) -> None:
        """Serve every unserved queue that has waiting updates."""
        if self._closed or self._world.updates.held:
            return
        for queue in self._world.updates.queues():
            if queue not in self._serving:
                self._serving[queue] = self._wire.spawn(self._serve(queue), f"telegram:{queue}")

    async def close(self) -> None:
        self._closed = True
        await self._wire.cancel_spawned("telegram:")

    async def deliver(self, update: Update) -> str:
        """Send a request; return an empty text if it was accepted, else the error, which the update stores, too."""
        hook = self._world.webhook
        headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}
        if hook.secret_token:
            headers[SECRET_HEADER] = hook.secret_token
        body = json.dumps(update.to_json(), ensure_ascii=False).encode()
        outcome = await self._wire.call_gateway(
            "telegram", f"telegram.{update.kind}", "POST", hook.url, headers, body, update.about, _PATIENCE
        )
        if isinstance(outcome, Answer) and outcome.ok:
            return ""
        return self._failed(update, outcome)

    async def _serve(self, queue: str) -> None:
        try:
            while (update := self._world.updates.head(queue)) and not self._world.updates.held:
                async with self._free:
                    error = await self.deliver(update)
                if not error:
                    self._world.updates.forget(update)
                    continue
                await self._rest(update, error)
        finally:
            self._serving.pop(queue, None)

    async def _rest(self, update: Update, error: str) -> None:
        wait = self._next_delay(update)
        update.fails += 1
        dropped = self._wire.now() + wait * self._wire.config.pace > update.expires_at
        self._world.updates.fail(update, error, dropped=dropped)
        self._wire.journal.touch()
        if dropped:
            self._world.updates.forget(update)
        elif wait:
            await self._wire.wait(wait)

    def _next_delay(self, update: Update) -> float:
        if update.retry_after:
            return update.retry_after
        if not update.fails:
            return 0.0
        update.delay = min(self._world.random.uniform(60, 120), update.delay * 2)
        return update.delay

    def _failed(self, update: Update, outcome: Answer | NoAnswer) -> str:
        update.retry_after = 0
        if isinstance(outcome, NoAnswer):
            error = _NO_ANSWER[outcome.reason]
        else:
            update.retry_after = min(max(whole(outcome.headers.get("Retry-After", "")), 0), _MAX_RETRY_AFTER)
            error = f"Wrong response from the webhook: {outcome.status} {_reason(outcome.status)}"
        update.last_error = error
        hook = self._world.webhook
        hook.last_error, hook.last_error_at = error, self._world.date()
        return error


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
