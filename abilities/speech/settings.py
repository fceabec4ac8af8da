"""The setting of answers by voice: the model that speaks, and its voice."""

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings

VOICE = "alloy"
"""A voice of OpenAI's models, which many other servers know, too."""


class SpeechSettings(BaseSettings):
    """The model that speaks answers; empty: none are spoken. After a space it may have one of its voices."""

    onevalet_speech_model: str = ""

    @property
    def speech_model(self) -> str:
        return self.onevalet_speech_model.partition(" ")[0]

    @property
    def speech_voice(self) -> str:
        return self.onevalet_speech_model.partition(" ")[2].strip() or VOICE


SPEECH = OwnSettings(
    SpeechSettings,
    for_tools=lambda settings: {"speech_model": settings.speech_model},
    models=lambda settings: {"ONEVALET_SPEECH_MODEL": settings.speech_model},
)
