"""Streamed answers over the wire: litellm against a server that writes them piece by piece, or breaks off."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from core.errors import ContextOverflow, ModelAuthError, ModelError, ModelRateLimited, ModelTimeout, ModelUnavailable
from core.json_types import Json, JsonObject
from core.llm.types import ModelRequest, TextSoFar
from core.loop.config import ReactLoopConfig
from core.loop.reasoning import ModelCaller
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.patience import PATIENCE
from tests.providers.models.test_litellm_client import ADD
from tests.scripted_model import Reply, ScriptedModel, calls, cut, error, malformed, text

HELLO = ModelRequest((SYSTEM, user("Hello")), tools=(ADD,))

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


@dataclass
class Listener:
    """Keep what was told, and take so many seconds over each."""

    slow: float = 0.0
    heard: list[TextSoFar] = field(default_factory=list)

    async def __call__(self, so_far: TextSoFar) -> None:
        """Keep it."""
        self.heard.append(so_far)
        await asyncio.sleep(self.slow)

    @property
    def texts(self) -> list[str]:
        """Return the pieces."""
        return [request.text for request in self.heard]


def _caller(client: LiteLLMClient, **numbers: float) -> ModelCaller:
    config = ReactLoopConfig(**{"llm_retry_base_delay": 0.001, **numbers})  # type: ignore[arg-type]
    return ModelCaller(client, config)


class TestPieces:
    async def test_text_is_told_as_it_is_written_and_the_answer_is_whole(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(text("One two three"))
        listener = Listener()
        asked = await _caller(client).ask(HELLO, listener)
        assert asked.answer.text == "One two three"
        assert "".join(listener.texts) == "One two three"
        assert listener.heard[-1].whole == "One two three"
        assert asked.answer.usage.input_tokens > 0
        assert model.calls[0].body["stream"] is True
        assert model.calls[0].body["stream_options"] == {"include_usage": True}

    async def test_calls_are_put_together_from_their_pieces(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        wanted = [("add", {"a": 1, "b": "x" * 50}), ("add", {"a": 2}), ("later", {})]
        model.add(calls(*wanted, beside="Let me see"))  # type: ignore[arg-type]
        listener = Listener()
        answer = (await _caller(client).ask(HELLO, listener)).answer
        assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == wanted
        assert len({call.id for call in answer.tool_calls}) == 3
        assert answer.text == "".join(listener.texts) == "Let me see"

    async def test_the_price_is_known_where_litellm_knows_the_model(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/gpt-4o")
        model.add(text("Hi"), text("Hi"))
        try:
            streamed = (await _caller(client).ask(HELLO)).answer.usage
            whole = (await client.answer(HELLO)).usage
        finally:
            await client.close()
        assert streamed.cost == whole.cost
        assert (streamed.cost or 0) > 0

    async def test_in_json_mode_the_protocol_is_not_shown_but_the_answer_is(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/scripted", tool_mode="json")
        model.add(text('{"final": "It is 3."}'), text('{"tool": "add", "arguments": {"a": 1}}'))
        listener = Listener()
        try:
            assert (await _caller(client).ask(HELLO, listener)).answer.text == "It is 3."
            assert (await _caller(client).ask(HELLO, listener)).answer.tool_calls[0].name == "add"
        finally:
            await client.close()
        assert listener.texts == ["It is 3."]

    async def test_streaming_can_be_put_off(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        model.add(text("One two"))
        listener = Listener()
        assert (await _caller(client, llm_streaming=False).ask(HELLO, listener)).answer.text == "One two"
        assert listener.texts == ["One two"]
        assert "stream" not in model.calls[0].body


class TestErrors:
    @pytest.mark.parametrize(
        ("reply", "kind"),
        [
            (error(401), ModelAuthError),
            (error(429, retry_after=40), ModelRateLimited),
            (error(400, code="context_length_exceeded", message="maximum context length"), ContextOverflow),
            (error(503), ModelUnavailable),
            (cut(), ModelUnavailable),
            (malformed(), ModelUnavailable),
            (malformed(b'{"choices": []}'), ModelUnavailable),
            (malformed(b"<html>gateway</html>"), ModelUnavailable),
        ],
    )
    async def test_each_kind_becomes_ours_at_one_call(
        self, model: ScriptedModel, client: LiteLLMClient, reply: Reply, kind: type[ModelError]
    ) -> None:
        model.add(reply)
        with pytest.raises(ModelError) as caught:
            await _caller(client, llm_max_retries=0).ask(ModelRequest((user("Hello"),)))
        assert type(caught.value) is kind
        assert len(model.calls) == 1

    async def test_a_server_that_does_not_stream_is_understood_at_no_second_call(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(malformed(json.dumps(_whole("Hi there")).encode()))
        asked = await _caller(client).ask(HELLO)
        assert (asked.answer.text, asked.answer.usage.total) == ("Hi there", 12)
        assert len(model.calls) == 1

    async def test_a_server_that_refuses_to_stream_is_retried_without_and_remembered(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(error(400, message="stream_options is not supported"), text("a"), text("b"))
        assert (await _caller(client).ask(HELLO)).answer.text == "a"
        assert (await _caller(client).ask(HELLO)).answer.text == "b"
        assert ["stream" in call.body for call in model.calls] == [True, False, False]


SILENCE = 1.0
"""Seconds of silence that are too long; whole answers here take longer, and their pauses a fifteenth of it."""


class TestTime:
    async def test_a_slow_model_that_goes_on_writing_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        words = [f"w{number} " for number in range(20)]
        pieces = [*(_piece(content=word) for word in words), _end()]
        async with _server([_paced(pieces, SILENCE / 15)], monkeypatch), _opened() as client:
            asked = await _caller(client, llm_timeout=SILENCE, llm_patience=SILENCE).ask(HELLO)
        assert asked.answer.text == "".join(words)

    async def test_thinking_and_calls_are_signs_of_life_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        thoughts = [f"hm{number} " for number in range(20)]
        pieces = [*(_piece(reasoning_content=thought) for thought in thoughts), _piece(content="so"), _end()]
        async with _server([_paced(pieces, SILENCE / 15)], monkeypatch), _opened() as client:
            asked = await _caller(client, llm_timeout=SILENCE, llm_patience=SILENCE).ask(HELLO)
        assert asked.answer.text == "so"
        assert asked.answer.thinking == ({"type": "reasoning_content", "text": "".join(thoughts)},)

    async def test_a_slow_first_word_is_waited_for_apart_from_silences(self, monkeypatch: pytest.MonkeyPatch) -> None:
        role, word = _piece(role="assistant", content=""), _piece(content="so")
        slow = [(0.0, role), (0.6, word), (0.0, _end()), (0.0, b"data: [DONE]\n\n")]
        async with _server([slow], monkeypatch) as served, _opened() as client:
            asked = await _caller(client, llm_timeout=0.2, llm_first_token_timeout=5.0, llm_patience=0.2).ask(HELLO)
            assert (asked.answer.text, len(served)) == ("so", 1)

    async def test_one_that_falls_silent_in_the_middle_has_timed_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        script = [_paced([_piece(content="a "), None, _end()], 0.0)] * 2
        async with _server(script, monkeypatch) as served, _opened() as client:
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(ModelTimeout):
                    await _caller(client, llm_timeout=0.2, llm_patience=10 * PATIENCE).ask(HELLO)
        assert len(served) == 2

    async def test_an_answer_without_end_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        endless = _paced([_piece(content=f"a{index} ") for index in range(100)], 0.05)
        async with _server([endless] * 9, monkeypatch), _opened() as client:
            with pytest.raises(ModelTimeout):
                await _caller(client, llm_longest_answer=0.4).ask(HELLO)

    async def test_a_stream_that_breaks_off_is_asked_for_again_from_its_beginning(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        half = [_piece(content="One "), _piece(content="half ")]
        whole = [_piece(content="All "), _piece(content="of it"), _end()]
        for ending in (b"", None):  # a clean end without a word, and a cut
            listener = Listener()
            async with _server([_paced([*half], 0.0, ending), _paced(whole, 0.0)], monkeypatch), _opened() as client:
                assert (await _caller(client).ask(HELLO, listener)).answer.text == "All of it"
            assert listener.heard[-1].whole == "All of it"
            assert not any("One" in request.whole and "All" in request.whole for request in listener.heard)

    async def test_a_slow_listener_slows_the_model_and_costs_no_patience(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(text("a b c d"))
        listener = Listener(slow=0.2)
        asked = await _caller(client, llm_timeout=0.7, llm_patience=0.7).ask(HELLO, listener)
        assert asked.answer.text == "a b c d"


type Step = tuple[float, bytes | None]


@asynccontextmanager
async def _server(script: Sequence[Sequence[Step]], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[int]]:
    """Write each answer's pieces with the pauses before them; None hangs, then cuts."""
    waiting, served = list(script), [0][:0]

    async def chat(request: web.Request) -> web.StreamResponse:
        served.append(1)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for pause, piece in waiting.pop(0):
            await asyncio.sleep(pause)
            if piece is None:
                assert request.transport is not None
                request.transport.abort()
                return stream
            await stream.write(piece)
        return stream

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    try:
        yield served
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _opened() -> AsyncIterator[LiteLLMClient]:
    client = LiteLLMClient("openai/scripted")
    await client.warm_up()
    try:
        yield client
    finally:
        await client.close()


def _paced(pieces: Sequence[bytes | None], pause: float, ending: bytes | None = b"data: [DONE]\n\n") -> list[Step]:
    """Yield the pieces, each after its pause; a None among them hangs for longer than any test."""
    return [*((10 * PATIENCE if piece is None else pause, piece) for piece in pieces), (0.0, ending)]


def _piece(**delta: Json) -> bytes:
    return _event({"index": 0, "delta": delta, "finish_reason": None})


def _end() -> bytes:
    return _event({"index": 0, "delta": {}, "finish_reason": "stop"})


def _event(choice: JsonObject) -> bytes:
    whole: JsonObject = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


def _whole(words: str) -> JsonObject:
    choice: JsonObject = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}
    usage: JsonObject = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
