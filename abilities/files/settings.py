"""The settings of hearing: the model that transcribes people's recordings."""

from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, SecretStr
from pydantic_settings import BaseSettings

from core.errors import ConfigError
from onevalet.ability import OwnSettings
from onevalet.file_settings import without_login


def _server(url: SecretStr | None) -> SecretStr | None:
    try:
        parts = urlsplit(url.get_secret_value() if url else "")
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:  # a port that is no number
        is_good = False
    if url and not is_good:
        raise ValueError(
            "must be an address such as http://127.0.0.1:8000/v1, or http://:key@127.0.0.1:8000/v1, in which @ is"
            " written as %40 and / as %2F"
        )
    return url


class HearingSettings(BaseSettings):
    """The model that transcribes recordings, and its server, if it is the operator's own."""

    onevalet_transcription_model: str = ""
    onevalet_transcription_url: Annotated[SecretStr | None, AfterValidator(_server)] = None

    @property
    def own_server(self) -> tuple[str, str]:
        """Return the address of the operator's own server and its key; empty if there is none."""
        url = self.onevalet_transcription_url.get_secret_value() if self.onevalet_transcription_url else ""
        return without_login(url).rstrip("/"), unquote(urlsplit(url).password or "")


def _check(settings: HearingSettings) -> None:
    if settings.onevalet_transcription_url and not settings.onevalet_transcription_model:
        raise ConfigError("ONEVALET_TRANSCRIPTION_URL needs ONEVALET_TRANSCRIPTION_MODEL, such as openai/whisper-1.")


HEARING = OwnSettings(
    HearingSettings,
    check=_check,
    models=lambda settings: {"ONEVALET_TRANSCRIPTION_MODEL": settings.onevalet_transcription_model},
)
