"""`@tool`: a function that the model may call. It stays a function: a direct call runs your code."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypedDict, TypeGuard, Unpack, cast, overload

import pydantic_core
from pydantic import BaseModel, ValidationError

from core.errors import ConfigError, ToolRetry
from core.files.types import AttachedFile, FileResult
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json, JsonObject
from core.llm.types import ToolCall, ToolSpec
from core.tools.account_argument import ACCOUNT, checked_needs, with_account, without_account
from core.tools.call_span import note_result, tool_span
from core.tools.context import ToolExecutionContext
from core.tools.docstrings import read_docstring
from core.tools.results import ToolEnd
from core.tools.schema import Signature, read_signature
from core.tools.threads import call_in_thread

type EffectName = Literal["read", "idempotent", "once"]
type Risk = Literal["", "high"]
"""`"high"` asks for the stricter kind of consent."""
type AnyTool = Tool[..., object]

_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$")
_MAX_COMPLAINTS = 5


@dataclass(frozen=True, slots=True)
class Tool[**P, R]:
    """A tool: the function, its description for the model, and the conditions under which it runs.

    `effect` decides whether a call with an unknown end may run again (`core.journal.types.Effect`). `timeout` is in
    seconds, None for the loop's default. A tool whose `in_thread` is true is an ordinary (not async)
    function: it runs in a thread of its own, which a timeout cannot stop.
    """

    name: str
    description: str
    fn: Callable[P, R]
    signature: Signature
    effect: Effect = Effect.ONCE
    needs_approval: bool = False
    parallel: bool = True
    risk: Risk = ""
    group: str | None = None
    """If there are many tools, those of a group are a single line until the conversation opens it. Empty: in none;
    None: in the group of its module, if a plugin brings several."""
    of_turn: bool = False
    """It belongs to a single turn, and is offered last. Once offered in a conversation, it stays offered."""
    accounts: Sequence[str] = ()
    """The required access to the person's accounts, as in `AccountAccess.open`: a call waits until it is connected."""
    needs_memory: str = ""
    """`on`: offered if memory is on; `recall`: if the model may ask it by itself."""
    needs_setting: str = ""
    """Offered if the operator has set this of `context.settings`."""
    outside: bool = False
    """Its results were written by others: the model reads them marked as data, and asks before it acts on them."""
    foreign_words: frozenset[str] = frozenset()
    """The words of others in the tool's description for the model; empty if the description is ours."""
    doubtful: bool = False
    """Whether others' words there may be meant to make the model do more than use it."""
    addresses: Sequence[str] = ()
    """The parameters that hold addresses of the web: only known addresses may be used without consent."""
    hands_on: bool = False
    """It passes the person's words on, so it may not run once the model has read words of others."""
    own_words: bool = False
    """It runs only if all words that the model has read in the turn are the person's own."""
    inverse: bool = False
    """It takes back another tool's action, as that tool offered: run by "undo", and never offered to the model."""
    agent: bool = False
    """Whether it is an agent as the model sees it: it may take longer."""
    timeout: float | None = None
    title: str = ""
    """Its name on cards, in English; a catalogue may translate it. Empty: its name as words."""
    doing: str = ""
    """The status while it runs, in English, such as "Checking the weather…". Empty: its title or name as words."""
    standing: Sequence[str] | None = None
    """The parameters that may vary if its person has consented in advance; None: each call is asked about."""
    replaces: bool = False
    """It replaces any other tool or agent of its name, such as those that ship."""
    joint: bool = False
    """A call of it stands for that of another tool, `action` with `arguments`, to which `who` must agree, too."""
    preset: Mapping[str, object] | None = None
    shown: JsonObject | None = None
    """The parameters for the model if they differ from the signature's, which may differ from turn to turn."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self.fn(*args, **kwargs)

    @property
    def in_thread(self) -> bool:
        """Return whether it runs in a thread, which cancelling does not stop."""
        return not _is_async(self.fn)

    @property
    def acts(self) -> bool:
        """Return whether a call of it may change something."""
        return self.effect is not Effect.READ

    @property
    def place(self) -> str:
        """Return the file and line of its definition."""
        return place_of(self.fn)

    @property
    def spec(self) -> ToolSpec:
        """Return its specification for the model."""
        return ToolSpec(self.name, self.description, self.shown or self.signature.shown)

    def with_preset(self, **values: object) -> "Tool[P, R]":
        """Fix parameters: the model neither sees them nor may give them."""
        if unknown := set(values) - self.signature.names:
            raise ConfigError(f"{self.place}: the tool {self.name} has no parameter {sorted(unknown)[0]!r}.")
        fixed = {**(self.preset or {}), **values}
        signature = read_signature(self.fn, self.name, hidden=set(fixed))
        if not self.accounts or ACCOUNT in fixed:
            return replace(self, preset=fixed, signature=signature)
        signature = with_account(signature)
        return replace(self, preset=fixed, signature=signature, shown=without_account(signature.shown))

    def parse(self, arguments: Json) -> dict[str, object]:
        """Check arguments against the schema and convert them to the annotated types.

        Raises `ToolRetry`, which tells the model the right form.
        """
        try:
            parsed = self.signature.model.model_validate(arguments)
        except ValidationError as error:
            raise ToolRetry(_what_is_right(self, error)) from error
        return {
            name: getattr(parsed, field)
            for name, field in self.signature.fields.items()
            if field in parsed.model_fields_set
        }

    async def run(self, arguments: Mapping[str, object], context: ToolExecutionContext) -> str:
        """Run it with parsed arguments and give its result as the text the model reads."""
        given: dict[str, object] = {**(self.preset or {}), **arguments}
        if ACCOUNT not in self.signature.names:
            given.pop(ACCOUNT, None)  # `context.accounts` opens it
        if self.signature.context_name:
            given[self.signature.context_name] = context
        call = cast(Callable[..., object], self.fn)
        made = await (call_in_thread(call, given) if self.in_thread else cast(Awaitable[object], call(**given)))
        return result_text(await _with_files_put(made, context))

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        """Run it as a call of a turn; failures are raised. Agents, which may also wait, have their own method."""
        with tool_span(self.name, call):
            text = await self.run(arguments, context)
            end = ToolEnd(text, files=tuple(context.attached), undo=context.undo.offered)
            note_result(end)
            return end

    def status_after(self, key: StepKey, outcome: Outcome) -> str | None:
        """Return the status in which a call left an agent; None, for a tool has none."""
        return None


@lru_cache(1024)
def _is_async(fn: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(fn)


type Described = Mapping[str, Sequence[tuple[str, str]]]
"""Keys and descriptions of a person's stored values, by collection, without collections that were not read."""
NOTHING_DESCRIBED: Described = MappingProxyType({})


class ToolSource(Protocol):
    """The source of a turn's further tools, which may change while a worker runs."""

    async def tools_for(self, tenant_id: str, described: Described) -> Sequence[AnyTool]:
        """Return the tools of a person's turn. `described`: the stored values that were read with the turn."""
        ...


class ToolOptions(TypedDict, total=False):
    """The keywords of `@tool`; each may be left out."""

    name: str
    description: str
    effect: EffectName
    """`read` may run again, `idempotent` with the same `context.idempotency_key`, `once` (the default) not."""
    needs_approval: bool
    parallel: bool
    """False runs it alone."""
    risk: Risk
    group: str
    """If there are many tools, those of a group are a single line until the conversation opens it; empty keeps it out
    of its module's."""
    accounts: Sequence[str]
    """The required access to the person's accounts: an ability such as `mail.read`, or that of a service,
    `google:calendar.readonly`. A call waits until such an account is connected."""
    needs_memory: str
    """`on`: offered if memory is on; `recall`: if the model may ask it by itself."""
    needs_setting: str
    """Offered if the operator has set this of `context.settings`."""
    outside: bool
    """Its results were written by others: they are marked as data, and the model must ask before it acts on them."""
    own_words: bool
    """Only the person may ask for its answer: it never runs in a turn in which the model has read others' words."""
    addresses: Sequence[str]
    """Parameters with addresses of the web; an address that neither the person nor a result named needs approval."""
    inverse: bool
    """It takes back another tool's action, named in `context.undo.offer`: "undo" runs it, the model cannot."""
    timeout: float | None
    title: str
    """Its name on cards, in English; a catalogue may translate it."""
    doing: str
    """The status for the person while it runs, such as "Checking the weather…"; a catalogue may translate it."""
    standing: Sequence[str]
    """People may consent to it in advance: the parameters that may then vary, such as a text; empty: none may."""
    replaces: bool
    """True puts it in place of any other tool or agent of its name, such as those that ship."""
    joint: bool
    """A call of it stands for that of another tool, `action` with `arguments`, to which `who` must agree, too."""


@overload
def tool[**P, R](fn: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool[**P, R](**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    fn: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool[..., Any] | Callable[[Callable[..., Any]], Tool[..., Any]]:
    """Make a tool of a function.

    The schema comes from the annotations and the docstring; a parameter annotated `ToolExecutionContext` is filled in
    and hidden. Raises `ConfigError` with the file and line if something is missing.
    """
    given = dict[str, Any](options)
    name, description, effect = given.pop("name", ""), given.pop("description", ""), given.pop("effect", "once")
    accounts: Sequence[str] = given.pop("accounts", ())

    def make(function: Callable[..., Any]) -> Tool[..., Any]:
        tool_name = name or function.__name__
        signature = read_signature(function, tool_name)
        signature = with_account(signature) if accounts else signature
        return Tool(
            name=_checked_name(tool_name, function),
            description=_description(function, tool_name, description),
            fn=function,
            signature=signature,
            effect=_checked_effect(effect, tool_name, function),
            accounts=checked_needs(accounts, place_of(function)),
            shown=without_account(signature.shown) if accounts else None,
            **given,
        )

    return make if fn is None else make(fn)


def place_of(fn: object) -> str:
    """Return "file:line" of a function, for messages to its author."""
    code = getattr(inspect.unwrap(cast(Callable[..., object], fn)), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(fn)


def result_text(value: object) -> str:
    """Write a tool's result as text: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return "Done."
    if isinstance(value, AttachedFile):
        return str(value)
    if _holds(value, AttachedFile):
        return "\n".join(map(result_text, value))
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return pydantic_core.to_json(value, fallback=str).decode()


async def _with_files_put(value: object, context: ToolExecutionContext) -> object:
    """Return a tool's result with the files in it stored, and attached to the reply."""
    if isinstance(value, FileResult):
        return await context.files.put(value.name, value.data, value.content_type)
    if _holds(value, FileResult):
        return [await _with_files_put(item, context) for item in value]
    return value


def _holds(value: object, kind: type[object]) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple) and any(isinstance(item, kind) for item in value)


def _description(function: Callable[..., Any], name: str, given: str) -> str:
    text = given or read_docstring(function.__doc__).summary
    if not text:
        raise ConfigError(
            f"{place_of(function)}: the tool {name} needs a docstring that tells the model what it does; "
            f'write """Do this and that.""" below its def line.'
        )
    return text


def _checked_name(name: str, function: Callable[..., Any]) -> str:
    if not _NAME.match(name):
        raise ConfigError(f"{place_of(function)}: {name!r} cannot name a tool; use up to 64 letters, digits, _ and -.")
    return name


def _checked_effect(effect: str, name: str, function: Callable[..., Any]) -> Effect:
    if effect not in tuple(Effect):
        raise ConfigError(
            f'{place_of(function)}: the tool {name} has effect={effect!r}; write "read", "idempotent" or "once".'
        )
    return Effect(effect)


def _what_is_right(tool: AnyTool, error: ValidationError) -> str:
    complaints = [_complaint(item.get("loc", ()), item["msg"], item["type"]) for item in error.errors()]
    parameters = cast(JsonObject, tool.signature.schema.get("properties", {}))
    required = cast(list[str], tool.signature.schema.get("required", []))
    names = ", ".join(f"{name} (required)" if name in required else name for name in parameters)
    problems = "; ".join(complaints[:_MAX_COMPLAINTS])
    return f"The arguments of {tool.name} are not right: {problems}. It takes: {names or 'no arguments'}."


def _complaint(place: tuple[int | str, ...], message: str, kind: str) -> str:
    where = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        return f"{where} is not a parameter"
    if kind == "missing":
        return f"{where} is missing"
    return f"{where}: {message}" if where else message
