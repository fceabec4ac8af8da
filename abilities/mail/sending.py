"""Send an email from a person's own account: a new mail, an answer, or a forwarded mail."""

from collections.abc import Mapping
from dataclasses import replace
from email.utils import parseaddr
from typing import Any

from abilities.mail.delivery import may_be_sent, send_once
from abilities.mail.fields import address_field, as_read, is_one_line
from abilities.mail.files_out import approved_files, files_named, mail_files, passed_on
from abilities.mail.group import GROUP
from abilities.mail.opening import READ, SEND, account_of, id_in, in_words, labelled, message_at
from core.credentials.choice import find, shown
from onevalet import (
    AgentResult,
    ApprovalRequest,
    InputField,
    MailAddress,
    MailFailed,
    MailFailure,
    MailRef,
    OpenAccount,
    OutgoingMail,
    StandardAgent,
    ToolFailed,
    answered,
    as_mailed,
    forward_subject,
    gettext,
    gettext_noop,
    is_address,
    listed,
    message_id_of,
    ngettext,
    reply_subject,
    thread_of,
    valet,
)

_NAMES = (
    gettext_noop("recipient"),
    gettext_noop("cc"),
    gettext_noop("bcc"),
    gettext_noop("subject"),
    gettext_noop("body"),
    gettext_noop("files"),
    gettext_noop("answers"),
    gettext_noop("forwards"),
    gettext_noop("account"),
    gettext_noop("send email"),
)
"""Names of the fields and the agent on cards and in questions."""
_WHOLE = 2000
"""Characters of a forwarded text that are quoted in the email; a longer text goes along as a file."""


@valet(
    name="SendEmailAgent",
    accounts=(SEND,),
    effect="idempotent",
    timeout=120,
    group=GROUP,
    standing=("subject", "body"),
)
class SendEmailAgent(StandardAgent):
    """Send an email from the person's own account: a new one, an answer to a mail, or a mail that is passed on."""

    recipient = address_field(
        gettext_noop("Who should receive it?"),
        "Email address of each recipient; of an answer leave it out, unless it goes to others",
        required=True,
    )
    cc = address_field(
        gettext_noop("Who should get a copy?"),
        "Email address of each who gets a copy",
    )
    subject = InputField(
        gettext_noop("What is the subject?"),
        description="Of an answer or a mail that is passed on leave it out",
        required=False,
        default="",
        validator=is_one_line,
        validator_description=gettext_noop("one line of at most 500 characters"),
    )
    body = InputField(
        gettext_noop("What should it say?"),
        description="The whole text, as it is to be sent; of a mail that is passed on only what stands before it",
    )
    account = InputField(
        gettext_noop("From which account?"),
        description="Name of the connected email account; leave it out unless the person named one",
        required=False,
        default="",
    )
    bcc = address_field(
        gettext_noop("Who should get a hidden copy?"),
        "Email address of each who gets a copy of which the others do not know",
    )
    files = InputField(
        gettext_noop("Which files should I attach?"),
        description="Ids of the person's files, as list_files has them",
        type=list[str],
        required=False,
        default=[],
    )
    answers = InputField(
        gettext_noop("Which mail does it answer?"),
        description="Id of the mail that is answered, as search_mail has it",
        required=False,
        default="",
    )
    forwards = InputField(
        gettext_noop("Which mail should I forward?"),
        description="Id of the mail that is passed on, as search_mail has it; its files go along",
        required=False,
        default="",
    )

    async def fill_in(self) -> Mapping[str, Any]:
        """Complete an answer and a mail that is passed on, and name the account, files and mails in words."""
        known: dict[str, Any] = {}
        if self.answers:
            known |= await self._answer(MailRef.parse(id_in(self.answers)))
        if self.forwards:
            known |= await self._forward(MailRef.parse(id_in(self.forwards)))
        if not self.account and "account" not in known and (usual := await self._usual_account()):
            known["account"] = usual
        if self.files:
            named = [*await files_named(self.context, self.files), *known.get("files", [])]
            known["files"] = list(dict.fromkeys(named))
        return known

    async def _answer(self, ref: MailRef) -> dict[str, Any]:
        message, _ = await message_at(self.context, ref)
        account = (await account_of(self.context, READ, ref)).account
        to, _ = answered(message, account.address)
        known: dict[str, Any] = {"answers": labelled(in_words(message), str(ref))}
        if not self.recipient:
            known["recipient"] = [address for address in to if is_address(address)]
        return known | self._by_default(reply_subject(message.subject), account.name)

    async def _forward(self, ref: MailRef) -> dict[str, Any]:
        message, raw = await message_at(self.context, ref)
        account = (await account_of(self.context, READ, ref)).account
        known: dict[str, Any] = {"forwards": labelled(in_words(message), str(ref))}
        before = str(self.body or "").strip()
        is_short = len(message.text) <= _WHOLE and not message.cut
        below = passed_on(message, is_short=is_short)
        # It may be completed before already, and asked for something else since.
        known["body"] = before if below in before else "\n\n".join(part for part in (before, below) if part)
        known["files"] = await mail_files(self.context, message, raw, whole=not is_short)
        return known | self._by_default(forward_subject(message.subject), account.name)

    def _by_default(self, subject: str, account: str) -> dict[str, Any]:
        given = {"subject": self.subject, "account": self.account}
        return {
            name: value for name, value in {"subject": subject[:500], "account": account}.items() if not given[name]
        }

    def needs_approval(self) -> bool:
        return True

    def approval_request(self) -> ApprovalRequest:
        addresses: list[str] = [*self.recipient, *self.cc, *self.bcc]
        first, *others = addresses
        summary = gettext("Send an email to {address}", address=first)
        if others:
            summary = ngettext(
                "Send an email to {address} and {number} more",
                "Send an email to {address} and {number} more",
                len(others),
                address=first,
            )
        if domains := dict.fromkeys(read for address in addresses if (read := as_read(address))):
            summary = f"{summary} ({', '.join(domains)})"
        return replace(super().approval_request(), action_summary=summary)

    async def ask_first(self) -> Mapping[str, str]:
        accounts = await self.context.accounts.list(SEND)
        known = find(accounts, self.account) if self.account else [one for one in accounts if one.preferred]
        if known or len(accounts) < 2:
            return {}
        names = [shown(account) for account in accounts]
        return {"account": gettext("From which account: {accounts}?", accounts=listed(names, "or"))}

    async def _usual_account(self) -> str:
        """Return the account that sends if none is named, by a name that means no other; empty without a choice."""
        accounts = await self.context.accounts.list(SEND)
        preferred = [account for account in accounts if account.preferred]
        if len(accounts) < 2 or len(preferred) != 1:
            return ""
        name = shown(preferred[0])
        return name if len(find(accounts, name)) == 1 else f"{preferred[0].service} {preferred[0].name}"

    async def on_running(self, msg: str) -> AgentResult:
        account = await self.context.accounts.open(SEND, self.account)
        await self._check_sender()
        mail = await self._mail(account)
        recipients = list(dict.fromkeys(as_mailed(address) for address in [*self.recipient, *self.cc, *self.bcc]))
        await send_once(self.context, account, mail, recipients)
        to, copies = ", ".join(self.recipient), ", ".join([*self.cc, *self.bcc])
        sent = gettext("Sent to {addresses}.", addresses=to)
        if copies:
            sent = gettext("Sent to {addresses}, with a copy to {copies}.", addresses=to, copies=copies)
        self.context.undo.final(
            gettext("Email to {addresses}", addresses=to),
            gettext("A sent mail cannot be recalled; I can write to them again."),
        )
        return self.make_result(raw_message=sent)

    async def _check_sender(self) -> None:
        """Refuse a mail whose account the card did not name: there was no other then. Raises `ToolFailed`."""
        if self.account or len(await self.context.accounts.list(SEND)) < 2 or await may_be_sent(self.context):
            return
        raise ToolFailed(
            gettext("Nothing was sent: another email account was connected in the meantime."),
            note="Call again, so that the person is shown from which account it is sent.",
        )

    async def _mail(self, account: OpenAccount) -> OutgoingMail:
        sender = sender_of(account)
        in_reply_to, references = await self._thread()
        return OutgoingMail(
            sender=sender,
            to=self.recipient,
            cc=self.cc,
            subject=self.subject,
            body=self.body,
            date=self.context.clock.now(),
            message_id=message_id_of(self.context.idempotency_key, sender.address),
            in_reply_to=in_reply_to,
            references=references,
            files=await approved_files(self.context, self.files),
        )

    async def _thread(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the ids that tie an answer to its thread; nothing if the mail has gone since."""
        if not self.answers:
            return None, ()
        try:
            message, _ = await message_at(self.context, MailRef.parse(id_in(self.answers)))
        except MailFailed as error:
            if error.failure is not MailFailure.GONE:
                raise
            return None, ()
        return thread_of(message)


def sender_of(account: OpenAccount) -> MailAddress:
    """Return the sender of an account's mail. Raises `ToolFailed`."""
    stored = account.sender or account.account.address
    name, address = parseaddr(stored)
    if not is_address(address) or not stored.isprintable():
        raise ToolFailed(gettext("Nothing was sent: the stored data of this email account is incomplete."))
    return MailAddress(name, address)
