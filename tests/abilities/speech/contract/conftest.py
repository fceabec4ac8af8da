"""Cases as those of tests/contract: over every channel, with all that is logged checked."""

from tests.contract.conftest import log_watch as log_watch
from tests.contract.conftest import mail_servers as mail_servers
from tests.contract.conftest import mail_world as mail_world
from tests.contract.conftest import pytest_generate_tests as pytest_generate_tests
