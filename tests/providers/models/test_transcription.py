"""Transcripts over the wire: a server of OpenAI's shape, its failures, and what a second costs."""

from collections.abc import AsyncIterator

import pytest

from core.errors import ModelAuthError, ModelError, ModelRejected, ModelTimeout
from core.llm.types import Recording, Transcript
from providers.models.transcription import Transcriber
from tests.scripted_transcription import Heard, ScriptedTranscription, fails, hangs, heard, redirects, says

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

NOTE = Recording(b"OggS and so on", "recording.ogg", 3.0, "pt-BR")


@pytest.fixture
async def server() -> AsyncIterator[ScriptedTranscription]:
    async with ScriptedTranscription() as opened:
        yield opened


async def asked(
    server: ScriptedTranscription, *answers: Heard, note: Recording = NOTE, key: str = "sk-1"
) -> Transcript:
    """Transcribe a recording while the server follows a script."""
    server.add(*answers)
    client = Transcriber("openai/whisper-1", url=server.url, key=key, patience=20.0, pause=0.01)
    try:
        return await client.transcribe(note)
    finally:
        await client.close()


async def test_a_recording_is_sent_as_a_form_with_the_language(server: ScriptedTranscription) -> None:
    assert await asked(server, heard("Olá, tudo bem?", 2.5)) == Transcript("Olá, tudo bem?", 2.5)
    (call,) = server.calls
    assert (call.name, call.body, call.key) == ("recording.ogg", NOTE.body, "sk-1")
    assert (call.fields["model"], call.fields["language"]) == ("whisper-1", "pt")


async def test_without_a_language_there_is_no_hint(server: ScriptedTranscription) -> None:
    await asked(server, heard("hi"), note=Recording(b"x", "recording.wav", 1.0))
    assert "language" not in server.calls[0].fields


async def test_a_server_of_ones_own_never_gets_another_key(
    server: ScriptedTranscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    await asked(server, heard("hi"), key="")
    assert server.calls[0].key == "none"


async def test_what_may_pass_is_tried_once_more(server: ScriptedTranscription) -> None:
    assert (await asked(server, fails(429), heard("hi"))).text == "hi"
    assert (await asked(server, fails(503), heard("ho"))).text == "ho"
    with pytest.raises(ModelError):
        await asked(server, fails(429), fails(429), heard("never"))
    assert len(server.calls) == 6


@pytest.mark.parametrize(
    ("answer", "error", "calls"),
    [
        (fails(400), ModelRejected, 1),
        (fails(401), ModelAuthError, 1),
        (says(b"<html>Welcome to the hotel</html>"), ModelError, 2),
        (says(b'{"text": 7}'), ModelError, 2),
        (says(b'{"no": "text"}'), ModelError, 2),
        (says(b'{"text": ["a"]}'), ModelError, 2),
        (says(b'{"text": null}'), ModelError, 2),
        (says(b'{"text": "hi", "duration": "soon"}'), ModelError, 2),
        (says(b'{"text": "hi", "duration": %s}' % (b"9" * 400)), ModelError, 2),
        (says(b"[]"), ModelError, 2),
        (says(b"[" * 100_000), ModelError, 2),
        (says(b'{"text": "' + b"a" * 5_000_000 + b'"}'), ModelError, 2),
    ],
    ids=[
        "400",
        "401",
        "no JSON",
        "no words",
        "no transcript",
        "a list",
        "null",
        "no time",
        "no float",
        "no object",
        "deep",
        "endless",
    ],
)
async def test_what_is_no_transcript_is_an_error_of_ours(
    server: ScriptedTranscription, answer: Heard, error: type[Exception], calls: int
) -> None:
    with pytest.raises(error):
        await asked(server, *[answer] * calls)
    assert len(server.calls) == calls


@pytest.mark.parametrize("told", ["NaN", "-1", "null", "1e400", str(2**63)])
async def test_a_length_that_no_recording_has_is_not_believed(server: ScriptedTranscription, told: str) -> None:
    assert await asked(server, says(b'{"text": "hi", "duration": %s}' % told.encode())) == Transcript("hi", 0.0)


async def test_a_redirect_is_not_followed(server: ScriptedTranscription) -> None:
    async with ScriptedTranscription([heard("caught")]) as other:
        with pytest.raises(ModelError):
            await asked(server, *[redirects(f"{other.url}/audio/transcriptions")] * 2)
        assert other.calls == []


async def test_a_server_that_hangs_is_given_up(server: ScriptedTranscription) -> None:
    server.add(hangs())
    client = Transcriber("openai/whisper-1", url=server.url, key="k", patience=0.5)
    with pytest.raises(ModelTimeout):
        await client.transcribe(Recording(b"x", "recording.ogg", 0.5))
    await client.close()


def test_a_second_costs_what_litellms_map_says() -> None:
    assert Transcriber("openai/whisper-1").cost(60.0) == pytest.approx(0.006)
    assert Transcriber("groq/whisper-large-v3").cost(3600.0) == pytest.approx(0.111, abs=0.001)
    assert Transcriber("openai/of-my-own").cost(60.0) is None
