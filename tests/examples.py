"""How much a test tries: a share of a property's examples in the promise tier, the full size of a measurement if asked.

Most of what many rounds, worlds and rows find is found by a few: the slow set runs those, `--full` the rest.
"""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

USUAL = 100
LEAST = 3
_IN_PROMISE_TIER = 0.2
_share = 1.0
_full = False


def be_patient(*, promise_tier: bool, full: bool = False) -> None:
    """Set what holds for all tests of this process, before any of them is loaded."""
    global _share, _full
    _full = full
    _share = _IN_PROMISE_TIER if promise_tier else 1.0
    # How long an example takes to make or to run says how busy the machine is, no more; in a fresh clone the first one
    # reads all of Unicode.
    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=scaled(USUAL)
    )
    settings.load_profile("patient")
    if promise_tier:
        # It reads the constants of all of the code, more than a second in each process, to draw one now and then.
        providers._get_local_constants = lambda: providers._local_constants


def examples(number: int, **options: Any) -> settings:
    """Return hypothesis' settings for so many examples; `options` are its own."""
    return settings(max_examples=scaled(number), **options)


def scaled(number: int) -> int:
    """Return the share of a number that this tier tries."""
    return min(number, max(LEAST, round(number * _share)))


def sized(usual: int, full: int) -> int:
    """Return the size of a measurement: the usual one, or the full one that `bin/test --full` asks for."""
    return full if _full else usual
