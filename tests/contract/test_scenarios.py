"""The scenarios that ship are promises: each is played on a whole installation, on every channel that it names."""

from dataclasses import replace

import pytest

from onevalet.testing import Scenario
from workbench.scenarios.catalogue import SHIPPED, Catalogue
from workbench.scenarios.playing import play

QUICK = {("trip", "slack"), ("reminder", "telegram")}
CATALOGUE = Catalogue(SHIPPED / "nowhere").all()


def cases() -> list[object]:
    """Return each scenario on each of its channels; most repeat on a whole installation what others prove in parts."""
    return [
        pytest.param(
            one.scenario,
            channel,
            id=f"{one.name}-{channel}",
            marks=() if (one.name, channel) in QUICK else pytest.mark.slow,
        )
        for one in CATALOGUE
        if one.scenario
        for channel in one.scenario.channels
    ]


def test_a_dozen_ships_and_each_says_what_it_is_about() -> None:
    assert [one.error for one in CATALOGUE if one.error] == []
    assert len(CATALOGUE) >= 12
    for one in CATALOGUE:
        assert one.scenario
        assert one.scenario.title
        assert one.scenario.about, one.name


@pytest.mark.parametrize(("scenario", "place"), cases())
async def test_a_scenario_goes_as_its_file_says(
    scenario: Scenario, place: str, database_url: str, redis_url: str
) -> None:
    played = await play(replace(scenario, channel=place), {"database_url": database_url, "redis_url": redis_url})
    assert any(line.startswith("< ") for line in played.lines)
