"""Which services people can connect: those whose passwords an ability can try."""

import pytest

from abilities.accounts.opening import build_services
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings


def test_a_service_whose_password_no_ability_can_try_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(ability for ability in all_abilities() if ability.name != "dav")
    monkeypatch.setattr("onevalet.wiring.abilities.all_abilities", lambda: others)
    assert [service.name for service in build_services(Settings(_env_file=None))] == ["email"]
