"""Speech over the wire: a server of OpenAI's shape, its failures, and the price of a text."""

from collections.abc import AsyncIterator

import pytest

from core.errors import ModelAuthError, ModelError, ModelRejected, ModelTimeout
from providers.models.silent_speech import recorded
from providers.models.speech import MAX_ANSWER, Speaker
from tests.scripted_speech import ScriptedSpeech, Spoken, fails, hangs, redirects, says

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedSpeech]:
    async with ScriptedSpeech() as opened:
        monkeypatch.setenv("OPENAI_API_BASE", opened.url)
        yield opened


async def spoken(server: ScriptedSpeech, *answers: Spoken, key: str = "sk-1", sound: str = "opus") -> bytes:
    """Have a text spoken while the server follows a script."""
    server.add(*answers)
    client = Speaker("openai/tts-1", "nova", key, patience=20.0, pause=0.01)
    try:
        return await client.speak("Olá, tudo bem?", sound)
    finally:
        await client.close()


async def test_a_text_is_sent_with_its_voice_and_format(server: ScriptedSpeech) -> None:
    assert await spoken(server) == recorded("Olá, tudo bem?", "opus")
    assert (await spoken(server, sound="mp3"))[:3] == b"ID3"
    call = server.calls[0]
    assert call.body == {"model": "tts-1", "input": "Olá, tudo bem?", "voice": "nova", "response_format": "opus"}
    assert call.key == "sk-1"


async def test_a_key_of_the_providers_own_variable_is_used(
    server: ScriptedSpeech, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    await spoken(server, key="")
    assert server.calls[0].key == "sk-variable"


async def test_a_server_of_ones_own_is_reached_by_its_providers_name(
    server: ScriptedSpeech, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    client = Speaker("hosted_vllm/kokoro", "af_sky", pause=0.01)
    assert await client.speak("Hi.", "mp3")
    await client.close()
    assert (server.calls[0].body["model"], server.calls[0].key == "sk-secret") == ("kokoro", False)


async def test_what_may_pass_is_tried_once_more(server: ScriptedSpeech) -> None:
    assert await spoken(server, fails(429))
    assert await spoken(server, fails(503))
    with pytest.raises(ModelError):
        await spoken(server, fails(429), fails(429))
    assert len(server.calls) == 6


@pytest.mark.parametrize(
    ("answer", "error", "calls"),
    [
        (fails(400), ModelRejected, 1),
        (fails(401), ModelAuthError, 1),
        (says(b"<html>Welcome to the hotel</html>"), ModelError, 2),
        (says(b'{"audio": "none"}'), ModelError, 2),
        (says(b""), ModelError, 2),
        (says(b"OggS" + bytes(MAX_ANSWER)), ModelError, 2),
    ],
    ids=["400", "401", "a page", "JSON", "nothing", "endless"],
)
async def test_what_is_no_recording_is_an_error_of_ours(
    server: ScriptedSpeech, answer: Spoken, error: type[Exception], calls: int
) -> None:
    with pytest.raises(error):
        await spoken(server, *[answer] * calls)
    assert len(server.calls) == calls


async def test_a_redirect_is_not_followed(server: ScriptedSpeech) -> None:
    async with ScriptedSpeech() as other:
        with pytest.raises(ModelError):
            await spoken(server, *[redirects(f"{other.url}/audio/speech")] * 2)
        assert other.calls == []


async def test_a_server_that_hangs_is_given_up(server: ScriptedSpeech) -> None:
    server.add(hangs())
    client = Speaker("openai/tts-1", "nova", "k", patience=0.5)
    with pytest.raises(ModelTimeout):
        await client.speak("Hello.", "mp3")
    await client.close()


def test_a_text_costs_what_litellms_map_says() -> None:
    assert Speaker("openai/tts-1", "").cost(1_000, 60.0) == pytest.approx(0.015)
    assert Speaker("openai/gpt-4o-mini-tts", "").cost(1_000, 60.0) == pytest.approx(0.015)
    assert Speaker("openai/of-my-own", "").cost(1_000, 60.0) is None
