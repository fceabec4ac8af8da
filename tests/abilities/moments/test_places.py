"""Cities and countries, as people of six languages name them."""

import pytest

from abilities.moments.places import zone_named


@pytest.mark.parametrize(
    ("named", "zone"),
    [
        ("Lisbon", "Europe/Lisbon"),
        ("new york", "America/New_York"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("Lissabon", "Europe/Lisbon"),
        ("München", "Europe/Berlin"),
        ("Nueva York", "America/New_York"),
        ("Genève", "Europe/Zurich"),
        ("Tóquio", "Asia/Tokyo"),
        ("北京", "Asia/Shanghai"),
        ("东京", "Asia/Tokyo"),
        ("Nowhere", ""),
        ("", ""),
    ],
)
def test_a_place_names_its_timezone_in_every_language(named: str, zone: str) -> None:
    assert zone_named(named) == zone
