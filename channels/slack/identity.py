"""Our identity in Slack, and our conversation with each person."""

import asyncio

import structlog

from channels.fields import object_at
from channels.slack.messages import AppIdentity
from channels.slack.payload_fields import APP, CHANNEL, TEAM, name_at, optional_name
from core.errors import DeliveryError, RequestRefused, Unavailable
from providers.slack.client import SlackApi

FIRST_WAIT, MAX_WAIT = 1.0, 60.0
"""Seconds between two attempts to learn who we are."""
OPEN_SECONDS = 1.5
"""A command must be answered within Slack's 3 s, commit included."""

_log = structlog.get_logger()


class Identity:
    """Ask Slack once, then remember."""

    def __init__(self, api: SlackApi) -> None:
        self._api = api
        self._direct: dict[str, str] = {}
        self.ours = AppIdentity()

    async def ask(self) -> AppIdentity:
        """Return team, bot and app, requested once. Raises `Unavailable`."""
        if not self.ours.team:
            try:
                self.ours = await ask_who_we_are(self._api)
            except (DeliveryError, RequestRefused) as error:
                raise Unavailable(f"auth.test: {error}") from error
            _log.info("slack_identity_known", team=self.ours.team, app=self.ours.app)
        return self.ours

    async def learn(self) -> AppIdentity:
        """Return team, bot and app, asking until Slack answers."""
        wait = FIRST_WAIT
        while True:
            try:
                return await self.ask()
            except Unavailable as error:
                _log.warning("slack_identity_unknown", cause=str(error))
            await asyncio.sleep(wait)
            wait = min(wait * 2, MAX_WAIT)

    def remember(self, user: str, channel: str) -> None:
        self._direct[user] = channel

    async def direct(self, user: str) -> str | None:
        """Return our direct conversation with a person, opened if need be; None if Slack does not return it."""
        known = self._direct.get(user)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                answer = await self._api.call("conversations.open", {"users": user})
            channel = name_at(object_at(answer, "channel"), "id", CHANNEL)
        except (DeliveryError, RequestRefused, TimeoutError) as error:
            _log.warning("slack_direct_unknown", cause=str(error) or type(error).__name__)
            return None
        self.remember(user, channel)
        return channel


async def ask_who_we_are(api: SlackApi) -> AppIdentity:
    """Return team, bot and, if the scope allows it, app. Raises `DeliveryError` or `RequestRefused`."""
    who = await api.call("auth.test")
    bot_id = str(who["bot_id"]) if who.get("bot_id") else None
    return AppIdentity(
        team=name_at(who, "team_id", TEAM),
        app=await _app(api, bot_id) if bot_id else "",
        bot_user=str(who.get("user_id") or ""),
        bot_id=bot_id,
    )


async def _app(api: SlackApi, bot_id: str) -> str:
    try:
        answer = await api.call("bots.info", {"bot": bot_id}, get=True)
        return optional_name(object_at(answer, "bot"), "app_id", APP)
    except (DeliveryError, RequestRefused) as error:
        _log.info("slack_app_unknown", cause=str(error))
        return ""
