"""The App Home's view: what waits for the person, what comes next, and how to; pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from core.json_types import Json, JsonObject
from core.messaging.overview import ComingTask, Overview, WaitingDecision
from providers.slack.wire import escape, plain_text

MAX_LINE = 500
"""UTF-16 units of one item; a section takes 3,000, and a view 100 blocks (docs.slack.dev, reference/views)."""
NOT_READ = "I cannot look up what waits for you at the moment. Open this tab again in a minute."

_HOW_TO = (
    "Write to me under *Messages*, in your own words. A thread there is a conversation of its own.\n\n"
    "• `/valet new` begins afresh\n"
    "• `/valet stop` stops what I am doing\n"
    "• `/valet pending` lists what waits for your decision\n"
    "• `/valet prefs` shows your timezone, language and quiet hours\n"
    "• `/valet memory` shows what I remember of what you told me\n"
    "• `/valet help` lists all words"
)


def unread_home() -> JsonObject:
    """Return the tab for a moment at which nothing can be looked up."""
    return home_view([_line(NOT_READ)])


def home_view(page: Iterable[Json] = ()) -> JsonObject:
    """Return the tab: a page above the how-to; Markdown blocks are for messages only, so it is Slack's own mark-up."""
    how_to: JsonObject = {"type": "section", "text": {"type": "mrkdwn", "text": _HOW_TO}}
    return {"type": "home", "blocks": [*page, _header("How to use me"), how_to]}


def page_blocks(overview: Overview) -> list[Json]:
    """Return what waits and what is next; pure."""
    blocks: list[Json] = [_header("Waits for your decision")]
    blocks += [_line(_decision(one, overview)) for one in overview.decisions] or [_line("Nothing.")]
    if overview.decisions:
        code = overview.decisions[0].code
        blocks += _more(overview.more_decisions)
        blocks.append(_note(f"Decide on its card under Messages, or write OK {code} or NO {code} there."))
    blocks.append(_header("Next"))
    blocks += [_line(_task(one, overview)) for one in overview.tasks] or [_line("Nothing is planned.")]
    if overview.tasks:
        blocks += _more(overview.more_tasks)
        blocks.append(_note(f"Times are those of {overview.zone.key}."))
    return blocks


def _decision(decision: WaitingDecision, overview: Overview) -> str:
    until = f", open until {_moment(decision.until, overview)}" if decision.until is not None else ""
    return f"{decision.code}: {decision.summary} (asked {_ago(overview.now - decision.asked_at)}{until})"


def _task(task: ComingTask, overview: Overview) -> str:
    return f"{_moment(task.due_at, overview)}: {task.title} (task {task.number})"


def _moment(moment: datetime, overview: Overview) -> str:
    """Return a moment as the person's wall time; the day where it is not today, the year where it is not this one."""
    local, today = moment.astimezone(overview.zone), overview.now.astimezone(overview.zone)
    if local.date() == today.date():
        return f"{local:%H:%M}"
    year = f" {local:%Y}" if local.year != today.year else ""
    return f"{local:%a} {local.day} {local:%b}{year}, {local:%H:%M}"


def _ago(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return _counted(minutes, "minute")
    return _counted(minutes // 60, "hour") if minutes < 48 * 60 else _counted(minutes // (24 * 60), "day")


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' if count != 1 else ''} ago"


def _header(text: str) -> JsonObject:
    return {"type": "header", "text": {"type": "plain_text", "text": text}}


def _line(text: str) -> JsonObject:
    """Return words that Slack shows literally: they may be anybody's."""
    return {"type": "section", "text": plain_text(escape(" ".join(text.split()), MAX_LINE))}


def _note(text: str) -> JsonObject:
    return {"type": "context", "elements": [plain_text(escape(text, MAX_LINE))]}


def _more(count: int) -> list[Json]:
    return [_note(f"And {count} more.")] if count else []
