"""`doctor`'s check of the model for voice notes: a second of silence is transcribed."""

import io
import wave

from abilities.files.opening import build_transcriber
from abilities.files.settings import HearingSettings
from core.errors import ConfigError, ModelAuthError, ModelError, ModelOutOfQuota, ModelRejected, ModelTimeout
from core.llm.types import Recording
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.types import Area, over_settings

_WHAT = "voice notes"
_RATE = 16_000
_HOW = "set ONEVALET_TRANSCRIPTION_MODEL, such as openai/whisper-1 (docs/files.md)"


async def check_transcription(settings: Settings, seconds: float = 20.0) -> list[Check]:
    """Transcribe a second of silence within a time limit; never raise."""
    model = settings.of(HearingSettings).onevalet_transcription_model
    transcriber = build_transcriber(settings, patience=seconds)
    if transcriber is None:
        return [Check(_WHAT, True, "off: the assistant says that it cannot listen", _HOW)]
    try:
        await transcriber.transcribe(Recording(silence(), "silence.wav", 1.0))
    except (ModelError, ConfigError) as error:
        what, fix = _explained(error, seconds)
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


def _explained(error: Exception, seconds: float) -> tuple[str, str]:
    where = "ONEVALET_TRANSCRIPTION_URL, or the provider's own variable such as OPENAI_API_BASE"
    match error:
        case ModelOutOfQuota():
            return "its account is used up", "top up the account at the provider, or give another key"
        case ModelAuthError():
            key = "the key in ONEVALET_TRANSCRIPTION_URL, or the provider's own variable such as OPENAI_API_KEY"
            return "the key is refused, or there is no such model", f"correct {key}, or the model's name"
        case ModelTimeout():
            return f"no answer within {seconds:g} s", f"see whether the server can be reached: {where}"
        case ModelRejected():
            return "it refuses a second of silence", "see whether this is a model for transcription"
    return "does not answer with a transcript", f"see whether the server is away, or its address wrong: {where}"


PROBES = (over_settings(Area.MODELS, _WHAT, check_transcription),)
