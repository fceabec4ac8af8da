"""Twilio's state that outlives a restart of the simulator."""

from dataclasses import dataclass

from workbench.simulator.keeping import Form
from workbench.simulator.twilio.delivery import Phone
from workbench.simulator.twilio.state import Debug, Message, Store


@dataclass(frozen=True, slots=True)
class Kept:
    """The account's memory; `numbers` and `services` are their settings, `phones` the modes of people's phones."""

    messages: list[Message]
    stopped: list[tuple[str, str]]
    debug: list[Debug]
    numbers: dict[str, dict[str, str]]
    services: dict[str, dict[str, str]]
    phones: dict[str, Phone]


FORM = Form(Kept)


def keep(store: Store, phones: dict[str, Phone]) -> Kept:
    """Return the kept state of an account."""
    return Kept(
        messages=list(store.messages.values()),
        stopped=sorted(store.stopped),
        debug=store.debug,
        numbers={name: number.settings for name, number in store.numbers.items()},
        services={sid: service.settings for sid, service in store.services.items()},
        phones=phones,
    )


def bring_back(store: Store, kept: Kept) -> None:
    """Restore an earlier account's state in a new account, without numbers that it no longer has."""
    store.messages = {message.sid: message for message in kept.messages}
    store.stopped, store.debug = set(kept.stopped), kept.debug
    for name, settings in kept.numbers.items():
        if name in store.numbers:
            store.numbers[name].settings.update(settings)
    for sid, settings in kept.services.items():
        if sid in store.services:
            store.services[sid].settings.update(settings)
