"""Route the person's answer to the agent that waits for it: recognised here, or passed on by the model.

The model may also pause, resume or drop an agent, as the person asked.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.agents.asking_tool import AskingTool
from core.agents.field_collection import FieldAnswer, plain_answer, take
from core.agents.hand_over import HandOverTool, Take, hand_over_tool
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.schema import field_schema
from core.agents.standard_agent import AgentStatus, Valet
from core.errors import ToolRetry
from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.llm.types import ChatMessage, Marker
from core.loop.control import TurnMessage
from core.messaging.messages import Origin
from core.messaging.pointed import Whose
from core.questions.reading import read_picks
from core.tools.arguments import read_call
from core.tools.tool import AnyTool
from core.tools.toolbox import ToolRegistry

ANSWER = "answer_waiting_agent"
"""The built-in tool with which the model passes the person's answer to an agent that waits."""
HOLD = "hold_waiting_agent"
"""The built-in tool with which the model pauses, resumes or drops an agent that waits."""
PAUSED = gettext_noop("Paused: {name}. Tell me when to go on.")
_SAYS = (
    "Hand on what the person said to an agent that waits for their answer: what was asked, a correction of what it "
    "was given before, or that they drop it."
)
WAIT = "These wait for an answer of the person:"
"""The line of the note above the list of waiting agents."""
type Asker = Valet | AskingTool
"""An agent or a tool that waits for an answer."""
_BY_AN_EDIT = "The person changed a message meanwhile. An edit answers nothing: ask them to write it as a new message."
_NOBODY_WAITS = "Nothing waits for an answer of the person now."
_SHOWN: JsonObject = {
    "task": {
        "type": "integer",
        "minimum": 1,
        "description": "Which of those that wait; needed where there are several.",
    },
    "fields": {"type": "object", "description": "Values by field name, as far as the person said them."},
    "words": {"type": "string", "description": "Their answer in words, where no field was asked for."},
    "drop": {"type": "boolean", "description": "True when the person no longer wants it."},
}
_HOLD_SAYS = (
    "Pause what waits for the person's answer until they want to go on, resume what is paused, or drop either; only "
    "when they say so themselves."
)
_HELD: JsonObject = {
    "task": {"type": "integer", "minimum": 1, "description": "Which, by its number; needed where there are several."},
    "change": {"type": "string", "enum": ["pause", "resume", "drop"], "description": "What the person wants."},
}


@dataclass(slots=True)
class PendingAnswers:
    """The agents that wait for an answer in a conversation, the longest wait first.

    `offered` are the agents that may be answered, as they were when the turn began. `changed` holds changed entries by
    id, `ended` entries that ended; `set_aside` names agents that cannot resume.
    """

    offered: tuple[tuple[PoolEntry, Asker], ...] = ()
    changed: dict[str, PoolEntry] = field(default_factory=dict)
    ended: dict[str, PoolEntry] = field(default_factory=dict)
    set_aside: tuple[str, ...] = ()
    paused: tuple[tuple[PoolEntry, Asker], ...] = ()
    """Agents that the person paused; no reminder names them."""
    accounts: tuple[PoolEntry, ...] = ()
    """Agents and calls that wait for the person to connect an account; they can be dropped."""
    powerless: bool = False
    """Whether the turn took in a message that decides nothing: from then on nothing is handed on."""

    @property
    def held(self) -> tuple[PoolEntry, ...]:
        """Return the entries that may be paused, resumed or dropped, in the order of their numbers in the note."""
        return (*(entry for entry, _ in (*self.offered, *self.paused)), *self.accounts)

    @property
    def asking(self) -> list[tuple[PoolEntry, Asker]]:
        return [(entry, valet) for entry, valet in self.offered if entry.agent_id not in self.changed]

    @property
    def entries(self) -> tuple[PoolEntry, ...]:
        """Return the entries that changed since the turn began."""
        return (*self.ended.values(), *self.changed.values())

    def answer_exactly(self, inbound: Sequence[TurnMessage], *, by_words: bool) -> tuple[PoolEntry, ...]:
        """Take a message that consists of the numbers or words of choices as answers, without the model.

        Return the changed entries: none if the message may answer a question without choices.
        """
        open_asks = [(entry, valet, asked) for entry, valet in self.offered for asked in entry.open_asks]
        if len(open_asks) < sum(len(entry.asked) for entry, _ in self.offered) or not one_of_their_own(inbound):
            return ()
        asks = [asked for *_, asked in open_asks]
        picks = read_picks(asks, inbound[0].text, by_words=by_words) if all(a.has_choices for a in asks) else None
        given: dict[str, JsonObject] = {}
        for at, choice in (picks or {}).items():
            entry, _, asked = open_asks[at]
            given.setdefault(entry.agent_id, {})[asked.name] = asked.value_of(choice)
        taken = [
            take(entry, valet.inputs, FieldAnswer(given[entry.agent_id]))
            for entry, valet in self.offered
            if entry.agent_id in given
        ]
        if any(wrong for _, wrong in taken):
            return ()
        self.changed |= {entry.agent_id: entry for entry, _ in taken}
        return tuple(entry for entry, _ in taken)

    def answer_plainly(self, inbound: Sequence[TurnMessage]) -> PoolEntry | None:
        """Take a message as the only field that an only agent asks for, without the model. Return the changed entry."""
        if len(self.offered) != 1 or not one_of_their_own(inbound):
            return None
        [(entry, valet)] = self.offered
        answer = plain_answer(entry, valet.inputs, inbound[0].text)
        if answer is None:
            return None
        taken, wrong = take(entry, valet.inputs, answer)
        if wrong:
            return None
        self.changed[entry.agent_id] = taken
        return taken

    def tools(self, offered: Collection[str] = ()) -> list[AnyTool]:
        """Return the tools that pass answers on and hold agents, if any agent waits or they were offered before."""
        tools: list[AnyTool] = [_answer_tool(self)] if self.offered or ANSWER in offered else []
        if self.held or HOLD in offered:
            tools.append(hand_over_tool(HOLD, _HOLD_SAYS, _HELD, _HELD, ["change"], self.unless_powerless(self.hold)))
        return tools

    def note(self) -> str:
        """Return the note for the model about waiting and paused agents; empty if there are none."""
        first = len(self.offered) + 1
        paused = [f"{number}. {_described(entry, valet)}" for number, (entry, valet) in enumerate(self.paused, first)]
        held = ["The person paused these:", *paused, f"When they want to go on, or drop one, call {HOLD}."]
        first += len(self.paused)
        accounts = [
            f"{number}. {entry.agent_type}, which needs {' and '.join(entry.needs)}"
            for number, entry in enumerate(self.accounts, first)
        ]
        unconnected = [
            "These wait for the person to connect an account, and go on by themselves once it is connected:",
            *accounts,
            f"When they no longer want one, call {HOLD} with drop.",
        ]
        parts = [*self._asking_note(), *(held if paused else []), *(unconnected if accounts else [])]
        return "\n".join(parts)

    def _asking_note(self) -> list[str]:
        if not self.offered:
            return []
        lines = [f"{number}. {_described(entry, valet)}" for number, (entry, valet) in enumerate(self.offered, 1)]
        return [
            WAIT,
            *lines,
            f"If the person's message answers one, corrects what it was given, or drops it, call {ANSWER}; if they "
            f"want it to wait until later, call {HOLD}. If it is something else, deal with that alone: it goes on "
            "waiting, and they are reminded without you.",
        ]

    def give(self, arguments: Mapping[str, object]) -> None:
        """Pass an answer on. Raises `ToolRetry` with advice for the model."""
        entry, valet = self._meant(arguments.get("task"))
        fields, words = arguments.get("fields"), str(arguments.get("words") or "") or None
        given = fields if isinstance(fields, dict) else {}
        if words and len(entry.asked) == 1 and not given:
            given, words = {entry.asked[0]: words}, None
        answer = FieldAnswer(given, None if entry.asked or given else words, arguments.get("drop") is True)
        taken, wrong = take(entry, valet.inputs, answer)
        if wrong:
            errors = "; ".join(f"{name}: {error}" if name else error for name, error in wrong.items())
            raise ToolRetry(
                gettext("That cannot be used: {reasons}.", reasons=errors),
                note="Ask the person for it, in your own words.",
            )
        self.changed[entry.agent_id] = taken

    def hold(self, arguments: Mapping[str, object]) -> str | None:
        """Pause, resume or drop an entry. Return the message to the person; None if the entry's own turn sends it.

        Raises `ToolRetry` with advice for the model.
        """
        task, change = arguments.get("task"), arguments.get("change")
        if task is None and len(self.held) == 1:
            task = 1
        if not self.held:
            raise ToolRetry(_NOBODY_WAITS)
        if not isinstance(task, int) or not 1 <= task <= len(self.held):
            raise ToolRetry(f"Say which: `task` is a number from 1 to {len(self.held)}.")
        entry = self.held[task - 1]
        match change, entry.status:
            case "drop", _:
                self.changed[entry.agent_id] = entry.ended(PoolEnd.CANCELLED)
                return None
            case "pause", AgentStatus.WAITING_FOR_INPUT:
                self.changed[entry.agent_id] = replace(entry, status=AgentStatus.PAUSED)
                return gettext(PAUSED, name=entry.told_as)
            case "resume", AgentStatus.PAUSED:
                # Without a question, so that the agent asks it again.
                again = replace(entry, status=AgentStatus.WAITING_FOR_INPUT, question=None, reminded=False)
                self.changed[entry.agent_id] = again
                return None
        raise ToolRetry(
            f"`change` is pause for what waits, resume for what is paused, or drop; {task} is {entry.status}."
        )

    def unless_powerless(self, take: Take) -> Take:
        """Return the taker of the model's call: an edited message, or a message in a group, answers nothing."""

        def taken(arguments: Mapping[str, object]) -> str | None:
            if self.powerless:
                raise ToolRetry(_BY_AN_EDIT)
            return take(arguments)

        return taken

    def replay(self, messages: Sequence[ChatMessage], tools: ToolRegistry) -> None:
        """Pass on the answers in a finished turn's messages: a turn that was taken over did not do so itself."""
        self.changed = {}
        handed_over = {message.tool_call_id for message in messages if message.marker is Marker.HANDED_OVER}
        for call in (call for message in messages for call in message.tool_calls):
            tool = tools.get(call.name)
            if call.name in (ANSWER, HOLD) and call.id in handed_over and tool is not None:
                arguments = read_call(call, tool).arguments
                self.give(arguments) if call.name == ANSWER else self.hold(arguments)

    def remind(self) -> str:
        """Return the questions to remind the person of, each once, and mark them as reminded."""
        asked = [entry for entry, _ in self.asking if not entry.reminded]
        for entry in asked:
            self.changed[entry.agent_id] = replace(entry, reminded=True)
        return "\n".join(entry.in_words for entry in asked if entry.question)

    def _meant(self, task: object) -> tuple[PoolEntry, Asker]:
        if task is None and len(self.offered) == 1:
            task = 1
        if not self.offered:
            raise ToolRetry(_NOBODY_WAITS)
        if not isinstance(task, int) or not 1 <= task <= len(self.offered):
            raise ToolRetry(f"Say which: `task` is a number from 1 to {len(self.offered)}.")
        entry, valet = self.offered[task - 1]
        return self.changed.get(entry.agent_id, entry), valet


def one_of_their_own(inbound: Sequence[TurnMessage]) -> bool:
    """Return whether this is a single message in the words of the person, or of a program in its conversation.

    It may point at nothing but whole messages of the assistant, such as the question.
    """
    if len(inbound) != 1 or inbound[0].media_count or inbound[0].origin not in (Origin.OWN, Origin.CLIENT):
        return False
    return all(point.whose is Whose.ASSISTANT and not point.part for point in inbound[0].points)


def _answer_tool(waiting: PendingAnswers) -> HandOverTool:
    fields: JsonObject = {
        name: {key: value for key, value in field_schema(input_field).items() if key != "default"}
        for _, valet in waiting.offered
        for name, input_field in valet.inputs.items()
    }
    properties = _SHOWN | {"fields": {"type": "object", "properties": fields}}
    return hand_over_tool(ANSWER, _SAYS, properties, _SHOWN, [], waiting.unless_powerless(waiting.give))


def _described(entry: PoolEntry, valet: Asker) -> str:
    known = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.fields.items())
    asked = f" (fields: {'; '.join(_field(name, valet) for name in entry.asked)})" if entry.asked else ""
    question = json.dumps(entry.question, ensure_ascii=False)
    return f"{valet.name}, which asked: {question}{asked}. Given so far: {known or 'nothing'}."


def _field(name: str, valet: Asker) -> str:
    """Return a field's name, its description and its choices."""
    input_field = valet.inputs.get(name)
    if input_field is None:
        return name
    choices = f"one of {json.dumps(input_field.labels, ensure_ascii=False)}" if input_field.choices else ""
    own = "or their own words" if choices and input_field.free else ""
    skip = "null when they leave it out" if input_field.skip else ""
    return ", ".join(filter(None, (name, input_field.description, choices, own, skip)))
