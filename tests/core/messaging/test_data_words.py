"""The words for all that is kept of a person, in each language."""

import pytest

from core.messaging.chat_reader import chat_words
from core.people.chat_words import EXPORT, FORGET


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (EXPORT.name, ("Export my data", "exporta mis datos", "Exportiere meine Daten.", "exporte mes données")),
        (EXPORT.name, ("Exporte os meus dados", "导出我的数据。")),
        (FORGET.name, ("Forget me!", "Olvídame", "Vergiss mich", "Oublie-moi", "Esqueça-me", "忘记我")),
    ],
)
def test_whole_messages_are_commands_and_sentences_are_not(name: str, said: tuple[str, ...]) -> None:
    for words in said:
        command = chat_words().read(words, "telegram")
        assert command is not None, words
        assert command.name == name
        assert chat_words().read(f"{words.rstrip('.!。')} xyz", "telegram") is None
