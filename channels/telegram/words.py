"""The words of a Bot API Message of any kind; pure.

Source: core.telegram.org/bots/api#message.
"""

from channels.fields import text_at
from channels.telegram.places import place_of
from channels.telegram.rich import rich_words
from channels.telegram.text import linked_text
from core.json_types import Json, JsonObject, objects_in
from core.messaging.places import PIN


def words_of(message: JsonObject) -> str:
    """Return the text of a message, or its other content in words. Raises `RequestRefused`."""
    if text := text_at(message, "text"):
        return linked_text(text, message.get("entities"))
    if caption := text_at(message, "caption"):
        return linked_text(caption, message.get("caption_entities"))
    return (
        rich_words(message.get("rich_message"))
        or _emoji(message.get("sticker"))
        or _thrown(message.get("dice"))
        or _place(message)
        or _poll(message.get("poll"))
        or _checklist(message.get("checklist"))
    )


def chosen_words(replied: JsonObject, message: JsonObject) -> str:
    """Return the task of a checklist or the option of a poll at which a reply points."""
    checklist, poll = replied.get("checklist"), replied.get("poll")
    task, option = message.get("reply_to_checklist_task_id"), message.get("reply_to_poll_option_id")
    tasks = objects_in(checklist.get("tasks")) if isinstance(checklist, dict) and task is not None else []
    options = objects_in(poll.get("options")) if isinstance(poll, dict) and option is not None else []
    chosen = [
        *(item for item in tasks if item.get("id") == task),
        *(item for item in options if item.get("persistent_id") == option),
    ]
    return _said(chosen[0], "text") if chosen else ""


def _emoji(sticker: Json) -> str:
    return _said(sticker, "emoji") if isinstance(sticker, dict) else ""


def _thrown(dice: Json) -> str:
    if not isinstance(dice, dict) or not (emoji := _said(dice, "emoji")):
        return ""
    value = dice.get("value")
    return f"{emoji} {value}" if isinstance(value, int) else emoji


def _poll(poll: Json) -> str:
    if not isinstance(poll, dict):
        return ""
    lines = [_said(poll, "question"), _said(poll, "description")]
    lines += [f"- {words}" for option in objects_in(poll.get("options")) if (words := _said(option, "text"))]
    return "\n".join(line for line in lines if line)


def _checklist(checklist: Json) -> str:
    if not isinstance(checklist, dict):
        return ""
    lines = [_said(checklist, "title")]
    for task in objects_in(checklist.get("tasks")):
        done = "x" if task.get("completion_date") else " "
        lines.append(f"- [{done}] {_said(task, 'text')}")
    return "\n".join(line for line in lines if line)


def _said(owner: JsonObject, name: str) -> str:
    """Return a text of content with the targets of its words."""
    words = owner.get(name)
    return linked_text(words, owner.get(f"{name}_entities")) if isinstance(words, str) else ""


def _place(message: JsonObject) -> str:
    place = place_of(message)
    if place is None:
        return ""
    degrees = f"{PIN} {place.latitude:.6f}, {place.longitude:.6f}"
    return ", ".join(filter(None, (degrees, place.name, place.address)))
