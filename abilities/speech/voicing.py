"""The voice of an answer whose text is out: its recording is made, kept, and sent by the outbox after the text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import structlog

from abilities.speech.ear import for_the_ear
from abilities.speech.recording import BudgetedSpeaker
from abilities.speech.store import SpokenAnswers
from abilities.speech.types import MAX_TRIES, ClaimedSpeech, DueSpeech, Sound, SpeechEnd, SpeechState
from core.budgets.types import OutOfMoney
from core.errors import ModelError, StoreUnavailable, ToolFailed
from core.files.access import Files
from core.files.kinds import sound_format
from core.journal.types import StepKey
from core.json_types import JsonObject
from core.language.catalogue import gettext, speaking
from core.messaging.capabilities import Carrying, Playing
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address, Media, OutboundKind
from core.queue.wakeups import Wakeups

ANYWHERE = "audio/mpeg"
"""The type of a recording that every phone and program plays."""
_FORMATS = {"audio/ogg": "opus", ANYWHERE: "mp3"}
"""OpenAI's words for formats, by the content type of their containers."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Places:
    """The channels on which answers may be heard. `links`: files get links where a channel does not carry them."""

    channels: Mapping[str, NotificationChannel]
    links: bool

    def sound_at(self, to: Address) -> str | None:
        """Return the content type of a recording there; None if none can be sent."""
        channel = self.channels.get(to.channel)
        played = channel.plays if isinstance(channel, Playing) else ANYWHERE
        carried = isinstance(channel, Carrying) and channel.carries(Media("", played, size=1), to)
        return played if carried or (channel is not None and self.links) else None


@dataclass(frozen=True, slots=True)
class Voicing:
    """Have claimed answers spoken. Without a `speaker` none is."""

    answers: SpokenAnswers
    places: Places
    speaker: BudgetedSpeaker | None
    files: Files | None
    wakeups: Wakeups
    worker: str

    async def claim(self, outbound_id: str | None) -> ClaimedSpeech | None:
        """Claim the named answer, or the one that has waited longest."""
        return await self.answers.claim(outbound_id, self.worker)

    async def run(self, claimed: ClaimedSpeech) -> None:
        """Turn an answer into speech, and record the outcome; if the record is lost, the answer is spoken again."""
        try:
            due = await self.answers.read(claimed)
            if due is None:
                return
            with speaking(due.language or None):
                end = await self._end_of(claimed, due)
            conversation = await self.answers.end(claimed, end)
        except StoreUnavailable as error:
            _log.warning("speech_delayed", outbound=claimed.id, cause=str(error))
            return
        tell = _log.warning if end.state is SpeechState.FAILED else _log.info
        tell("answer_voiced", outbound=claimed.id, end=end.state.value, cause=end.reason)
        if conversation and end.message:
            self.wakeups.wake_delivery(conversation)

    async def _end_of(self, claimed: ClaimedSpeech, due: DueSpeech) -> SpeechEnd:
        if not due.arrived:
            return SpeechEnd(SpeechState.LEFT_OUT, "its text did not arrive")
        end = await self._made(claimed, due)
        if not due.asked or end.state is SpeechState.SPOKEN:
            return end
        # Its person waits for it: an answer to a voice note stands without it, and says nothing.
        told = gettext("I could not say that aloud. You have it in writing above.")
        message: JsonObject = {"kind": OutboundKind.RECEIPT.value, "text": told}
        return SpeechEnd(end.state, end.reason, message=message)

    async def _made(self, claimed: ClaimedSpeech, due: DueSpeech) -> SpeechEnd:
        sound = self.places.sound_at(due.address)
        if self.speaker is None or self.files is None:
            return SpeechEnd(SpeechState.LEFT_OUT, "no speech model is set")
        if sound is None:
            return SpeechEnd(SpeechState.LEFT_OUT, "no recording can be sent there")
        if due.tries > MAX_TRIES:
            return SpeechEnd(SpeechState.FAILED, "its workers died")
        text = for_the_ear(due.words)
        if not text:
            return SpeechEnd(SpeechState.LEFT_OUT, "nothing in it can be heard")
        key = StepKey(0, 0, f"#speech {claimed.id}")
        try:
            made = await self.speaker.speak(claimed.tenant_id, due.turn_id, key, text, _FORMATS[sound])
            return await self._kept(self.files, claimed, due, text, made)
        except OutOfMoney:
            return SpeechEnd(SpeechState.FAILED, "its person's budget is used up")
        except ModelError as error:
            return SpeechEnd(SpeechState.FAILED, type(error).__name__)
        except ToolFailed:  # the store is full, or away
            return SpeechEnd(SpeechState.FAILED, "the files cannot be kept")

    async def _kept(self, files: Files, claimed: ClaimedSpeech, due: DueSpeech, text: str, made: Sound) -> SpeechEnd:
        # A lost call is looked up by the file's name and size, which those of one length would share.
        name = gettext("Spoken answer {number}", number=due.number) + f".{sound_format(made.body)}"
        kept = await files.outlet.put(claimed.tenant_id, name, made.body, None)
        # By its words it is found and forgotten, as any recording is.
        await files.intake.store.keep_transcript(claimed.tenant_id, kept.id, [text])
        media: list[JsonObject] = [asdict(one) for one in await files.media(claimed.tenant_id, [kept.id])]
        message: JsonObject = {"kind": OutboundKind.RECEIPT.value, "text": "", "media": [*media]}
        return SpeechEnd(SpeechState.SPOKEN, "", kept.id, made.seconds, message)
