"""Collect an agent's fields: valid values are taken, missing values take their default or are asked for. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.agents.fields import InputField, InvalidValue, fields_of, values_of
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.standard_agent import AgentStatus
from core.json_types import Json, JsonObject
from core.language.asking import asks
from core.language.catalogue import gettext
from core.questions.types import Asked

_LETTING_GO = re.compile(
    r"(cancel|stop)( it| that)?|(drop|skip|leave|forget) (it|that)|forget about it|never ?mind"
    r"|no(,? thanks|,? thank you)?|nothing|quit"
    r"|abbrechen|stopp|(vergiss|lass) (es|das)|lieber nicht|nein(,? danke)?|nichts"
    r"|cancela(r|lo)?|déjalo|olvídalo|mejor no|no,? gracias|nada"
    r"|annule[rz]?|laissez? tomber|non(,? merci)?|rien"
    r"|cancel(e|ar)|deix[ae]( estar)?|esque(ce|ça)|não(,? obrigad[oa])?"
    r"|取消|算了|不用(了|谢了?)?|不要了?|没有"
)
"""Replies that cancel a question rather than answer it."""
_WEATHER = r"(?:weather|forecast|wetter|tiempo|clima|météo|temps|tempo|天气)"
_TO_US = (
    r"(?:remind|tell|show|find|send|get|book|wake) me\b|(?:erinner|zeig|sag|such|schick|buch|weck)e? (?:mich|mir)\b"
    r"|(?:recu[ée]rda|muéstra|di|busca|búsca|env[ií]a|despiérta)me\b|(?:lembr|mostr|dig|procur|envi|acord)[ae]-me\b"
    r"|(?:rappel(?:le|ez)|montrez?|dis|dites|cherchez?|trouvez?|envo(?:ie|yez)|réveillez?)-moi\b"
    r"|(?:提醒|告诉|叫醒|通知)我|帮我"
)
_ERRAND = re.compile(
    rf"{_TO_US}|/[a-z]|(?:note|notiz|nota|笔记|备忘)\s?[:：]"
    rf"|(?:(?:the|das|el|la|le|o) )?{_WEATHER}\b.* (?:in|for|en|à|em|no|na) \w|.+天气(?:怎么样|如何|预报)?$"
    r"|(?:flights?|flüge?|vuelos?|vols?|voos?) (?:from|to|von|nach|de|a|à|para) \w|.+[到飞往].+(?:航班|机票)$"
    r"|(?:every|jede[nrs]?|alle|cada|tod[oa]s [oa]s|todos los|todas las|chaque|tous les|toutes les|每).*"
    rf"(?:{_TO_US}|{_WEATHER}|notes|notizen|notas|笔记)",
    re.IGNORECASE,
)
"""How errands begin that nobody gives as a value: "call mum" may be a value, "remind me to call mum" is not."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The valid values as JSON, the errors, both by field name, and the names of missing fields."""

    fields: JsonObject
    wrong: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Return whether there is nothing to ask."""
        return not (self.wrong or self.missing)


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """The person's answer to a waiting agent, as far as it was understood.

    `fields` answer the question or correct earlier values; null leaves a field out. `words` answer a question about no
    field.
    """

    fields: JsonObject = field(default_factory=dict)
    words: str | None = None
    drop: bool = False


def collect(inputs: Mapping[str, InputField], known: JsonObject, given: Mapping[str, Json]) -> Collected:
    """Add given values to the known values. Null, and empty text for an optional field, count as not given."""
    fields = {name: value for name, value in known.items() if name in inputs}
    wrong: dict[str, str] = {}
    for name, value in given.items():
        input_field = inputs.get(name)
        if input_field is None or value is None or (value == "" and not input_field.required):
            continue
        if value == "" and name not in fields:
            continue
        try:
            fields[name] = input_field.to_json(input_field.check(value))
        except InvalidValue as error:
            wrong[name] = str(error)
    needed = (name for name, input_field in inputs.items() if input_field.asked_for)
    missing = tuple(name for name in needed if name not in fields and name not in wrong)
    return Collected(fields, wrong, missing)


def fields_given(agent: object) -> JsonObject:
    """Return the input fields of an agent that have a value, as JSON."""
    inputs, values = fields_of(type(agent), InputField), values_of(agent)
    return {name: field.to_json(values[name]) for name, field in inputs.items() if name in values}


def questions(inputs: Mapping[str, InputField], collected: Collected) -> dict[str, str]:
    """Return the questions for all wrong or missing fields by name, in the order of the fields, with the errors."""
    asked: dict[str, str] = {}
    for name, input_field in inputs.items():
        if name in collected.wrong:
            error = collected.wrong[name].rstrip(".")
            asked[name] = gettext(
                "The {field} cannot be used: {reason}. {question}",
                field=input_field.label,
                reason=error,
                question=gettext(input_field.prompt),
            )
        elif name in collected.missing:
            asked[name] = gettext(input_field.prompt)
    return asked


def with_choices(inputs: Mapping[str, InputField], asked: Mapping[str, str]) -> tuple[Asked, ...]:
    """Return questions about fields with their choices; nothing if no field has choices or may be skipped."""
    fields = {name: inputs[name] for name in asked if name in inputs}
    if not any(field.choices or field.skip for field in fields.values()):
        return ()
    return tuple(
        Asked(
            name=name,
            text=asked[name],
            labels=field.labels,
            values=tuple(field.to_json(choice) for choice in field.choices),
            free=field.free,
            skip=field.skip,
        )
        for name, field in fields.items()
    )


def plain_answer(entry: PoolEntry, inputs: Mapping[str, InputField], text: str) -> FieldAnswer | None:
    """Return a message as the answer, without a model, if a single field was asked for and the text is valid for it.

    None for a message that may be something else: a question, a new request, a cancellation, or valid words among
    others ("it's ann@example.org").
    """
    if entry.status is not AgentStatus.WAITING_FOR_INPUT or len(entry.asked) != 1 or entry.asked[0] not in inputs:
        return None
    input_field, words = inputs[entry.asked[0]], text.strip()
    lets_go = input_field.type is str and _LETTING_GO.fullmatch(words.rstrip(".!").casefold())
    if not words or "?" in words or lets_go or _asks_for_more(words) or not _valid(input_field, words):
        return None
    count = len(words.split())
    valid = sum(_valid(input_field, word) for word in words.split())
    return None if count > 1 and 0 < valid < count else FieldAnswer({input_field.name: words})


def take(entry: PoolEntry, inputs: Mapping[str, InputField], answer: FieldAnswer) -> tuple[PoolEntry, dict[str, str]]:
    """Return the entry with the answer, or unchanged with the errors by field ("" for the whole answer)."""
    if answer.drop:
        return entry.ended(PoolEnd.CANCELLED), {}
    unknown = [name for name in answer.fields if name not in inputs]
    if unknown:
        return entry, {name: f"it is not known; there are {', '.join(inputs)}" for name in unknown}
    collected = collect(inputs, entry.fields, answer.fields)
    if collected.wrong:
        return entry, collected.wrong
    left_out: JsonObject = {
        name: None
        for name, value in answer.fields.items()
        if value in (None, "") and inputs[name].skip and name not in collected.fields
    }
    fields = entry.fields | collected.fields | left_out
    if fields == entry.fields and not answer.words:
        return entry, {"": gettext("it answers none of the questions")}
    # Without a question, so that the agent asks again for the missing fields.
    return replace(entry, fields=fields, answer=answer.words, question=None, reminded=False), {}


def _asks_for_more(text: str) -> bool:
    """Return whether a text is plainly a question or a new request, which the model reads before any field gets it."""
    return asks(text) or _ERRAND.match(text) is not None


def _valid(input_field: InputField, text: str) -> bool:
    try:
        input_field.check(text)
    except InvalidValue:
        return False
    return True
