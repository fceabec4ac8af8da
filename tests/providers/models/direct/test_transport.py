"""Our own connections: reused, never redirected, bounded, and text that is told in moments, not in pieces."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core.errors import ModelTimeout, ModelUnavailable
from core.http.provider_session import MAX_ANSWER
from core.llm.types import ModelAnswer, ModelRequest
from providers.models import litellm_library
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.providers.models.direct.replay import Replay, Transcript, replaying
from tests.providers.models.direct.transcripts import openai_chunk, openai_usage, openai_whole, sse, whole
from tests.providers.models.test_litellm_client import ADD

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

HELLO = ModelRequest((SYSTEM, user("Hello")), tools=(ADD,), timeout=PATIENCE)
WORDS = [openai_chunk({"content": f"w{number} "}) for number in range(40)]
END = (openai_chunk({}, "stop"), openai_usage())


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Replay]:
    """Serve a short answer; the client is pointed at it, and litellm itself makes no call."""
    async with replaying(sse(*WORDS[:2], *END)) as replay:
        monkeypatch.setenv("OPENAI_API_BASE", f"{replay.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(litellm_library.load(), "acompletion", None)
        yield replay


@pytest.fixture
async def client() -> AsyncIterator[LiteLLMClient]:
    made = LiteLLMClient("openai/mine")
    await made.warm_up()
    yield made
    await made.close()


async def pieces(client: LiteLLMClient, request: ModelRequest = HELLO) -> tuple[list[str], ModelAnswer]:
    """Return the texts of a streamed answer as they came, and the answer."""
    told, answer = list[str](), None
    async for chunk in client.stream(request):
        told.append(chunk.text)
        answer = chunk.answer
    assert answer is not None
    return told, answer


async def test_calls_one_after_the_other_use_one_connection(served: Replay, client: LiteLLMClient) -> None:
    for _ in range(5):
        await pieces(client)
    served.transcript = whole(openai_whole({"content": "Hi"}, "stop"))
    await client.answer(HELLO)
    assert (len(served.asked), len(served.connections)) == (6, 1)


async def test_text_is_told_in_moments_and_not_in_pieces(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = replace(sse(*WORDS, *END), pause=0.01)
    began = time.monotonic()
    told, answer = await pieces(client)
    spent = time.monotonic() - began
    assert "".join(told) == answer.text == "".join(f"w{number} " for number in range(40))
    assert 2 < len(told) <= spent / 0.05 + 3


async def test_text_before_a_silence_is_told_within_it(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = sse(*WORDS[:1], *END)
    served.goes_on.clear()
    async for chunk in client.stream(HELLO):
        if chunk.text:
            break
    assert not served.goes_on.is_set()
    served.goes_on.set()


async def test_a_redirect_is_not_followed(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = Transcript([b""], 307, headers={"Location": f"{served.url}/elsewhere"})
    for ask in (client.answer(HELLO), pieces(client)):
        with pytest.raises(ModelUnavailable):
            await ask
    assert {wire.path for wire in served.asked} == {"/v1/chat/completions"}


async def test_an_endless_body_is_not_read(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = Transcript(
        [b'{"x": "'] + [b"y" * 65_536] * (MAX_ANSWER // 65_536 + 2), content_type="application/json"
    )
    with pytest.raises(ModelUnavailable):
        await client.answer(HELLO)


async def test_silence_ends_a_call_even_if_nobody_else_does(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = replace(sse(*WORDS[:2], *END), pause=4.0)
    with pytest.raises(ModelTimeout):
        await pieces(client, replace(HELLO, timeout=-1.7))


async def test_a_stream_that_nobody_reads_on_is_closed(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = replace(sse(*WORDS, *END), pause=0.02)
    stream = client.stream(HELLO)
    await anext(stream)
    await stream.aclose()
    served.transcript = sse(*WORDS[:1], *END)
    assert (await pieces(client))[1].text == "w0 "
    assert len(served.connections) == 2


async def test_equal_calls_send_equal_requests(served: Replay, client: LiteLLMClient) -> None:
    for _ in range(3):
        await pieces(client)
    first, *others = served.asked
    assert all(wire == first for wire in others)


async def test_calls_at_once_do_not_wait_for_each_other(served: Replay, client: LiteLLMClient) -> None:
    served.goes_on.clear()
    calling = asyncio.gather(*(pieces(client) for _ in range(20)))
    await eventually(lambda: len(served.asked) == 20, "all calls while none is answered")
    served.goes_on.set()
    await calling
    assert len(served.connections) == 20


async def test_what_no_database_takes_is_not_in_an_answer(served: Replay, client: LiteLLMClient) -> None:
    served.transcript = sse(openai_chunk({"content": "a\x00b"}), openai_chunk({"content": "\ud83d"}), *END)
    told, answer = await pieces(client)
    assert "".join(told) == answer.text == "ab\ufffd"
