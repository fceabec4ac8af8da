"""What a person did on the page, in the words of a scenario. Pure but for the states that it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onevalet.testing.forms import names_of

LARGEST_FILE = 512 * 1024
"""Base64 letters of a file that a scenario holds."""
_CHANNELS = {"twilio": "sms", "slack": "slack", "telegram": "telegram"}


@dataclass(frozen=True, slots=True)
class Noted:
    """A step's table, or in `left_out` what of an act no scenario can hold; both empty for what changes nothing."""

    step: Mapping[str, Any] = field(default_factory=dict)
    left_out: str = ""


NOTHING = Noted()


def note_act(provider: str, action: str, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    """Return what an act is in a scenario; `state` is what the person's provider showed before it."""
    place = {"channel": _CHANNELS.get(provider, provider)}
    match (provider, action):
        case ("twilio", "say"):
            return _said(place, arguments, arguments.get("media"), "data")
        case ("slack", "say") if arguments.get("thread_ts"):
            return Noted(left_out="a reply in a Slack thread")
        case ("slack", "say"):
            return _said(place, arguments, arguments.get("files"), "content")
        case ("slack", "command") | ("telegram", "say"):
            return Noted({"send": str(arguments.get("text", "")), **place})
        case ("telegram", "start"):
            return Noted({"send": f"/start {arguments.get('argument') or ''}".strip(), **place})
        case ("telegram", "photo" | "document" | "audio" | "voice"):
            return _file(place, arguments, str(arguments.get("data", "")), str(arguments.get("caption", "")))
        case ("slack", "press"):
            return _pressed(place, _slack_label(arguments, state))
        case ("telegram", "press"):
            return _pressed(place, _telegram_label(arguments, state))
        case ("slack", "submit"):
            views = [view for view in state["modals"] if view["id"] == arguments.get("view_id")]
            if views:
                return Noted({"fill": names_of(views[-1]["blocks"], arguments.get("values") or {}), **place})
        case ("slack", "close" | "open_home"):
            return NOTHING
    return Noted(left_out=f"{action.replace('_', ' ')} on {place['channel']}")


def _said(place: Mapping[str, str], arguments: Mapping[str, Any], files: Any, data: str) -> Noted:
    text = str(arguments.get("text") or "")
    if not files:
        return Noted({"send": text, **place})
    if len(files) > 1:
        return Noted(left_out="a message with several files")
    content = str(files[0].get(data, ""))
    return _file(place, files[0], content.removeprefix("base64:"), text)


def _file(place: Mapping[str, str], file: Mapping[str, Any], content: str, text: str) -> Noted:
    name = str(file.get("name") or "file")
    if len(content) > LARGEST_FILE:
        return Noted(left_out=f"the file {name}, which is too large")
    kind = str(file.get("content_type") or "")
    more = {"text": text} if text else {}
    return Noted({"file": name, "base64": content, **({"type": kind} if kind else {}), **more, **place})


def _pressed(place: Mapping[str, str], label: str) -> Noted:
    return Noted({"press": label, **place}) if label else Noted(left_out=f"a press on {place['channel']}")


def _slack_label(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    if arguments.get("value") or arguments.get("view_id"):
        return ""  # a choice in a menu, or a press in a form or on the Home tab
    buttons = [button for one in state["bubbles"] if one["ts"] == arguments.get("ts") for button in one["buttons"]]
    return next((str(one["text"]) for one in buttons if one["action_id"] == arguments.get("action_id")), "")


def _telegram_label(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    shown = [one for one in state["messages"] if one["message_id"] == arguments.get("message_id")]
    buttons = [button for one in shown for row in one["keyboard"] for button in row]
    if "data" in arguments:
        buttons = [button for button in buttons if button.get("callback_data") == arguments["data"]]
    else:
        number = int(arguments.get("button", 0))
        buttons = buttons[number : number + 1]
    return str(buttons[0]["text"]) if buttons else ""
