"""Recordings: known by their first bytes, their length read in the child process, and nothing of them decoded."""

import random

import pytest

from abilities.documents.file import read_content
from abilities.documents.readers.recordings import read
from core.files.kinds import FileKind, kind_of, sound_format
from tests.abilities.documents.sounds import SOUNDS, flac, m4a, ogg


@pytest.mark.parametrize("name", SOUNDS)
def test_sound_is_known_by_its_first_bytes(name: str) -> None:
    assert sound_format(SOUNDS[name]) == name
    kind = kind_of(SOUNDS[name])
    assert kind is (FileKind.VIDEO if name == "mp4" else FileKind.AUDIO)


@pytest.mark.parametrize(("name", "seconds"), [(name, {"webm": 0, "wav": 1}.get(name, 3)) for name in SOUNDS])
def test_the_container_says_how_long_it_lasts(name: str, seconds: float) -> None:
    found, body = read(SOUNDS[name])
    assert found["seconds"] == pytest.approx(seconds, abs=0.1)
    assert body == b""


async def test_the_length_is_read_in_the_child_process() -> None:
    content = await read_content(ogg(61.5), FileKind.AUDIO)
    assert content.seconds == pytest.approx(61.5, abs=0.01)


def test_a_container_that_lies_or_is_broken_says_nothing() -> None:
    chance = random.Random(7)
    broken = [
        b"",
        b"OggS",
        b"\xff",
        b"ID3",
        b"#!AMR\n",
        b"RIFF\x00\x00\x00\x00WAVE",
        m4a()[:-8],
        flac()[:20],
        ogg(-5.0),
        ogg(9e12),
        b"\x00\x00\x00\x10ftypM4A mvhd\x00" + bytes(20),
    ]
    for whole in SOUNDS.values():
        broken += [whole[: chance.randrange(len(whole))] for _ in range(20)]
        broken += [bytes(byte ^ (chance.random() < 0.1) * chance.randrange(256) for byte in whole) for _ in range(3)]
    for data in broken:
        found, _ = read(data)
        assert 0 <= found["seconds"] < 10_000_000
    assert read(ogg(9e12))[0]["seconds"] == 0
