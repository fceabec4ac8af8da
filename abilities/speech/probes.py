"""`doctor`'s check of the speech model: a word is spoken."""

from abilities.speech.opening import build_speaker
from abilities.speech.settings import SpeechSettings
from core.errors import ConfigError, ModelError
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.recordings import explained
from operations.doctor.types import Area, over_settings

_WHAT = "answers by voice"
_HOW = "set ONEVALET_SPEECH_MODEL, such as openai/tts-1 (docs/files.md)"
_KEY, _SERVER = (f"the provider's own variable, such as OPENAI_API_{part}" for part in ("KEY", "BASE"))
_REFUSED = ("it refuses to speak a word", "name a speech model and, after a space, a voice of its own")


async def check_speech(settings: Settings, seconds: float = 20.0) -> list[Check]:
    """Have a word spoken within a time limit; never raise."""
    model = settings.of(SpeechSettings).speech_model
    speaker = build_speaker(settings, patience=seconds)
    if speaker is None:
        return [Check(_WHAT, True, "off: all answers are written", _HOW)]
    try:
        await speaker.speak("Hello.", "mp3")
    except (ModelError, ConfigError) as error:
        what, fix = explained(error, seconds, key=_KEY, server=_SERVER, refused=_REFUSED, answer="a recording")
        return [Check.failed(_WHAT, error, f"{model}: {what}", fix)]
    finally:
        await speaker.close()
    return [Check(_WHAT, True, f"{model} answers")]


PROBES = (over_settings(Area.MODELS, _WHAT, check_speech),)
