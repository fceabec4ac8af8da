"""The settings of hearing: the model that transcribes people's recordings."""

from pydantic import SecretStr
from pydantic_settings import BaseSettings

from core.errors import ConfigError
from onevalet.ability import OwnSettings
from onevalet.file_settings import Origin


class HearingSettings(BaseSettings):
    """The model that transcribes recordings, its server, and the key for it."""

    onevalet_transcription_model: str = ""
    onevalet_transcription_url: Origin = ""
    onevalet_transcription_key: SecretStr | None = None


def _check(settings: HearingSettings) -> None:
    if settings.onevalet_transcription_url and not settings.onevalet_transcription_model:
        raise ConfigError("ONEVALET_TRANSCRIPTION_URL needs ONEVALET_TRANSCRIPTION_MODEL, such as openai/whisper-1.")


HEARING = OwnSettings(
    HearingSettings,
    check=_check,
    models=lambda settings: {"ONEVALET_TRANSCRIPTION_MODEL": settings.onevalet_transcription_model},
)
