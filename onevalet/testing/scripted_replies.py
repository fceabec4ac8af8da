"""The requests to a scripted model and its replies: a chat completion request, and the replies to choose from."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from core.json_types import JsonObject, objects_in
from core.turns.prompt_lines import CONTEXT


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A chat completion request. `number` counts from 1; `at` is monotonic seconds."""

    number: int
    at: float
    body: JsonObject
    key: str

    @property
    def messages(self) -> list[JsonObject]:
        """Return the messages as sent."""
        return objects_in(self.body.get("messages"))

    @property
    def tools(self) -> list[str]:
        """Return the names of the offered tools, in order."""
        functions = [tool.get("function") for tool in objects_in(self.body.get("tools"))]
        return [str(function["name"]) for function in functions if isinstance(function, dict)]

    @property
    def system(self) -> str:
        """Return all system text."""
        return "\n".join(
            text_of(message) for message in self.messages if message.get("role") in ("system", "developer")
        )

    @property
    def last_user(self) -> str:
        """Return the text of the last user message, or ""."""
        return next((text_of(message) for message in reversed(self.messages) if message.get("role") == "user"), "")

    @property
    def new_user_texts(self) -> list[str]:
        """Return the person's messages after the last assistant message, in order."""
        roles = [message.get("role") for message in self.messages]
        start = max((index for index, role in enumerate(roles) if role == "assistant"), default=-1)
        texts = [text_of(message) for message in self.messages[start + 1 :] if message.get("role") == "user"]
        return [text for text in texts if not text.startswith(CONTEXT)]

    @property
    def context(self) -> str:
        """Return the text of the message with the time and the waiting entries, or ""."""
        texts = [text_of(message) for message in self.messages if message.get("role") == "user"]
        return next((text for text in texts if text.startswith(CONTEXT)), "")

    @property
    def tool_results(self) -> dict[str, str]:
        """Return every tool result in the request, by the id of its call."""
        results = [message for message in self.messages if message.get("role") == "tool"]
        return {str(result.get("tool_call_id")): text_of(result) for result in results}


@dataclass(frozen=True, slots=True)
class Reply:
    """A reaction of the model: answer, fail, hang, or break. Created by the helpers below.

    `delay` is the seconds before anything is sent; `spread`, the seconds over which a streamed answer is written.
    """

    text: str | None = None
    calls: tuple[tuple[str, JsonObject | str], ...] = ()
    finish_reason: str = ""
    delay: float = 0.0
    spread: float = 0.0
    status: int = 200
    retry_after: float | None = None
    code: str = ""
    message: str = ""
    raw: bytes | None = None
    cut: bool = False

    def after(self, seconds: float) -> "Reply":
        """Return the same reply, sent later."""
        return replace(self, delay=seconds)

    def over(self, seconds: float) -> "Reply":
        """Return the same reply, written slowly if it is streamed."""
        return replace(self, spread=seconds)


type Script = Callable[[ModelCall], Reply | Awaitable[Reply]] | Iterable[Reply]


def text(words: str, *, finish_reason: str = "stop") -> Reply:
    """Answer in words."""
    return Reply(text=words, finish_reason=finish_reason)


def calls(*wanted: tuple[str, JsonObject | str], beside: str | None = None) -> Reply:
    """Call tools: (name, arguments), arguments as a string if they should not be good JSON."""
    return Reply(text=beside, calls=wanted, finish_reason="tool_calls")


def error(status: int, *, retry_after: float | None = None, code: str = "", message: str = "scripted error") -> Reply:
    """Fail as OpenAI does, for example error(400, code="context_length_exceeded")."""
    return Reply(status=status, retry_after=retry_after, code=code, message=message)


def hang(seconds: float) -> Reply:
    """Send nothing for a while, then close the connection."""
    return Reply(delay=seconds, cut=True)


def cut() -> Reply:
    """Close the connection at once."""
    return Reply(cut=True)


def malformed(raw: bytes = b'{"choices": [{"mess') -> Reply:
    """Answer 200 with something that is no completion."""
    return Reply(raw=raw)


def echo(call: ModelCall) -> Reply:
    """Return the person's texts since the last answer."""
    return text("echo: " + " | ".join(call.new_user_texts or [call.last_user]))


def text_of(message: JsonObject) -> str:
    """Return a message's text, whether it is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects_in(content))
