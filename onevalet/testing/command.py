"""`simulate`: play a scenario file and print the talk."""

import sys
from dataclasses import replace
from pathlib import Path

from onevalet.testing.playing import play
from onevalet.testing.scenario import CHANNELS, ScenarioError, read_scenario


async def simulate(file: Path, channel: str = "") -> None:
    """Play a scenario, on another channel than its own if one is named, and print what was said."""
    scenario = read_scenario(file)
    if channel:
        if channel not in CHANNELS:
            raise ScenarioError(f"--channel must be one of {', '.join(CHANNELS)}.")
        scenario = replace(scenario, channel=channel)
    played = await play(scenario)
    sys.stdout.write("\n".join(played.lines) + "\n")
