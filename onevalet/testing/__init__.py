"""Tests of your own tools, agents and whole conversations, without a paid model: docs/testing.md.

The rehearsal of a tool or an agent reaches neither network nor database. A scenario plays a whole conversation through
the installation, with simulated providers, in a clone of the project.
"""

from typing import TYPE_CHECKING

from onevalet.testing.rehearsal import MemoryAccounts as MemoryAccounts
from onevalet.testing.rehearsal import MemoryAnswers as MemoryAnswers
from onevalet.testing.rehearsal import MemoryCredentials as MemoryCredentials
from onevalet.testing.rehearsal import MemoryFiles as MemoryFiles
from onevalet.testing.rehearsal import MemorySink as MemorySink
from onevalet.testing.rehearsal import MemoryStorage as MemoryStorage
from onevalet.testing.rehearsal import Rehearsal as Rehearsal
from onevalet.testing.rehearsal import StandingClock as StandingClock
from onevalet.testing.rehearsal import make_context as make_context
from onevalet.testing.rehearsal import make_setup as make_setup
from onevalet.testing.rehearsal import rehearse as rehearse
from onevalet.testing.scenario_files import NAMES, load_name
from onevalet.testing.scripted_model import ModelCall as ModelCall
from onevalet.testing.scripted_model import Reply as Reply
from onevalet.testing.scripted_model import ScriptedModel as ScriptedModel
from onevalet.testing.scripted_model import calls as calls
from onevalet.testing.scripted_model import error as error
from onevalet.testing.scripted_model import text as text
from onevalet.testing.sentences import speaking as speaking

if TYPE_CHECKING:
    from workbench.scenarios.scenario import Scenario as Scenario
    from workbench.scenarios.scenario import ScenarioError as ScenarioError
    from workbench.scenarios.scenario import read_scenario as read_scenario


def __getattr__(name: str) -> object:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_name(name)
