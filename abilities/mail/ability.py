"""Mail in the person's own accounts: searched, read, sorted, drafted and sent, and watched for tasks on new mail."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Work
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.credentials.trial import Trial
    from operations.doctor.types import Probe


def _probes() -> "Sequence[Probe]":
    from abilities.mail.probes import PROBES

    return PROBES


def _trial() -> "Trial":
    from abilities.mail.trial import try_mailbox

    return try_mailbox


def _opens(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.mail.past import open_past_mail

    open_past_mail(stack, foundation)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work]:
    from abilities.mail.watching import watch_mailboxes

    return watch_mailboxes(stack, foundation)


ABILITY = Ability(
    name="mail",
    needs=("accounts", "events"),
    tools=("abilities.mail.tools",),
    tables=(PersonTable("mail_watches", Belonging(Merge.FIRST), follows=None, archive=Archiving(Archived.TOLD)),),
    access=("mail.read", "mail.change", "mail.send"),
    trials={"email": _trial},
    probes=_probes,
    opens=_opens,
    work=_work,
)
