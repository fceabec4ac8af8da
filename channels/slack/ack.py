"""The calls that only acknowledge a gesture: draw the App Home, open a form, answer the person who pressed."""

import structlog

from channels.slack.interactions import Gesture
from channels.slack.modals import form_view
from core.errors import DeliveryError
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.messages import Press
from providers.slack.client import SlackApi
from providers.slack.wire import MAX_SECTION, escape, plain_text

NOT_OPENED = "The form did not open. Press the button again, or tell me in words what you want."

_log = structlog.get_logger()

_WELCOME = (
    "Write to me under *Messages*, in your own words. A thread there is a conversation of its own.\n\n"
    "`/valet new` starts afresh · `/valet stop` stops what I am doing · `/valet help` tells more"
)


async def answer_gesture(api: SlackApi, gesture: Gesture, received: Received) -> None:
    """Open the form that a press asked for, and show the reply to the presser alone.

    Courtesies: errors are logged, never raised. `gesture.press.address` must be complete.
    """
    if received.form is not None:
        try:
            await api.call("views.open", {"trigger_id": gesture.trigger_id, "view": form_view(received.form)})
        except DeliveryError as error:
            _log.warning("slack_form_not_opened", id=received.id, cause=str(error))
            if not received.duplicate:  # then the first sight of it opened the form: a trigger is good for once
                await _tell(api, gesture.press, NOT_OPENED)
    if received.said:
        await _tell(api, gesture.press, received.said)


async def publish_home(api: SlackApi, user: str) -> None:
    """Draw a person's App Home. A courtesy: errors are logged, never raised."""
    try:
        await api.call("views.publish", {"user_id": user, "view": home_view()})
    except DeliveryError as error:
        _log.warning("slack_home_not_drawn", cause=str(error))


def home_view() -> JsonObject:
    """Return the home tab; Markdown blocks are for messages only, so it is Slack's own mark-up."""
    return {
        "type": "home",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "Your assistant"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": _WELCOME}},
        ],
    }


async def _tell(api: SlackApi, press: Press, line: str) -> None:
    """Show one line to the presser alone, literally; not by the response_url, which bypasses all permissions."""
    written = escape(line, MAX_SECTION)
    arguments: JsonObject = {
        "channel": press.address.peer,
        "user": press.sender,
        "text": written,
        "blocks": [{"type": "section", "text": plain_text(written)}],
    }
    if press.address.thread:
        arguments["thread_ts"] = press.address.thread
    try:
        await api.call("chat.postEphemeral", arguments)
    except DeliveryError as error:
        _log.info("slack_word_not_shown", cause=str(error))
