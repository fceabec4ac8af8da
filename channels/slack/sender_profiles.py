"""A sender's name, timezone and language in Slack, read after their first message, then hourly at most.

docs.slack.dev: reference/methods/users.info. It needs `users:read`, and never delays an answer.
"""

from collections.abc import Callable
from functools import cache
from time import monotonic
from zoneinfo import available_timezones

import structlog

from channels.fields import object_at
from core.errors import DeliveryError, RequestRefused, StoreUnavailable
from core.json_types import JsonObject
from core.language.tags import read_tag
from core.messaging.channels import InboundSink
from core.messaging.messages import SenderProfile
from providers.slack.client import SlackApi
from providers.slack.wire import CHANNEL_NAME

MAX_KNOWN = 10_000
"""People whose reading is remembered; if there are more, all are forgotten."""
ASK_AGAIN = 3600.0
"""Seconds after which a sender's profile is read again: they may have moved, or changed their settings."""

_log = structlog.get_logger()


class SenderProfiles:
    """Ask Slack about each person who writes, and hand in the answer."""

    def __init__(self, api: SlackApi, sink: InboundSink, seconds: Callable[[], float] = monotonic) -> None:
        self._api = api
        self._sink = sink
        self._seconds = seconds
        self._asked: dict[tuple[str, str], float] = {}

    def is_due(self, team: str, user: str) -> bool:
        """Return whether this person's profile was not read lately, and remember the reading."""
        now = self._seconds()
        asked = self._asked.get((team, user))
        if asked is not None and now - asked < ASK_AGAIN:
            return False
        if len(self._asked) >= MAX_KNOWN:
            self._asked.clear()
        self._asked[team, user] = now
        return True

    async def ask(self, team: str, user: str) -> None:
        """Ask, and hand in the answer; if there is none, the person's next message asks again."""
        try:
            asked: JsonObject = {"user": user, "include_locale": True}
            profile = object_at(await self._api.call("users.info", asked, get=True), "user")
            name, zone, locale = profile.get("real_name"), profile.get("tz"), profile.get("locale")
            await self._sink.accept(
                SenderProfile(
                    CHANNEL_NAME,
                    team,
                    user,
                    name=name if isinstance(name, str) else "",
                    timezone=zone if isinstance(zone, str) and zone in timezones() else None,
                    language=read_tag(locale) if isinstance(locale, str) else None,
                )
            )
        except (DeliveryError, RequestRefused, StoreUnavailable) as error:
            self._asked.pop((team, user), None)
            _log.info("slack_person_unknown", cause=str(error))


@cache
def timezones() -> frozenset[str]:
    """Return the names of all timezones, read once: it takes tens of milliseconds, in which no request is answered."""
    return frozenset(available_timezones())
