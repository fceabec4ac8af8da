"""A person's settings of their briefing, without its times, which its tasks have."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from abilities.briefing.sections import PARTS, Part
from onevalet import ToolExecutionContext

_COLLECTION, _KEY = "briefing", "settings"


@dataclass(frozen=True, slots=True)
class BriefingSettings:
    """The omitted parts, the city for the weather, and the channel.

    `told`: the call that reported the missing account of a part.
    """

    without: tuple[Part, ...] = ()
    place: str = ""
    channel: str = ""
    told: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    async def of(cls, context: ToolExecutionContext) -> Self:
        """Return a person's settings; without any, nothing is left out."""
        stored = await context.storage.get(_COLLECTION, _KEY)
        return cls.from_json(stored.value if stored and isinstance(stored.value, dict) else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        without = tuple(part for part in PARTS if part in value.get("without", ()))
        return cls(without, str(value.get("place", "")), str(value.get("channel", "")), dict(value.get("told", {})))

    def to_json(self) -> dict[str, Any]:
        return {"without": list(self.without), "place": self.place, "channel": self.channel, "told": dict(self.told)}

    async def keep(self, context: ToolExecutionContext) -> None:
        """Store them, unless they are stored already."""
        if self != await self.of(context):
            await context.storage.put(_COLLECTION, _KEY, self.to_json())

    def changed(self, without: Sequence[Part] | None, place: str, channel: str) -> Self:
        """Return them with a person's changes; None and empty texts change nothing.

        A place is for the weather, which it brings back unless the person leaves the weather out at the same time.
        """
        left_out = self.without if without is None else tuple(part for part in PARTS if part in without)
        if place and without is None:
            left_out = tuple(part for part in left_out if part != "weather")
        place = self.place if "weather" in left_out else place or self.place
        return replace(self, without=left_out, place=place, channel=channel or self.channel)

    def known(self, key: str) -> Collection[str]:
        """Return the parts of which another call than this has said that they lack an account."""
        return [part for part, said_by in self.told.items() if said_by != key]

    def noting(self, missing: Collection[Part], key: str) -> Self:
        """Return them with the parts missing now: a person who connects an account and loses it is notified again."""
        return replace(self, told={part: self.told.get(part, key) for part in PARTS if part in missing})
