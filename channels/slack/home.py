"""The App Home's view: waiting entries, next tasks, and help; pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop, ngettext
from core.language.times import moment_in_words, time_in_words
from core.messaging.chat_reader import chat_words
from core.messaging.help_text import as_shown
from core.messaging.overview import ComingTask, Overview, WaitingDecision
from providers.slack.wire import CHANNEL_NAME, escape, plain_text

MAX_LINE = 500
"""UTF-16 units of an item; a section takes 3,000, and a view 100 blocks (docs.slack.dev, reference/views)."""
NOT_READ = gettext_noop("I cannot look up what waits for you at the moment. Open this tab again in a minute.")


def unread_home() -> JsonObject:
    """Return the tab for a moment at which nothing can be looked up."""
    return home_view([_line(gettext(NOT_READ))])


def home_view(page: Iterable[Json] = ()) -> JsonObject:
    """Return the tab: a page above the how-to; Markdown blocks are for messages only, so it is Slack's own mark-up."""
    how_to: JsonObject = {"type": "section", "text": {"type": "mrkdwn", "text": _how_to()}}
    return {"type": "home", "blocks": [*page, _header(gettext("How to use me")), how_to]}


def page_blocks(overview: Overview) -> list[Json]:
    """Return the blocks of waiting entries and next tasks; pure."""
    blocks: list[Json] = [_header(gettext("Waits for your decision"))]
    blocks += [_line(_decision(one, overview)) for one in overview.decisions] or [_line(gettext("Nothing."))]
    if overview.decisions:
        code = overview.decisions[0].code
        blocks += _more(overview.more_decisions)
        decide = gettext("Decide on its card under Messages, or write OK {code} or NO {code} there.", code=code)
        blocks.append(_note(decide))
    blocks.append(_header(gettext("Next")))
    blocks += [_line(_task(one, overview)) for one in overview.tasks] or [_line(gettext("Nothing is planned."))]
    if overview.tasks:
        blocks += _more(overview.more_tasks)
        blocks.append(_note(gettext("Times are those of {zone}.", zone=overview.zone.key)))
    return blocks


def _how_to() -> str:
    offered = chat_words().in_menu(CHANNEL_NAME)
    lines = [f"• {as_shown(command, CHANNEL_NAME)}: {escape(gettext(command.help))}" for command in offered]
    opening = gettext("Write to me under *Messages*, in your own words. A thread there is a conversation of its own.")
    return "\n".join([opening, "", gettext("These words work:"), *lines])


def _decision(decision: WaitingDecision, overview: Overview) -> str:
    code, summary, ago = decision.code, decision.summary, _ago(overview.now - decision.asked_at)
    if decision.until is None:
        return gettext("{code}: {summary} (asked {ago})", code=code, summary=summary, ago=ago)
    until = _moment(decision.until, overview)
    return gettext(
        "{code}: {summary} (asked {ago}, open until {until})", code=code, summary=summary, ago=ago, until=until
    )


def _task(task: ComingTask, overview: Overview) -> str:
    moment = _moment(task.due_at, overview)
    return gettext("{moment}: {title} (task {number})", moment=moment, title=task.title, number=task.number)


def _moment(moment: datetime, overview: Overview) -> str:
    """Return a moment as the person's wall time, with its date if that is not today."""
    local = moment.astimezone(overview.zone)
    if local.date() == overview.now.astimezone(overview.zone).date():
        return time_in_words(local)
    return moment_in_words(moment, overview.zone)


def _ago(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 1:
        return gettext("just now")
    if minutes < 60:
        return ngettext("{number} minute ago", "{number} minutes ago", minutes)
    if minutes < 48 * 60:
        return ngettext("{number} hour ago", "{number} hours ago", minutes // 60)
    days = minutes // (24 * 60)
    return ngettext("{number} day ago", "{number} days ago", days)


def _header(text: str) -> JsonObject:
    return {"type": "header", "text": {"type": "plain_text", "text": text}}


def _line(text: str) -> JsonObject:
    """Return words that Slack shows literally: others may have written them."""
    return {"type": "section", "text": plain_text(escape(" ".join(text.split()), MAX_LINE))}


def _note(text: str) -> JsonObject:
    return {"type": "context", "elements": [plain_text(escape(text, MAX_LINE))]}


def _more(count: int) -> list[Json]:
    return [_note(gettext("And {number} more.", number=count))] if count else []
