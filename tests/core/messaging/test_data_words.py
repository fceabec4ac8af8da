"""The words for all that is kept of a person, in each language."""

import pytest

from core.messaging.commands import EXPORT, FORGET, own_words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (EXPORT, ("Export my data", "exporta mis datos", "Exportiere meine Daten.", "exporte mes données")),
        (EXPORT, ("Exporte os meus dados", "导出我的数据。")),
        (FORGET, ("Forget me!", "Olvídame", "Vergiss mich", "Oublie-moi", "Esqueça-me", "忘记我")),
    ],
)
def test_whole_messages_are_commands_and_sentences_are_not(name: str, said: tuple[str, ...]) -> None:
    for words in said:
        command = own_words(words, "telegram")
        assert command is not None, words
        assert command.name == name
        assert own_words(f"{words.rstrip('.!。')} xyz", "telegram") is None
