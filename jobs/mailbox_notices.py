"""What a person is told about a mailbox that can be watched no more."""

from dataclasses import dataclass

from core.language.catalogue import gettext, speaking
from core.mail.watches import MailWatch, Position
from core.notifications.types import Notification, Notifier
from core.triggers.store import TaskStore

CATEGORY = "account"


@dataclass(frozen=True, slots=True)
class MailboxNotices:
    """Tell people, in their language, once for what they have stored."""

    people: TaskStore
    notifier: Notifier

    async def refused(self, watch: MailWatch, position: Position) -> None:
        """Tell that a server refuses what is stored for an account."""
        _, language = await self.people.person(watch.tenant_id)
        account = position.service if position.account_name == "primary" else position.account_name
        with speaking(language):
            text = gettext(
                "The mail server does not accept what you gave me for {account} any more, so I hear of no new mail "
                "there. Connect it again, and I go on from where I was.",
                account=account,
            )
        key = f"mailbox refused {watch.id} {watch.revision}"
        await self.notifier.notify(watch.tenant_id, Notification(text, CATEGORY, dedupe_key=key))
