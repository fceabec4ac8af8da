"""The abilities of an installation: in the order of what they need, and none that lacks another."""

import importlib
from collections.abc import Mapping
from graphlib import CycleError
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic_settings import BaseSettings

from core.errors import ConfigError
from onevalet import ability_registry
from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities, declared_abilities, in_order
from onevalet.environment import named_plugins
from onevalet.settings import Settings
from onevalet.wiring.plugins import load_plugins
from tests.forker import ROOT


def names(*abilities: Ability) -> list[str]:
    return [ability.name for ability in in_order(abilities)]


def test_an_ability_comes_after_those_that_it_needs() -> None:
    mail, dav = Ability(name="mail"), Ability(name="dav")
    calendar = Ability(name="calendar", needs=("mail", "dav"))
    assert names(calendar, mail, dav)[-1] == "calendar"
    assert sorted(names(calendar, mail, dav)) == ["calendar", "dav", "mail"]


def test_an_ability_that_lacks_another_is_left_out_with_its_dependants() -> None:
    letters = Ability(name="letters", needs=("calendar",))
    assert names(letters, Ability(name="calendar", needs=("dav",)), Ability(name="mail")) == ["mail"]


def test_abilities_that_need_each_other_are_an_error() -> None:
    with pytest.raises(CycleError):
        in_order([Ability(name="a", needs=("b",)), Ability(name="b", needs=("a",))])


def test_every_folder_of_abilities_is_declared_and_nothing_is_left_out() -> None:
    folders = {path.name for path in (ROOT / "abilities").iterdir() if (path / "__init__.py").exists()}
    assert {ability.name for ability in all_abilities()} == folders
    assert len(declared_abilities()) == len(folders)


def test_a_folder_that_declares_another_name_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "ability.py").write_text("from onevalet.ability import Ability\n\nABILITY = Ability(name='other')\n")
    package = importlib.import_module("abilities")
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    with pytest.raises(TypeError, match=r"abilities/strange/ability\.py must declare ABILITY, an Ability named"):
        declared_abilities()


@pytest.fixture
def pets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the `ability.py` of a package that ONEVALET_PLUGINS names."""
    top = f"animals_{uuid4().hex}"  # each is imported once
    folder = tmp_path / top / "pets"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ONEVALET_PLUGINS", f"agents, {top}.pets")
    return folder / "ability.py"


def brought() -> Mapping[str, Ability]:
    """Return the abilities among the packages that ONEVALET_PLUGINS names, which are read once in each process."""
    return ability_registry._brought.__wrapped__()


def test_a_package_that_is_named_may_be_an_ability(pets: Path) -> None:
    assert brought() == {}
    pets.write_text("from onevalet.ability import Ability\n\nABILITY = Ability(name='pets', needs=('mail',))\n")
    assert brought() == {f"{pets.parent.parent.name}.pets": Ability(name="pets", needs=("mail",))}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_thing", r"pets/ability\.py:1: ModuleNotFoundError: No module named 'no_such_thing'\."),
        ("ABILITY = 1", r"pets/ability\.py: TypeError: animals_\w+/pets/ability\.py must declare ABILITY"),
    ],
)
def test_what_is_wrong_with_it_is_told_in_one_sentence(pets: Path, text: str, told: str) -> None:
    pets.write_text(text)
    with pytest.raises(ConfigError, match=told):
        brought()


def test_it_cannot_have_the_name_of_one_that_ships(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = pets.parent.with_name("mail")
    pets.parent.rename(mail)
    (mail / "ability.py").write_text("from onevalet.ability import Ability\n\nABILITY = Ability(name='mail')\n")
    monkeypatch.setenv("ONEVALET_PLUGINS", f"{mail.parent.name}.mail")
    with pytest.raises(ConfigError, match=r"^animals_\w+\.mail has the name of an ability that ships"):
        brought()


def test_settings_that_come_too_late_for_an_ability_are_refused(pets: Path) -> None:
    pets.write_text("from onevalet.ability import Ability\n\nABILITY = Ability(name='pets')\n")
    with pytest.raises(ConfigError, match=r"\.pets is an ability: name it in ONEVALET_PLUGINS in the environment"):
        load_plugins([f"{pets.parent.parent.name}.pets"])


def test_the_packages_are_read_from_the_environment_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ONEVALET_PLUGINS", raising=False)
    assert named_plugins() == ()
    (tmp_path / ".env").write_text("onevalet_plugins=agents,lunch\n")
    assert named_plugins() == ("agents", "lunch")
    monkeypatch.setenv("ONEVALET_PLUGINS", "dinner")
    assert named_plugins() == ("dinner",)


def test_what_an_ability_declares_can_be_loaded() -> None:
    for ability in all_abilities():
        for module in ability.tools:
            importlib.import_module(module)
        for commands in ability.commands:
            assert commands.load().registered_commands
        if ability.settings is not None:
            kind = ability.settings().kind
            assert kind.model_fields.keys() <= Settings.model_fields.keys()
            assert Settings(_env_file=None).of(kind)


def test_settings_that_no_ability_declares_are_refused() -> None:
    class Strange(BaseSettings):
        """Settings of nobody."""

    with pytest.raises(TypeError, match="no ability declares Strange"):
        Settings(_env_file=None).of(Strange)
