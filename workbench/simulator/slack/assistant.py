"""assistant.threads.setStatus, .setSuggestedPrompts, .setTitle."""

from workbench.simulator.slack import limits
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.method import Hub, Method, find_channel, listed
from workbench.simulator.slack.shapes import Obj, obj, text
from workbench.simulator.slack.state import Channel, Status


def set_status(hub: Hub, arguments: Obj) -> Obj:
    """Show the app's status under a thread; an empty status clears it."""
    channel = find_channel(hub, arguments, "channel_id")
    root = _thread(channel, arguments)
    if "status" not in arguments:
        raise Refusal("invalid_arguments", ["missing required field: status [json-pointer:/]"])
    if len(listed(arguments, "loading_messages")) > limits.LOADING_MESSAGES:
        raise Refusal("invalid_arguments", ["no more than 10 items allowed [json-pointer:/loading_messages]"])
    status = text(arguments["status"])
    if status:
        channel.statuses[root] = Status(status, hub.world.now())
    else:
        channel.statuses.pop(root, None)
    return {"ok": True}


def set_prompts(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments, "channel_id")
    if arguments.get("thread_ts"):
        _thread(channel, arguments)
    prompts = listed(arguments, "prompts")
    whole = all(text(obj(prompt).get("title")) and text(obj(prompt).get("message")) for prompt in prompts)
    if not 1 <= len(prompts) <= limits.PROMPTS or not whole:
        raise Refusal("invalid_arguments", ["must provide 1 to 4 prompts [json-pointer:/prompts]"])
    channel.prompts = prompts
    return {"ok": True}


def set_title(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments, "channel_id")
    channel.titles[_thread(channel, arguments)] = text(arguments.get("title"))
    return {"ok": True}


_SCOPES = ("assistant:write", "chat:write")

METHODS = {
    "assistant.threads.setStatus": Method(set_status, _SCOPES, ("channel_id", "thread_ts")),
    "assistant.threads.setSuggestedPrompts": Method(set_prompts, _SCOPES, ("channel_id", "prompts")),
    "assistant.threads.setTitle": Method(set_title, _SCOPES, ("channel_id", "thread_ts", "title")),
}


def _thread(channel: Channel, arguments: Obj) -> str:
    # methods/assistant.threads.setStatus, error invalid_thread_ts: a reply's ts names no thread.
    root = channel.messages.get(text(arguments.get("thread_ts")))
    if root is None or root.thread_ts:
        raise Refusal("invalid_thread_ts")
    return root.ts
