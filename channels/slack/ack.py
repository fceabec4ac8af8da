"""The calls that only acknowledge a gesture: draw the App Home, open a form, answer the person who pressed."""

import structlog

from channels.slack.home import home_view, page_blocks, unread_home
from channels.slack.interactions import Gesture
from channels.slack.modals import form_view
from core.errors import DeliveryError, StoreUnavailable
from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop, speaking
from core.messaging.channels import InboundSink, Received
from core.messaging.messages import Address, Press
from core.messaging.overview import OverviewSource
from providers.slack.client import SlackApi
from providers.slack.wire import CHANNEL_NAME, MAX_SECTION, escape, plain_text

NOT_OPENED = gettext_noop("The form did not open. Press the button again, or tell me in words what you want.")

_log = structlog.get_logger()


async def language_of(sink: InboundSink, team: str, user: str) -> str:
    """Return the language of a sender; empty if it is unknown now."""
    if not isinstance(sink, OverviewSource):
        return ""
    try:
        return await sink.language(Address(CHANNEL_NAME, team, ""), user)
    except StoreUnavailable as error:
        _log.warning("slack_language_not_read", cause=str(error))
        return ""


async def elsewhere(sink: InboundSink, team: str, user: str) -> str:
    """Return the note on a command that was typed in another conversation than ours."""
    with speaking(await language_of(sink, team, user)):
        return gettext("I answer in our direct messages.")


async def answer_gesture(api: SlackApi, sink: InboundSink, gesture: Gesture, received: Received) -> None:
    """Open the form that a press asked for, and show the reply to the presser alone.

    Courtesies: errors are logged, never raised. `gesture.press.address` must be complete.
    """
    if received.form is not None:
        with speaking(await language_of(sink, gesture.press.address.account, gesture.press.sender)):
            view, not_opened = form_view(received.form), gettext(NOT_OPENED)
        try:
            await api.call("views.open", {"trigger_id": gesture.trigger_id, "view": view})
        except DeliveryError as error:
            _log.warning("slack_form_not_opened", id=received.id, cause=str(error))
            if not received.duplicate:  # then the first sight of it opened the form: a trigger is good for once
                await _tell(api, gesture.press, not_opened)
    if received.said:
        await _tell(api, gesture.press, received.said)


async def publish_home(api: SlackApi, sink: InboundSink, team: str, user: str) -> None:
    """Draw a person's present App Home. A courtesy: errors are logged, never raised."""
    try:
        await api.call("views.publish", {"user_id": user, "view": await _home(sink, team, user)})
    except DeliveryError as error:
        _log.warning("slack_home_not_drawn", cause=str(error))


async def _home(sink: InboundSink, team: str, user: str) -> JsonObject:
    if not isinstance(sink, OverviewSource):
        return home_view()
    try:
        overview = await sink.overview(Address(CHANNEL_NAME, team, ""), user)
    except StoreUnavailable as error:
        _log.warning("slack_home_not_read", cause=str(error))
        return unread_home()
    if overview is None:
        return home_view()
    with speaking(overview.language):
        return home_view(page_blocks(overview))


async def _tell(api: SlackApi, press: Press, line: str) -> None:
    """Show a line to the presser alone, literally; not by the response_url, which bypasses all permissions."""
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
