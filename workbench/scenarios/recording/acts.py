"""A person's acts on the page, in the words of a scenario. Pure but for the states that it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.scenarios.forms import names_of
from workbench.scenarios.reactions import emoji_of
from workbench.scenarios.recording.expected import pieces_of
from workbench.scenarios.slack_phone import BUTTONS, elements_in, name_of, options_of
from workbench.scenarios.steps import GROUP

LARGEST_FILE = 512 * 1024
"""Base64 letters of a file that a scenario holds."""
CHANNEL_OF = {"twilio": "sms", "slack": "slack", "telegram": "telegram"}
_BEFORE = "that was there before the recording, or says the same as another one"


@dataclass(frozen=True, slots=True)
class Noted:
    """A step's table, or in `left_out` the part of an act that no scenario can hold; both empty for no change."""

    step: Mapping[str, Any] = field(default_factory=dict)
    left_out: str = ""


NOTHING = Noted()


def note_act(provider: str, action: str, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    """Return an act as a step of a scenario.

    `state` is the person's view at the provider before it, without the messages from before the recording.
    """
    noting = _NOTING.get(provider)
    noted = noting(action, arguments, state) if noting else Noted(left_out=action.replace("_", " "))
    channel = CHANNEL_OF.get(provider, provider)
    if noted.left_out:
        return Noted(left_out=f"{noted.left_out} ({channel})")
    return Noted({**noted.step, "channel": channel}) if noted.step else NOTHING


def words_for(texts: Sequence[str], place: int) -> Sequence[str] | str:
    """Return the words by which the message at a place is the newest that has them; empty if there are none."""
    words = pieces_of(texts[place])
    parts = [words] if isinstance(words, str) else words
    newest = [number for number, text in enumerate(texts) if all(part in text for part in parts)]
    return words if parts and newest[-1:] == [place] else ""


def _sms(action: str, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    match action:
        case "say":
            return _said(arguments, arguments.get("media"), "data")
        case "phone":
            return Noted({"phone": arguments.get("mode")})
        case "callbacks":
            return Noted({"callbacks": arguments.get("order")})
        case "react":
            return _reacted("twilio", ("reaction", "sid", "id"), arguments, state.get("bubbles", ()))
        case "duplicate" if not {"times", "to"} & arguments.keys():
            own = [one["id"] for one in state.get("bubbles", ()) if one["direction"] == "in"]
            if own and own[-1] == arguments.get("sid"):
                return Noted({"redeliver": 1})
            return Noted(left_out="a text delivered again that was not the last one")
    return Noted(left_out=action.replace("_", " "))


def _slack(action: str, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    match action:
        case "say" | "channel_say":
            return _said_in_group(arguments) if action == "channel_say" else _slack_said(arguments, state)
        case "command":
            return Noted({"send": str(arguments.get("text", ""))})
        case "edit":
            found = _named(_own(state["bubbles"]), "ts", arguments.get("ts"))
            edited = {"edit": str(arguments.get("text", "")), "message": found}
            return Noted(edited) if found else Noted(left_out=f"an edit of a message {_BEFORE}")
        case "delete":
            found = _named(_own(state["bubbles"]), "ts", arguments.get("ts"))
            return Noted({"delete": found}) if found else Noted(left_out=f"the deletion of a message {_BEFORE}")
        case "react":
            return _reacted("slack", ("name", "ts", "ts"), arguments, state["bubbles"])
        case "press":
            return _slack_pressed(arguments, state)
        case "submit":
            views = [view for view in state["modals"] if view["id"] == arguments.get("view_id")]
            if views:
                return Noted({"fill": names_of(views[-1]["blocks"], arguments.get("values") or {})})
        case "close":
            return Noted({"close": "form"})
        case "open_home":
            return Noted({"open": str(arguments.get("tab") or "home")})
    return Noted(left_out=action.replace("_", " "))


def _telegram(action: str, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    match action:
        case "say" | "group_say":
            return _said_in_group(arguments) if action == "group_say" else _telegram_said(arguments, state)
        case "start":
            return Noted({"send": f"/start {arguments.get('argument') or ''}".strip()})
        case "photo" | "document" | "audio" | "voice":
            voice = {"voice": int(arguments.get("duration") or 1)} if action == "voice" else {}
            return _file(arguments, str(arguments.get("data", "")), str(arguments.get("caption", "")), voice)
        case "edit":
            found = _named(_own(state["messages"]), "message_id", arguments.get("message_id"))
            edited = {"edit": str(arguments.get("text", "")), "message": found}
            return Noted(edited) if found else Noted(left_out=f"an edit of a message {_BEFORE}")
        case "press":
            return _telegram_pressed(arguments, state)
        case "react":
            return _reacted("telegram", ("emoji", "message_id", "message_id"), arguments, state["messages"])
        case "location" | "move_location" | "stop_location":
            return _telegram_place(action, arguments, state["messages"])
        case "contact" if "user_id" not in arguments:
            return Noted({"contact": dict(arguments)})
        case "sticker":
            return Noted({"sticker": str(arguments.get("emoji", ""))})
        case "block" | "unblock":
            return Noted({"block": action == "block"})
        case "redeliver":
            return Noted({"redeliver": arguments.get("n", 1)})
    return Noted(left_out=action.replace("_", " "))


_NOTING = {"twilio": _sms, "slack": _slack, "telegram": _telegram}


def _reacted(
    provider: str, names: tuple[str, str, str], arguments: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]
) -> Noted:
    """Note a reaction on a message of the assistant's.

    `names`: those of the reaction and the message among the arguments, and that of the message's id on the page.
    """
    given, id = arguments.get(names[0]), arguments.get(names[1])
    theirs = [one for one in messages if one["direction"] == "out" and one["text"]]
    taken_back = arguments.get("taken_back") is True
    if provider == "telegram" and not given:
        taken_back = True
        before = [each for one in theirs if one[names[2]] == id for each in one["reactions"] if each["from"] != "bot"]
        given = before[-1]["emoji"] if before else ""
    emoji = emoji_of(provider, given)
    if not emoji:
        return Noted(left_out=f"the reaction {given}")
    is_newest = bool(theirs) and theirs[-1][names[2]] == id
    words = "" if is_newest else _named(theirs, names[2], id)
    if not words and not is_newest:
        return Noted(left_out=f"a reaction to a message {_BEFORE}")
    step = {"react": emoji, "message": words, "taken_back": taken_back}
    return Noted({name: value for name, value in step.items() if value})


def _place(arguments: Mapping[str, Any]) -> dict[str, float]:
    names = ("latitude", "longitude", "accuracy")
    return {name: float(arguments[name]) for name in names if _is_number(arguments, name)}


def _telegram_place(action: str, arguments: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Noted:
    """Note a place that is sent, moved or shared no longer. A step moves the newest that is shared."""
    if action == "location":
        named = {name: arguments[name] for name in ("title", "address") if arguments.get("title")}
        live = {"live": arguments["live"]} if arguments.get("live") else {}
        return Noted({"location": _place(arguments) | named | live})
    shared = [one for one in _own(messages) if "live_period" in ((one.get("service") or {}).get("location") or {})]
    if not shared or arguments.get("message_id", shared[-1]["message_id"]) != shared[-1]["message_id"]:
        return Noted(left_out=f"a live location {_BEFORE}")
    return Noted({"move": _place(arguments)} if action == "move_location" else {"unshare": True})


def _slack_said(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    more: dict[str, Any] = {}
    if thread := arguments.get("thread_ts"):
        roots = [one for one in state["bubbles"] if not one["thread_ts"]]
        more["reply_to"] = _named(roots, "ts", thread)
        if not more["reply_to"]:
            return Noted(left_out=f"a reply in the thread of a message {_BEFORE}")
    return _said(arguments, arguments.get("files"), "content", more)


def _telegram_said(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    more: dict[str, Any] = {}
    if replied := arguments.get("reply_to"):
        more["reply_to"] = _named(state["messages"], "message_id", replied)
        if not more["reply_to"]:
            return Noted(left_out=f"a reply to a message {_BEFORE}")
    return Noted({"send": str(arguments.get("text", "")), **more})


def _said_in_group(arguments: Mapping[str, Any]) -> Noted:
    if arguments.get("reply_to") or arguments.get("thread_ts"):
        return Noted(left_out="a reply in a group")
    if arguments.get("topic") or arguments.get("anonymous"):
        return Noted(left_out="what is said in a topic or in a group's name")
    mention = {} if arguments.get("mention") else {"mention": False}
    return Noted({"send": str(arguments.get("text", "")), "on": GROUP, **mention})


def _said(arguments: Mapping[str, Any], files: Any, data: str, more: Mapping[str, Any] | None = None) -> Noted:
    text = str(arguments.get("text") or "")
    if not files:
        return Noted({"send": text, **(more or {})})
    if len(files) > 1:
        return Noted(left_out="a message with several files")
    voice = {"voice": files[0].get("seconds") or 1} if files[0].get("clip") == "audio" else {}
    return _file(files[0], str(files[0].get(data, "")).removeprefix("base64:"), text, {**voice, **(more or {})})


def _file(file: Mapping[str, Any], content: str, text: str, more: Mapping[str, Any]) -> Noted:
    name = str(file.get("name") or "file")
    if len(content) > LARGEST_FILE:
        return Noted(left_out=f"the file {name}, which is too large")
    kind = str(file.get("content_type") or "")
    told = {"type": kind} if kind else {}
    return Noted({"file": name, "base64": content, **told, **({"text": text} if text else {}), **more})


def _slack_pressed(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    """Note a press on a button or a choice in a menu, in a message, on the Home tab or in a form."""
    action, on = arguments.get("action_id"), ""
    if view_id := arguments.get("view_id"):
        home = state.get("home") or {}
        on = "home" if home.get("id") == view_id else "form"
        views = [home] if on == "home" else [view for view in state["modals"] if view["id"] == view_id]
        blocks = views[-1]["blocks"] if views else ()
    else:
        blocks = next((one["blocks"] for one in state["bubbles"] if one["ts"] == arguments.get("ts")), ())
    found = next(((block, one) for block, one in elements_in(blocks) if one.get("action_id") == action), None)
    if found is None:
        return Noted(left_out=f"a press in a message {_BEFORE}")
    name = name_of(*found)
    where = {"on": on} if on else _which(state["bubbles"], "ts", arguments.get("ts"), lambda one: _has(one, *found))
    if where is None:
        return Noted(left_out=f"a press in a message {_BEFORE}")
    if found[1]["type"] in BUTTONS:
        return Noted({"press": name, **where})
    value = str(arguments.get("value") or "")
    chosen = next((text for text, one in options_of(found[1]) if one == value), value)
    return Noted({"choose": chosen, "menu": name, **where})


def _has(bubble: Mapping[str, Any], block: Mapping[str, Any], element: Mapping[str, Any]) -> bool:
    """Return whether a message has a button or a menu of the same name."""
    shown = [(name_of(*one), one[1]["type"] in BUTTONS) for one in elements_in(bubble["blocks"])]
    return (name_of(block, element), element["type"] in BUTTONS) in shown


def _telegram_pressed(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> Noted:
    label = _telegram_label(arguments, state)
    where = _which(state["messages"], "message_id", arguments.get("message_id"), lambda one: label in _labels(one))
    if not label or where is None:
        return Noted(left_out=f"a press in a message {_BEFORE}")
    return Noted({"press": label, **where})


def _telegram_label(arguments: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    shown = [one for one in state["messages"] if one["message_id"] == arguments.get("message_id")]
    buttons = [button for one in shown for row in one["keyboard"] for button in row]
    if "data" in arguments:
        buttons = [button for button in buttons if button.get("callback_data") == arguments["data"]]
    else:
        number = int(arguments.get("button", 0))
        buttons = buttons[number : number + 1]
    return str(buttons[0]["text"]) if buttons else ""


def _labels(message: Mapping[str, Any]) -> list[str]:
    return [str(button["text"]) for row in message["keyboard"] for button in row]


def _which(
    messages: Sequence[Mapping[str, Any]], key: str, id: Any, has: Callable[[Mapping[str, Any]], bool]
) -> Mapping[str, Any] | None:
    """Return the words that tell a message from newer messages with the same button; none for the newest message.

    None if no words do that.
    """
    alike = [one for one in messages if has(one)]
    if not alike or alike[-1][key] == id:
        return {}
    words = _named(alike, key, id)
    return {"message": words} if words else None


def _named(messages: Sequence[Mapping[str, Any]], key: str, id: Any) -> Sequence[str] | str:
    """Return the words of the message with that id that no newer message has; empty if there are none."""
    place = next((number for number, one in enumerate(messages) if one[key] == id), None)
    return "" if place is None else words_for([str(one["text"]) for one in messages], place)


def _own(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in messages if one["direction"] == "in"]


def _is_number(arguments: Mapping[str, Any], name: str) -> bool:
    try:
        float(arguments.get(name, ""))
    except (TypeError, ValueError):
        return False
    return True
