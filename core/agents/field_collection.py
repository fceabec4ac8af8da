"""Collect an agent's fields: what is valid is adopted, what is missing takes its default or is asked for. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.agents.fields import InputField, InvalidValue
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.standard_agent import AgentStatus
from core.json_types import Json, JsonObject

_LETTING_GO = re.compile(
    r"(cancel|stop)( it| that)?|(drop|skip|leave|forget) (it|that)|forget about it|never ?mind"
    r"|no(,? thanks|,? thank you)?|nothing|quit"
)
"""Answers that let go of a question, rather than answer it."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What is known: valid values by name as JSON, what was wrong by name, and the names of what is missing."""

    fields: JsonObject
    wrong: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Return whether nothing has to be asked."""
        return not (self.wrong or self.missing)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person says to a waiting agent, as far as it was understood.

    `fields` answer what was asked or correct what was given before; `words` answer a question about no field.
    """

    fields: JsonObject = field(default_factory=dict)
    words: str = ""
    drop: bool = False


def collect(inputs: Mapping[str, InputField], known: JsonObject, given: Mapping[str, Json]) -> Collected:
    """Add what is given to what is known. Null and, for what is optional, empty text count as not given."""
    fields = {name: value for name, value in known.items() if name in inputs}
    wrong: dict[str, str] = {}
    for name, value in given.items():
        one = inputs.get(name)
        if one is None or value is None or (value == "" and not one.required):
            continue
        if value == "" and name not in fields:
            continue
        try:
            fields[name] = one.to_json(one.check(value))
        except InvalidValue as error:
            wrong[name] = str(error)
    missing = tuple(name for name, one in inputs.items() if one.required and name not in fields and name not in wrong)
    return Collected(fields, wrong, missing)


def question(inputs: Mapping[str, InputField], collected: Collected) -> str:
    """Ask for all that is wrong or missing, in the order of the fields, what was wrong first said."""
    asked: list[str] = []
    for name, one in inputs.items():
        if name in collected.wrong:
            asked.append(f"The {one.label} cannot be used: {collected.wrong[name].rstrip('.')}. {one.prompt}")
        elif name in collected.missing:
            asked.append(one.prompt)
    return "\n".join(asked)


def asked_names(inputs: Mapping[str, InputField], collected: Collected) -> tuple[str, ...]:
    """Name the fields that `question` asks for."""
    return tuple(name for name in inputs if name in collected.wrong or name in collected.missing)


def plain_answer(entry: PoolEntry, inputs: Mapping[str, InputField], text: str) -> Answer | None:
    """Take a message for the answer without a model: one field was asked, and the text as it stands is valid.

    None where it may be something else: a question, words that let go, or a valid word among others that are not
    ("it's ann@example.org").
    """
    if entry.status is not AgentStatus.WAITING_FOR_INPUT or len(entry.asked) != 1 or entry.asked[0] not in inputs:
        return None
    one, said = inputs[entry.asked[0]], text.strip()
    if not said or "?" in said or (one.type is str and _LETTING_GO.fullmatch(said.rstrip(".!").casefold())):
        return None
    if not _valid(one, said):
        return None
    words = said.split()
    valid = sum(_valid(one, word) for word in words)
    if len(words) > 1 and 0 < valid < len(words):
        return None
    return Answer({one.name: said})


def take(entry: PoolEntry, inputs: Mapping[str, InputField], answer: Answer) -> tuple[PoolEntry, dict[str, str]]:
    """Return the entry with an answer taken, or as it was, with what is wrong by field ("": all of it)."""
    if answer.drop:
        return entry.ended(PoolEnd.CANCELLED), {}
    unknown = [name for name in answer.fields if name not in inputs]
    if unknown:
        return entry, {name: f"it is not known; there are {', '.join(inputs)}" for name in unknown}
    collected = collect(inputs, entry.fields, answer.fields)
    if collected.wrong:
        return entry, collected.wrong
    changed = collected.fields != entry.fields
    if not changed and not answer.words:
        return entry, {"": "it answers nothing that was asked"}
    # Without its question: what is still missing is asked for again.
    return replace(entry, fields=collected.fields, answer=answer.words, question="", reminded=False), {}


def _valid(one: InputField, text: str) -> bool:
    try:
        one.check(text)
    except InvalidValue:
        return False
    return True
