"""`doctor`'s check of the model for voice notes: a second of silence is transcribed."""

import io
import wave

from abilities.files.opening import build_transcriber
from abilities.files.settings import HearingSettings
from core.errors import ConfigError, ModelError
from core.llm.types import Recording
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.recordings import explained
from operations.doctor.types import Area, over_settings

_WHAT = "voice notes"
_RATE = 16_000
_HOW = "set ONEVALET_TRANSCRIPTION_MODEL, such as openai/whisper-1 (docs/files.md)"
_KEY = "the key in ONEVALET_TRANSCRIPTION_URL, or the provider's own variable such as OPENAI_API_KEY"
_SERVER = "ONEVALET_TRANSCRIPTION_URL, or the provider's own variable such as OPENAI_API_BASE"
_REFUSED = ("it refuses a second of silence", "see whether this is a model for transcription")


async def check_transcription(settings: Settings, seconds: float = 20.0) -> list[Check]:
    """Transcribe a second of silence within a time limit; never raise."""
    model = settings.of(HearingSettings).onevalet_transcription_model
    transcriber = build_transcriber(settings, patience=seconds)
    if transcriber is None:
        return [Check(_WHAT, True, "off: the assistant says that it cannot listen", _HOW)]
    try:
        await transcriber.transcribe(Recording(silence(), "silence.wav", 1.0))
    except (ModelError, ConfigError) as error:
        what, fix = explained(error, seconds, key=_KEY, server=_SERVER, refused=_REFUSED, answer="a transcript")
        return [Check.failed(_WHAT, error, f"{model}: {what}", fix)]
    finally:
        await transcriber.close()
    return [Check(_WHAT, True, f"{model} answers")]


def silence() -> bytes:
    """Return a second of silence, as WAV."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(bytes(2 * _RATE))
    return out.getvalue()


PROBES = (over_settings(Area.MODELS, _WHAT, check_transcription),)
