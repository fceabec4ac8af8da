"""The abilities of an installation: in the order of what they need, and none that lacks another."""

import importlib
from graphlib import CycleError
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities, declared_abilities, in_order
from onevalet.settings import Settings
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
