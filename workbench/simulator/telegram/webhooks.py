"""setWebhook, deleteWebhook, getWebhookInfo: https://core.telegram.org/bots/api#setwebhook."""

import re
from ipaddress import ip_address
from operator import attrgetter
from urllib.parse import urlsplit

from workbench.simulator.base import Wire
from workbench.simulator.journal import Json
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.delivery import Delivery
from workbench.simulator.telegram.errors import bad_request, too_many_requests
from workbench.simulator.telegram.polling import Polling
from workbench.simulator.telegram.state import World
from workbench.simulator.telegram.updates import Webhook

_PORTS = (443, 80, 88, 8443)


class Webhooks:
    """Keep the webhook, and the delivery that serves it."""

    def __init__(self, wire: Wire, world: World, polling: Polling) -> None:
        self._wire = wire
        self._world = world
        self._polling = polling
        self._next_set = 0.0
        self.delivery: Delivery | None = None
        world.updates.on_change(self._wake)

    async def set_webhook(self, given: Arguments) -> str:
        """Set, change or (with an empty url) delete the webhook; return Telegram's description of the change."""
        url = given.text("url")
        if not url:
            return await self.delete_webhook(given)
        now = self._wire.now()
        if now < self._next_set:
            # At most one in a second (server source, `process_set_webhook_query`).
            raise too_many_requests(1)
        self._next_set = now + self._wire.config.pace
        wanted = Webhook(
            url, given.text("secret_token"), given.integer("max_connections", 40, 1, 100), given.text("ip_address")
        )
        self._world.updates.allow(given.json_or_none("allowed_updates"))
        current, dropping = self._world.webhook, given.flag("drop_pending_updates")
        compared = attrgetter("url", "secret_token", "max_connections", "ip_address")
        if compared(current) == compared(wanted) and not dropping:
            return "Webhook is already set"
        _check(wanted)
        await self.close()
        if dropping:
            self._world.updates.clear()
        self._world.webhook = wanted
        self._polling.end(by_webhook=True)
        self.delivery = Delivery(self._wire, self._world)
        self.delivery.wake()
        return "Webhook was set"

    async def delete_webhook(self, given: Arguments) -> str:
        """Remove the webhook; waiting updates stay, unless they are to be dropped."""
        had = bool(self._world.webhook.url)
        await self.close()
        self._world.webhook = Webhook()
        if given.flag("drop_pending_updates"):
            self._world.updates.clear()
        return "Webhook was deleted" if had else "Webhook is already deleted"

    def get_webhook_info(self) -> dict[str, Json]:
        hook, updates = self._world.webhook, self._world.updates
        info: dict[str, Json] = {"url": hook.url, "has_custom_certificate": False}
        info["pending_update_count"] = updates.pending()
        if hook.last_error:
            info |= {"last_error_date": hook.last_error_at, "last_error_message": hook.last_error}
        if hook.url:
            info |= {"max_connections": hook.max_connections, "ip_address": hook.ip_address or "<unknown>"}
        if updates.allowed:
            info["allowed_updates"] = [*sorted(updates.allowed)]
        return info

    def resume(self) -> None:
        """Deliver to the webhook of an earlier run again."""
        if self._world.webhook.url:
            self.delivery = Delivery(self._wire, self._world)
            self.delivery.wake()

    async def close(self) -> None:
        if self.delivery:
            await self.delivery.close()
            self.delivery = None

    def _wake(self) -> None:
        if self.delivery:
            self.delivery.wake()


def _check(wanted: Webhook) -> None:
    if len(wanted.secret_token) > 256:
        raise bad_request("secret token is too long")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", wanted.secret_token):
        raise bad_request("secret token contains unallowed characters")
    try:
        parts = urlsplit(wanted.url if "://" in wanted.url else f"https://{wanted.url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if not host or parts.scheme not in ("http", "https"):
        raise bad_request("invalid webhook URL specified")
    if _is_loopback(host):
        return  # Our only leniency: a gateway on this machine has neither a certificate nor such a port.
    if parts.scheme == "http":
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    if (port or 443) not in _PORTS:
        raise bad_request("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
