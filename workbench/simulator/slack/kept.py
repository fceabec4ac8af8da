"""Slack's state that outlives a restart of the simulator."""

from dataclasses import dataclass

from workbench.simulator.base import OpenedFile
from workbench.simulator.keeping import Form
from workbench.simulator.slack.shapes import Obj
from workbench.simulator.slack.state import Channel, Delivery, ResponseUrl, Switches, View, World


@dataclass(frozen=True, slots=True)
class Kept:
    """A team's memory without triggers, which live for three seconds."""

    channels: dict[str, Channel]
    views: dict[str, View]
    stacks: dict[str, list[str]]
    homes: dict[str, View]
    response_urls: dict[str, ResponseUrl]
    deliveries: list[Delivery]
    uploads: dict[str, Obj]
    contents: dict[str, OpenedFile]
    posted: dict[str, float]
    disabled: list[str]
    switches: Switches
    last_ts: int


FORM = Form(Kept)


def keep(world: World) -> Kept:
    """Return the kept state of a team."""
    return Kept(
        channels=world.channels,
        views=world.views,
        stacks=world.stacks,
        homes=world.homes,
        response_urls=world.response_urls,
        deliveries=world.deliveries,
        uploads=world.uploads,
        contents=world.contents,
        posted=world.posted,
        disabled=sorted(world.disabled),
        switches=world.switches,
        last_ts=world.last_ts,
    )


def bring_back(world: World, kept: Kept) -> None:
    """Restore an earlier team's state in a new team, beside people who have joined since."""
    world.channels |= kept.channels
    world.views, world.stacks, world.homes = kept.views, kept.stacks, kept.homes
    world.response_urls, world.deliveries = kept.response_urls, kept.deliveries
    world.uploads, world.contents, world.posted = kept.uploads, kept.contents, kept.posted
    world.disabled, world.switches = set(kept.disabled), kept.switches
    world.last_ts = max(world.last_ts, kept.last_ts)
