"""The words that open the groups of the product's tools, in each language."""

import pytest

from abilities.calendar.group import GROUP as CALENDAR
from abilities.mail.group import GROUP as MAIL
from abilities.tasks.group import GROUP as TASKS
from core.agents.valet import valet_of
from core.language.catalogue import LANGUAGES, translations
from core.tools.toolbox import likely_groups
from onevalet.wiring.plugins import load_plugins


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("Schreib Sam eine E-Mail", "mail"),
        ("¿Tengo correo nuevo?", "mail"),
        ("Y a-t-il un nouveau courriel ?", "mail"),
        ("Abre a minha caixa de entrada", "mail"),
        ("我有新邮件吗", "mail"),
        ("Jeden Morgen um sieben das Wetter", "tasks"),
        ("每天早上七点告诉我天气", "tasks"),
        ("Wann ist mein nächster Termin?", "calendar"),
        ("annule le rendez-vous de demain", "calendar"),
    ],
)
def test_each_language_has_words_of_its_own(text: str, opened: str) -> None:
    assert opened in likely_groups([MAIL, TASKS, CALENDAR], text)


def test_every_group_of_the_product_has_words_in_each_language() -> None:
    plugins = load_plugins(["agents"])
    valets = [valet for agent in plugins.agents if (valet := valet_of(agent))]
    groups = {tool.group for tool in plugins.tools} | {plugins.groups.get(one.name, one.group) for one in valets}
    named: dict[str, list[str]] = {}
    for group in filter(None, groups):
        named.setdefault(str(group), []).append(getattr(group, "words", ""))
    spoken = {name: words for name, of_group in named.items() if (words := "".join(of_group))}
    assert named.keys() - spoken.keys() == WORDLESS
    for words in spoken.values():
        assert [tag for tag in LANGUAGES[1:] if translations(tag).gettext(words) == words] == []


WORDLESS = {"memories"}
"""Groups that no word of everyday talk means."""
