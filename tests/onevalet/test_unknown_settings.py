"""Variables that look like settings and have no effect are told."""

import pytest

from onevalet.settings import Settings, is_setting
from onevalet.unknown_settings import RETIRED, retired_settings, unknown_settings, variables
from operations.doctor.settings import check_names


def test_a_retired_setting_says_what_holds_in_its_place() -> None:
    told = retired_settings(["ONEVALET_RECALL", "ONEVALET_MODEL"])
    assert told == {
        "ONEVALET_RECALL": "ONEVALET_RECALL is no longer a setting: memories are in the prompt, and the model may ask "
        "for more."
    }


def test_no_retired_setting_is_one_and_each_names_settings_that_are() -> None:
    assert [name for name in RETIRED if is_setting(name)] == []
    named = {
        word.strip(",") for sentence in RETIRED.values() for word in sentence.split() if word.startswith("ONEVALET_")
    }
    assert named
    assert [name for name in named if not is_setting(name)] == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ONEVALET_MODELS", "ONEVALET_MODELS is no setting of this installation: is ONEVALET_MODEL meant?"),
        ("ONEVALET_HOUSEHOLD_TREE", "ONEVALET_HOUSEHOLD_TREE is no setting of this installation."),
    ],
    ids=["misspelt", "of an ability that is missing"],
)
def test_a_name_that_is_no_setting_is_told_of(name: str, told: str) -> None:
    assert unknown_settings(["OPENAI_API_KEY", name]) == {name: told}


@pytest.mark.parametrize(
    "name",
    [
        *(name.upper() for name in Settings.model_fields), "ONEVALET_LOOP_MAX_TURNS", "ONEVALET_OIDC_WORK_ISSUER",
        "ONEVALET_SERVICE_HOST", "ONEVALET_SERVICE_PORT_HTTP", "ONEVALET_PORT", "ONEVALET_PORT_8080_TCP_ADDR",
        "ONEVALET_EXTRAS", *RETIRED,
    ],
)  # fmt: skip
def test_settings_and_the_names_of_others_are_not_told_of(name: str) -> None:
    assert unknown_settings([name]) == {}


async def test_doctor_advises_for_a_retired_name_and_is_red_for_an_unknown_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ONEVALET_RECALL", "both")
    monkeypatch.setenv("ONEVALET_RULE", "rules.toml")
    assert variables() >= {"ONEVALET_RECALL", "ONEVALET_RULE"}
    checks = await check_names(Settings())
    assert [
        (check.ok, check.fix.split(",")[0]) for check in checks if "RECALL" in check.fix or "RULE" in check.fix
    ] == [
        (True, "remove ONEVALET_RECALL"),
        (False, "correct or remove ONEVALET_RULE"),
    ]
