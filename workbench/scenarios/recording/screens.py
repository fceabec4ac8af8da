"""The simulated people's screens, and their messages since a recording began."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.scenarios.phones import phone_of
from workbench.scenarios.recording.acts import CHANNEL_OF, words_for
from workbench.scenarios.recording.expected import pieces_of, pieces_of_home
from workbench.scenarios.simulated import Seen
from workbench.scenarios.steps import CHANNELS, GROUP, MAIL, SURFACES
from workbench.simulator.app import Simulator

_LISTS = {"twilio": "bubbles", "slack": "bubbles", "telegram": "messages"}
"""The key of a person's messages in a provider's state."""


@dataclass(slots=True)
class Screens:
    """All people's screens. `code` is the newest card's, `link` the newest code that admits people."""

    simulator: Simulator
    code: str = ""
    link: str = ""
    _read: set[tuple[str, str, str, str]] = field(default_factory=set)
    _before: set[tuple[str, str, Any]] = field(default_factory=set)

    def begin(self) -> None:
        """Mark everything now visible as seen."""
        self._read = {(channel, person, surface, one.id) for channel, person, surface, one in self._all()}
        self._before = {
            (provider, person, one["id"])
            for provider in CHANNEL_OF
            for person in self._people()
            for one in self._state(provider, person).get(_LISTS[provider], ())
        }
        self.code = self.link = ""

    def fresh(self) -> list[Mapping[str, Any]]:
        """Return the `expect` steps of the messages since the last look, and note the newest codes."""
        steps: list[Mapping[str, Any]] = []
        for channel, person, surface, one in self._all():
            key = (channel, person, surface, one.id)
            if key in self._read:
                continue
            self._read.add(key)
            self.code = (one.codes or [self.code])[-1]
            self.link = (one.links or [self.link])[-1]
            pieces = pieces_of_home(one.text) if surface == SURFACES[0] else pieces_of(one.text)
            if not pieces:
                continue
            place = {"channel": channel} | ({} if channel == MAIL else {"person": person})
            more: dict[str, Any] = {"buttons": one.labels} if one.labels else {}
            more |= {"on": surface} if surface else self._answered(channel, person, one)
            steps.append({"expect": pieces, **more, **place})
        return steps

    def since(self, provider: str, person: str) -> Mapping[str, Any]:
        """Return a person's view at a provider, without the messages from before."""
        state = dict(self._state(provider, person))
        if messages := _LISTS.get(provider):
            shown = state.get(messages, ())
            state[messages] = [one for one in shown if (provider, person, one["id"]) not in self._before]
        return state

    def _answered(self, channel: str, person: str, message: Seen) -> Mapping[str, Any]:
        """Return the words of the message in whose Slack thread this message is."""
        if channel != "slack" or not message.root:
            return {}
        roots = [one for one in self.since("slack", person)["bubbles"] if not one["thread_ts"]]
        place = next((number for number, one in enumerate(roots) if one["ts"] == message.root), None)
        words = "" if place is None else words_for([str(one["text"]) for one in roots], place)
        return {"reply_to": words} if words else {}

    def _all(self) -> Iterator[tuple[str, str, str, Seen]]:
        """Yield all people's messages: channel, person, surface if it is outside the chat, and the message."""
        people = self._people()
        for channel, person in [*((c, p) for c in CHANNELS for p in people), (MAIL, people[0])]:
            phone = phone_of(self.simulator, channel, person)
            for one in phone.seen():
                yield channel, person, "", one
            if channel == "slack":
                for one in phone.seen_on(SURFACES[0]):
                    yield channel, person, SURFACES[0], one
            if channel in ("slack", "telegram") and person == people[0]:
                for one in phone.seen_on(GROUP):
                    yield channel, person, GROUP, one

    def _people(self) -> Sequence[str]:
        return [person.key for person in self.simulator.wire.config.everyone]

    def _state(self, provider: str, person: str) -> Mapping[str, Any]:
        state: Any = self.simulator.providers[provider].state()
        known = isinstance(state, dict) and person in state.get("people", {})
        return state["people"][person] if known else {}
