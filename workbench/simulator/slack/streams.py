"""chat.startStream, chat.appendStream, chat.stopStream."""

from dataclasses import dataclass, field

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.chat import bot_message, check_postable
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.message_rules import Content, check_markdown, check_message_blocks, check_metadata
from workbench.simulator.slack.method import Hub, Method, find_channel, find_own_message, find_root
from workbench.simulator.slack.records import message_record, with_ids
from workbench.simulator.slack.shapes import Obj, decoded, items, obj, text
from workbench.simulator.slack.state import Channel, Message

_TASK_STATES = ("pending", "in_progress", "complete", "error")


@dataclass(slots=True)
class Piece:
    """A call's addition to a stream."""

    text: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)
    blocks: list[Json] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.text or self.tasks or self.blocks)


def start(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments)
    check_postable(hub, channel)
    root = find_root(channel, text(arguments.get("thread_ts")))
    if channel.user and not root:
        # methods/chat.startStream: only channels may leave thread_ts out.
        raise Refusal("invalid_arguments", ["missing required field: thread_ts [json-pointer:/]"])
    if not channel.user:
        _check_recipient(hub, arguments)
    piece = _read_piece(arguments)
    message = bot_message(hub, channel, Content(), root)
    _grow(hub, message, piece)
    hub.world.add(message)
    hub.deliverer.posted(message)
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def append(hub: Hub, arguments: Obj) -> Obj:
    channel, message = _streaming(hub, arguments)
    piece = _read_piece(arguments)
    if piece.empty:
        raise Refusal("no_text")
    _grow(hub, message, piece)
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def stop(hub: Hub, arguments: Obj) -> Obj:
    channel, message = _streaming(hub, arguments)
    piece = _read_piece(arguments)
    blocks = check_message_blocks(arguments["blocks"]) if arguments.get("blocks") else []
    metadata = check_metadata(arguments)
    before = message_record(hub.world, message)
    _grow(hub, message, piece)
    message.blocks += with_ids(blocks)
    message.metadata = metadata or message.metadata
    message.streamed = None
    hub.deliverer.changed(message, before)
    record = message_record(hub.world, message, metadata=True)
    return {"ok": True, "channel": channel.id, "ts": message.ts, "message": record}


METHODS = {
    "chat.startStream": Method(start, ("chat:write",), ("channel",)),
    "chat.appendStream": Method(append, ("chat:write",), ("channel", "ts")),
    "chat.stopStream": Method(stop, ("chat:write",), ("channel", "ts")),
}


def _streaming(hub: Hub, arguments: Obj) -> tuple[Channel, Message]:
    channel, message = find_own_message(hub, arguments, "message_not_owned_by_app")
    # methods/chat.appendStream, error message_not_in_streaming_state; the state also ends by itself.
    if message.streamed is not None and hub.world.now() - message.streamed > limits.STREAM_IDLE_SECONDS:
        message.streamed = None
    if message.streamed is None:
        raise Refusal("message_not_in_streaming_state")
    return channel, message


def _check_recipient(hub: Hub, arguments: Obj) -> None:
    if not arguments.get("recipient_team_id"):
        raise Refusal("missing_recipient_team_id")
    if not arguments.get("recipient_user_id"):
        raise Refusal("missing_recipient_user_id")
    if hub.world.person(text(arguments["recipient_user_id"])) is None:
        raise Refusal("user_not_found")


def _grow(hub: Hub, message: Message, piece: Piece) -> None:
    if len(message.text) + len(piece.text) > limits.TEXT_TRUNCATED_AT:
        raise Refusal("msg_too_long")
    if len(message.blocks) + len(piece.blocks) > limits.MESSAGE_BLOCKS:
        raise Refusal("msg_blocks_too_many")
    message.text += piece.text
    message.markdown = True
    message.tasks |= piece.tasks
    message.blocks += with_ids(piece.blocks)
    message.streamed = hub.world.now()


def _read_piece(arguments: Obj) -> Piece:
    piece = Piece(check_markdown(arguments))
    try:
        chunks = decoded(arguments.get("chunks"))
    except ValueError:
        raise Refusal("invalid_chunks") from None
    if chunks is not None and not isinstance(chunks, list):
        raise Refusal("invalid_chunks")
    for chunk in items(chunks):
        _read_chunk(piece, obj(chunk))
    if len(piece.text) > limits.MARKDOWN_TEXT:
        raise Refusal("msg_too_long")
    return piece


def _read_chunk(piece: Piece, chunk: Obj) -> None:
    match chunk.get("type"):
        case "markdown_text" if isinstance(chunk.get("text"), str):
            piece.text += text(chunk["text"])
        case "task_update" if text(chunk.get("id")) and chunk.get("status") in _TASK_STATES:
            if not text(chunk.get("title")):
                raise Refusal("invalid_chunks")
            piece.tasks[text(chunk["id"])] = chunk
        case "plan_update" if text(chunk.get("title")):
            piece.tasks["plan"] = chunk
        case "blocks":
            piece.blocks += check_message_blocks(chunk.get("blocks"))
        case _:
            raise Refusal("invalid_chunks")
