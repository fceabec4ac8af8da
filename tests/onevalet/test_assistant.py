"""The assistant is built from the settings: rules and judges among them."""

from pathlib import Path

import pytest

from core.errors import ConfigError
from core.react_config import ReactLoopConfig
from core.rules import RuleBook
from onevalet.assistant import built_in_hooks
from onevalet.settings import Settings
from tests.core.helpers import FakeModel


def names(**given: object) -> list[str]:
    settings = Settings(_env_file=None, **given)  # type: ignore[arg-type]
    return [type(hook).__name__ for hook in built_in_hooks(settings, ReactLoopConfig(), FakeModel([]))]


@pytest.mark.parametrize(
    ("judge", "expected"), [("off", []), ("checks", ["CheckingJudge"]), ("model", ["CheckingJudge", "ModelJudge"])]
)
def test_the_judges_are_those_of_the_setting(judge: str, expected: list[str]) -> None:
    assert names(onevalet_judge=judge) == expected


def test_the_rules_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[[rules]]\nname = "a"\ndecision = "deny"')
    [book, _] = built_in_hooks(Settings(_env_file=None, onevalet_rules=path), ReactLoopConfig(), FakeModel([]))
    assert isinstance(book, RuleBook)
    assert [rule.name for rule in book.rules] == ["a"]


def test_without_a_file_there_are_no_rules_and_one_that_is_not_there_is_an_error() -> None:
    assert names() == ["CheckingJudge"]
    with pytest.raises(ConfigError, match=r"ONEVALET_RULES names nowhere\.toml"):
        names(onevalet_rules="nowhere.toml")
