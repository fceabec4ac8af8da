"""`doctor`'s check of the speech model: a word is spoken."""

from abilities.speech.opening import build_speaker
from abilities.speech.settings import SpeechSettings
from core.errors import ConfigError, ModelAuthError, ModelError, ModelOutOfQuota, ModelRejected, ModelTimeout
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.types import Area, over_settings

_WHAT = "answers by voice"
_HOW = "set ONEVALET_SPEECH_MODEL, such as openai/tts-1 (docs/files.md)"


async def check_speech(settings: Settings, seconds: float = 20.0) -> list[Check]:
    """Have a word spoken within a time limit; never raise."""
    model = settings.of(SpeechSettings).speech_model
    speaker = build_speaker(settings, patience=seconds)
    if speaker is None:
        return [Check(_WHAT, True, "off: all answers are written", _HOW)]
    try:
        await speaker.speak("Hello.", "mp3")
    except (ModelError, ConfigError) as error:
        what, fix = _explained(error, seconds)
        return [Check.failed(_WHAT, error, f"{model}: {what}", fix)]
    finally:
        await speaker.close()
    return [Check(_WHAT, True, f"{model} answers")]


def _explained(error: Exception, seconds: float) -> tuple[str, str]:
    where = "the provider's own variable, such as OPENAI_API_BASE"
    match error:
        case ModelOutOfQuota():
            return "its account is used up", "top up the account at the provider, or give another key"
        case ModelAuthError():
            key = "the provider's own variable, such as OPENAI_API_KEY"
            return "the key is refused, or there is no such model", f"correct {key}, or the model's name"
        case ModelTimeout():
            return f"no answer within {seconds:g} s", f"see whether the server can be reached: {where}"
        case ModelRejected():
            return (
                "it refuses to speak a word",
                "name a speech model and, after a space, a voice of its own",
            )
    return "does not answer with a recording", f"see whether the server is away, or its address wrong: {where}"


PROBES = (over_settings(Area.MODELS, _WHAT, check_speech),)
