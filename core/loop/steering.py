"""Steer a running turn: stop it at the person's wish, and pass their further messages to the model."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import cast

from core.files.types import SeenFile
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage, Marker, Role
from core.loop.control import TurnMessage, put_together
from core.loop.forwarded import passed_on, pointed_at
from core.loop.outside import as_data
from core.loop.scope import LoopTask
from core.messaging.messages import Origin
from core.messaging.pointed import Whose
from core.people.tenant import WhileRunning

_UNHEARD = "[The person also sent a voice note that could not be listened to. They are told so; leave it out.]"


class Steering:
    """Ask the turn's control, and journal the messages it yields, so that a take-over sees the same.

    An instance a turn. `absorbed` are the ids of the absorbed messages, in order; `joined`, the same with their files.
    """

    def __init__(self, task: LoopTask) -> None:
        scope = task.scope
        self._take_in = task.take_in
        self._control = scope.control
        self._journal = scope.journal
        self._agent_path = scope.where.agent_path
        self._mode = task.while_running
        self._seen = {part for message in task.inbound for part in message.ids}
        self._steps = {
            key: record
            for key, record in scope.recorded.items()
            if record.kind is StepKind.STEER and key.agent_path == self._agent_path
        }
        self._recorded_ids = {
            part for record in self._steps.values() for message in _messages(record) for part in message.ids
        }
        self.absorbed: list[str] = []
        self.joined: list[TurnMessage] = []

    async def stopped(self) -> str | None:
        return await self._control.stopped() if self._control else None

    def cuts_off(self) -> AbstractAsyncContextManager[None]:
        """Return a block in which models are asked: a stop raises `CutOff` from it at once.

        A further message does the same if the person prefers that it ends the turn.
        """
        return self._control.signal.cuts_off() if self._control else nullcontext()

    async def superseded(self) -> bool:
        """Return whether the person wrote again and wants the turn to end for it."""
        if self._mode is not WhileRunning.INTERRUPT or self._control is None:
            return False
        return any(message.id not in self._seen for message in await self._control.absorb())

    async def absorb(self, step: int, *, replaying: bool) -> list[ChatMessage]:
        """Return the messages for the model before this step."""
        if not self._steps and (self._control is None or self._mode is not WhileRunning.STEER):
            return []
        index = -1
        fresh: list[TurnMessage] = []
        while record := self._steps.get(StepKey(step, index, self._agent_path)):
            fresh += _messages(record)
            index -= 1
        if self._control and not replaying and self._mode is WhileRunning.STEER:
            waiting = await self._control.absorb()
            known = self._seen | self._recorded_ids
            # Decisions in words count as the first call of a turn, and an edit never decides: it joins after that.
            more = put_together(m for m in waiting if m.id not in known and (step or not m.powerless))
            if more:
                await self._journal.write(self._record(StepKey(step, index, self._agent_path), more))
                fresh += more
        taken = [message for message in fresh if message.id not in self._seen]
        ids = [part for message in taken for part in message.ids]
        self._seen.update(ids)
        self.absorbed += ids
        if self._take_in is not None:
            taken = [await self._take_in(message) for message in taken]
        self.joined += taken
        return [shown for message in taken for shown in spoken(message)]

    def _record(self, key: StepKey, messages: list[TurnMessage]) -> StepRecord:
        rows: list[Json] = [message.to_json() for message in messages]
        return StepRecord(key, StepKind.STEER, "steer", StepState.DONE, result={"messages": rows})


def taken_in(records: Iterable[StepRecord]) -> list[TurnMessage]:
    """Return the messages that a running turn absorbed, by its journal: they belong to it, however the turn ends."""
    messages = {
        message.id: message for record in records if record.kind is StepKind.STEER for message in _messages(record)
    }
    return list(messages.values())


def spoken(message: TurnMessage) -> list[ChatMessage]:
    """Return a person's message as the model sees it: the text unchanged, and each file or a note about files.

    A message that the person points at comes before it. Words that are not the person's own are quoted below a line
    that says so.
    """
    shown = [ChatMessage(Role.USER, message.text)] if message.text else []
    if message.origin is not Origin.OWN:
        shown = [passed_on(part, message.origin) for part in shown]
    shown = [*[pointed_at(point) for point in message.points if point.whose is not Whose.EDITED], *shown]
    if message.files:
        return [*shown, *(_file(file, internal=bool(shown)) for file in message.files)]
    if message.media_count:
        files = "1 file" if message.media_count == 1 else f"{message.media_count} files"
        line = f"[The person sent {files}, not shown here.]"
        shown.append(ChatMessage(Role.USER, line, internal=bool(shown), marker=Marker.NOTE))
    return shown


def _file(file: SeenFile, *, internal: bool) -> ChatMessage:
    if file.is_voice:
        text = _UNHEARD if file.failure else file.note
        return ChatMessage(Role.USER, text, internal=internal, marker=Marker.NOTE)
    if file.failure:  # it contains the file's name, which others may have chosen
        text = f"[The person sent a file that you cannot read. Tell them so:]\n{as_data(file.failure)}"
        return ChatMessage(Role.USER, text, internal=internal, marker=Marker.FILE)
    text = f"{file.note}\n{as_data(file.text)}" if file.text else file.note
    pictures = (file.picture,) if file.picture else ()
    return ChatMessage(Role.USER, text, internal=internal, marker=Marker.FILE, pictures=pictures)


def _messages(record: StepRecord) -> list[TurnMessage]:
    return [TurnMessage.from_json(row) for row in cast(list[JsonObject], record.result.get("messages", []))]
