"""A transcription server that misbehaves, on a real socket: its answer is bounded as unpacked."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from core.errors import ModelError
from core.llm.types import Recording, Transcript
from providers.models.transcription import MAX_ANSWER, Transcriber
from tests.faults.peers.speech import read_request
from tests.servers.hostile_peers import BY_NAME, MANNERS, Manner, Speech, Talk, bomb, json_body

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

NOTE = Recording(b"OggS and so on", "recording.ogg", 0.5)
SPEECH = Speech(json_body({"text": "Call mum.", "duration": 0.5}), b'"Call mum.",', line=b'"', begin=b'{"text": [')
WEB = [manner for manner in MANNERS if manner.web and manner.needs(SPEECH) and not manner.secured]
BOMBS = [BY_NAME["a gzip bomb"], BY_NAME["a deflate bomb in a stream"]]


@asynccontextmanager
async def misbehaving(manner: Manner) -> AsyncIterator[str]:
    """Serve transcripts in a manner, and yield the address."""
    assert manner.web
    act, busy = manner.web, set[asyncio.Task[None]]()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        busy.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                asked = None if manner.at_once else await read_request(reader, "")
                await act(Talk(reader, writer, SPEECH, "http://elsewhere.invalid/", asked.path if asked else "/"))
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            busy.discard(task)
            writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for task in list(busy):
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def asked(manner: Manner) -> Transcript | ModelError:
    """Return what came of asking a server."""
    async with misbehaving(manner) as url:
        client = Transcriber("openai/whisper-1", url=url, key="sk-1", patience=1.0, pause=0.01)
        try:
            return await client.transcribe(NOTE)
        except ModelError as error:
            return error
        finally:
            await client.close()


@pytest.mark.whole("it meets every manner of a server")
@pytest.mark.parametrize("manner", WEB, ids=lambda manner: manner.name)
async def test_whatever_a_server_does_is_a_transcript_or_an_error_of_ours(manner: Manner) -> None:
    told = await asked(manner)
    if isinstance(told, Transcript):
        assert "\x00" not in told.text
        assert 0.0 <= told.seconds <= 0.5


@pytest.mark.parametrize("manner", BOMBS, ids=lambda manner: manner.name)
async def test_a_bomb_is_given_up_as_soon_as_it_is_longer_than_an_answer(manner: Manner) -> None:
    for encoding in ("gzip", "deflate"):
        bomb(encoding, SPEECH.begin)
    await Transcriber("openai/whisper-1").warm_up()
    tracemalloc.start()
    try:
        assert isinstance(await asked(manner), ModelError)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * MAX_ANSWER
