"""From a clean clone to the end of the guided minute, as the README says it."""

import sys
from pathlib import Path

import pytest

from tests.page import newcomer
from tests.page.chromium import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900, func_only=True), pytest.mark.xdist_group("dev")]


def test_a_clean_clone_leads_to_the_end_of_the_guide(browser: Browser, tmp_path: Path) -> None:
    took = newcomer.main(browser, tmp_path)
    sys.stdout.write(f"{took}\n")  # for whoever runs it with -s
