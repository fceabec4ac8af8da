"""The services of plugins: what is wrong with one is told at start, in one sentence."""

import pytest

from abilities.events.services import Service
from core.errors import ConfigError
from onevalet.wiring.plugin_checks import FoundClasses
from onevalet.wiring.plugins import plugin_values
from tests.onevalet.wiring.conftest import Write
from tests.onevalet.wiring.conftest import write as write

WRONG = {
    "start is not async": (
        "def start(self, context): ...",
        r"plugservice\.py:3: plugservice\.Sun\.start must be async",
    ),
    "stop takes more": ("async def stop(self, why): ...", r"plugservice\.Sun\.stop takes other parameters"),
}


@pytest.mark.parametrize(("method", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_service_is_one_sentence(write: Write, method: str, sentence: str) -> None:
    write("plugservice.py", f"from onevalet import Service\nclass Sun(Service):\n    {method}\n")
    with pytest.raises(ConfigError, match=sentence):
        FoundClasses(plugin_values(["plugservice"])).of(Service)
