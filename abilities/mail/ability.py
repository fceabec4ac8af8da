"""Mail in the person's own accounts: searched, read, sorted, drafted and sent, and watched for tasks on new mail."""

from typing import TYPE_CHECKING

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="mail",
    needs=("accounts", "events"),
    tools=("abilities.mail.tools",),
    tables=(PersonTable("mail_watches", Belonging(Merge.FIRST), follows=None, archive=Archiving(Archived.TOLD)),),
    access=("mail.read", "mail.change", "mail.send"),
    trials={"email": named("abilities.mail.trial:try_mailbox")},
    probes=named("abilities.mail.probes:PROBES"),
    opens=calls("abilities.mail.past:open_past_mail"),
    work=calls("abilities.mail.watching:watch_mailboxes"),
)
