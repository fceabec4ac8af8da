"""The calls that only acknowledge a gesture: the App Home, drawn when somebody opens it."""

import structlog

from channels.slack.client import FAILURES, SlackApi, describe
from core.json_types import JsonObject

_log = structlog.get_logger()

_WELCOME = (
    "Write to me under *Messages*, in your own words. A thread there is a conversation of its own.\n\n"
    "`/valet new` starts afresh · `/valet stop` stops what I am doing · `/valet help` tells more"
)


async def publish_home(api: SlackApi, user: str) -> None:
    """Draw a person's App Home. A courtesy: errors are logged, never raised."""
    try:
        await api.call("views.publish", user_id=user, view=home_view())
    except FAILURES as error:
        _log.warning("slack_home_not_drawn", cause=describe(error))


def home_view() -> JsonObject:
    """Make the home tab; Markdown blocks are for messages only, so it is Slack's own mark-up."""
    return {
        "type": "home",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "Your assistant"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": _WELCOME}},
        ],
    }
