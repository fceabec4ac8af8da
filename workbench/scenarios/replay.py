"""A scenario played before a viewer: at its own speed, fast, or step by step."""

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from core.errors import RequestRefused
from core.json_types import JsonObject
from workbench.scenarios.scenario import Scenario, ScenarioError
from workbench.scenarios.step_words import words_of
from workbench.scenarios.steps import Step

LONGEST_PAUSE = 10.0
"""Maximum seconds that a replay pauses for the person's thinking."""
_BRIEF = 0.6
"""Seconds before an act at its own speed if the file names no pause, so that it can be seen."""
_NO_ACTS = ("expect", "silence", "wait", "answer", "call", "calls")


class Speed(StrEnum):
    """Speeds of a replay."""

    OWN = "own"
    FAST = "fast"
    STEP = "step"


class Replay:
    """The page's view of a playing scenario, and its control."""

    def __init__(self, scenario: Scenario, speed: Speed, back: str = "") -> None:
        self.closed = asyncio.Event()
        self._scenario = scenario
        self._speed = speed
        self._back = back
        self._go = asyncio.Event()
        self._state: dict[int, str] = {}
        self._told: dict[int, str] = {}
        self._error = ""
        self._ended = False

    async def begin(self, step: Step) -> None:
        """Wait as the speed says; expectations and the model's answers do not wait."""
        self._state[step.number] = "now"
        if step.verb in _NO_ACTS:
            return
        if not self._by_steps:
            self._go.clear()
            pause = 0.0 if self._speed is Speed.FAST else min(step.pause or _BRIEF, LONGEST_PAUSE)
            try:
                async with asyncio.timeout(pause):
                    await self._go.wait()
            except TimeoutError:
                if not self._by_steps:  # it may have been changed since
                    return
        self._go.clear()
        await self._go.wait()

    @property
    def _by_steps(self) -> bool:
        return self._speed is Speed.STEP

    def done(self, step: Step, told: str) -> None:
        self._state[step.number], self._told[step.number] = "done", told

    def failed(self, step: Step | None, why: str) -> None:
        if step is not None:
            self._state[step.number], self._told[step.number] = "failed", why
        self._error = why

    def end(self, error: str = "") -> None:
        """Note the end; `error` if it could not even begin."""
        self._ended, self._error = True, self._error or error

    def shown(self) -> JsonObject:
        """Return the page's data."""
        return {
            "title": self._scenario.title,
            "about": self._scenario.about,
            "speed": self._speed.value,
            "back": self._back,
            "ended": self._ended,
            "error": self._error,
            "steps": [self._step(step) for step in self._scenario.steps],
        }

    def lead(self, wanted: Mapping[str, Any]) -> None:
        """Do as the page says: {"speed"}, {"next": true} or {"close": true}. Raises `RequestRefused`."""
        match wanted:
            case {"speed": str(speed)} if speed in set(Speed):
                self._speed = Speed(speed)
            case {"next": True}:
                pass
            case {"close": True}:
                self.closed.set()
            case _:
                raise RequestRefused('Say "speed", "next", or "close".')
        self._go.set()

    def _step(self, step: Step) -> JsonObject:
        return {
            "number": step.number,
            "verb": step.verb,
            "words": words_of(step),
            "place": ", ".join(str(step.options[name]) for name in ("person", "channel") if name in step.options),
            "state": self._state.get(step.number, "later"),
            "told": self._told.get(step.number, ""),
        }


def read_speed(text: str) -> Speed:
    """Return the speed of that name; raise `ScenarioError`."""
    if text not in set(Speed):
        raise ScenarioError(f"The speed is one of {', '.join(Speed)}.")
    return Speed(text)
