"""A plugin's hook, rule, judge, check or channel that is wrong is told at start, in one sentence."""

from pathlib import Path

import pytest

from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring.own_channels import own_ways_out
from onevalet.wiring.plugins import load_plugins
from tests.onevalet.wiring.conftest import Write

IN_MODULES = {
    "a hook that nobody made": (
        "class Quiet(Hook):\n    pass\n",
        "mistake.Quiet is not used: its module has no instance; write `quiet = Quiet()`.",
    ),
    "a rule that nobody made": (
        "class NotAtNight(Rule):\n    pass\nrules = [NotAtNight()]\n",
        "mistake.NotAtNight is not used: its module has no instance; write `not_at_night = NotAtNight()`.",
    ),
    "a check that nobody made": (
        "class Door(SafetyCheck):\n    pass\n",
        "mistake.Door is not used: its module has no instance; write `door = Door()`.",
    ),
    "a hook's moment that is not async": (
        "class Quiet(Hook):\n    def pre_call(self, context, messages):\n        pass\nquiet = Quiet()\n",
        "mistake.py:3: mistake.Quiet.pre_call must be async; write `async def pre_call(self, context, messages)`.",
    ),
    "a rule with other parameters": (
        "class Strict(Rule):\n    async def evaluate(self, call):\n        pass\nstrict = Strict()\n",
        "mistake.py:3: mistake.Strict.evaluate takes other parameters; "
        "write `async def evaluate(self, context, call)`.",
    ),
    "a judge with other parameters": (
        "class Kind(Judge):\n    async def rate_answer(self, context, answer):\n        pass\nkind = Kind()\n",
        "mistake.py:3: mistake.Kind.rate_answer takes other parameters; "
        "write `async def rate_answer(self, context, messages, trail, answer)`.",
    ),
    "a judge that asks no model": (
        "class Asking(AskingJudge):\n    pass\nasking = Asking()\n",
        "mistake.Asking has no client: give it the model that it asks, as `self.client`.",
    ),
    "a check that is not async": (
        "class Door(SafetyCheck):\n    def check(self, request, context):\n        pass\ndoor = Door()\n",
        "mistake.py:3: mistake.Door.check must be async; write `async def check(self, request, context)`.",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), IN_MODULES.values(), ids=IN_MODULES)
def test_what_is_wrong_with_a_plugin_is_one_sentence(write: Write, text: str, sentence: str) -> None:
    write("plugmistake.py", f"from onevalet import *\n{text}")
    with pytest.raises(ConfigError) as caught:
        load_plugins(["plugmistake"])
    assert sentence.replace("mistake.", "plugmistake.") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_class_that_others_build_on_and_a_private_one_need_no_instance(write: Write) -> None:
    text = "class Base(Hook): pass\nclass Quiet(Base): pass\nclass _Kept(Hook): pass\nquiet = Quiet()\n"
    write("plugbase.py", f"from onevalet import *\n{text}")
    assert [type(hook).__name__ for hook in load_plugins(["plugbase"]).hooks] == ["Quiet"]


CHANNELS = {
    "it has no name": ("name = ''", r"The channel plugchannel\.Fax cannot be used: it has no name\."),
    "it cannot send": ("name = 'fax'", r"plugchannel\.Fax has no send; write `async def send\(self, part, to\)`\."),
    "send takes less": ("name = 'fax'\n    async def send(self, part): ...", r"plugchannel\.Fax\.send takes other"),
    "render is async": (
        "name = 'fax'\n    async def send(self, part, to): ...\n    async def render(self, message): ...",
        r"plugchannel\.Fax\.render must not be async; write `def render\(self, message\)`\.",
    ),
    "it wants to be given more": (
        "name = 'fax'\n    def __init__(self, setup, line): ...\n    async def send(self, part, to): ...",
        r"plugchannel\.Fax cannot be made: TypeError",
    ),
}


@pytest.mark.parametrize(("body", "sentence"), CHANNELS.values(), ids=CHANNELS)
def test_what_is_wrong_with_a_channel_is_one_sentence(write: Write, tmp_path: Path, body: str, sentence: str) -> None:
    write("plugchannel.py", f"from onevalet import OutboundChannel\nclass Fax(OutboundChannel):\n    {body}\n")
    settings = Settings(_env_file=None, database_url="postgresql://x/x", onevalet_channels=["plugchannel"])
    with pytest.raises(ConfigError, match=sentence):
        own_ways_out(settings)
