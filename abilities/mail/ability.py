"""Mail in the person's own accounts: searched, read, sorted, drafted and sent, and watched for what tasks wait for."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, OwnSettings, Work, WorkFoundation

if TYPE_CHECKING:
    from core.accounts.trial import Trial
    from core.http.types import HttpClient
    from core.tools.person_access import AccountAccess
    from core.triggers.event_trial import PastMail
    from onevalet.doctor.types import Probe


def _settings() -> OwnSettings[Any]:
    from abilities.mail.settings import WatchSettings

    return OwnSettings(WatchSettings)


def _probes() -> "Sequence[Probe]":
    from abilities.mail.probes import PROBES

    return PROBES


def _trial() -> "Trial":
    from abilities.mail.trial import try_mailbox

    return try_mailbox


def _past_mail(accounts: Callable[[str], "AccountAccess"], http: "HttpClient") -> "PastMail":
    from abilities.mail.past import PastMail

    return PastMail(accounts, http)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work]:
    from abilities.mail.watching import watch_mailboxes

    return watch_mailboxes(stack, foundation)


ABILITY = Ability(
    name="mail",
    settings=_settings,
    tools=("abilities.mail.tools",),
    trials={"email": _trial},
    probes=_probes,
    work=_work,
    past_mail=_past_mail,
)
