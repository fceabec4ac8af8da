"""Drafts: written into the person's own mailbox, and sent only by the person."""

from abilities.mail.fields import are_addresses, is_one_line
from abilities.mail.files_out import approved_files, files_named
from abilities.mail.group import GROUP
from abilities.mail.opening import CHANGE, account_of, message_at
from abilities.mail.sending import sender_of
from onevalet import (
    FolderUse,
    MailQuery,
    MailRef,
    OutgoingMail,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    answered,
    compose,
    gettext,
    message_id_of,
    open_mailbox,
    reply_subject,
    thread_of,
    tool,
)


@tool(name="draft_email", effect="idempotent", group=GROUP, timeout=120)
async def draft_email(
    body: str,
    context: ToolExecutionContext,
    recipient: list[str] | None = None,
    subject: str = "",
    cc: list[str] | None = None,
    files: list[str] | None = None,
    answers: str = "",
    account: str | None = None,
) -> str:
    """Store an email as a draft in the person's mailbox, for them to finish and send. Nothing is sent.

    Args:
        body: The whole text.
        recipient: Email address of each recipient; of an answer leave it out, unless it goes to others.
        subject: The subject; of an answer leave it out.
        cc: Email address of each who gets a copy.
        files: Ids of the person's files that go along.
        answers: Id of the mail that the draft answers.
        account: The account's name; leave it out unless the person named one.
    """
    to, copies = recipient or [], cc or []
    if (wrong := are_addresses([*to, *copies])) or not is_one_line(subject):
        raise ToolRetry(wrong or "The subject must be one line.")
    in_reply_to, references = None, tuple[str, ...]()
    if answers:
        ref = MailRef.parse(answers)
        opened = await account_of(context, CHANGE, ref)
        message, _ = await message_at(context, ref)
        in_reply_to, references = thread_of(message)
        subject = subject or reply_subject(message.subject)[:500]
        to = to or answered(message, opened.account.address)[0]
    else:
        opened = await context.accounts.open(CHANGE, account or "")
    sender = sender_of(opened)
    mail = OutgoingMail(
        sender=sender,
        to=to,
        cc=copies,
        subject=subject,
        body=body,
        date=context.clock.now(),
        message_id=message_id_of(context.idempotency_key, sender.address),
        in_reply_to=in_reply_to,
        references=references,
        files=await approved_files(context, await files_named(context, files)) if files else [],
    )
    async with open_mailbox(opened, context.http) as box:
        folder = await box.folder_for(FolderUse.DRAFTS)
        if folder is None:
            raise ToolFailed(gettext("There is no folder for drafts in this mailbox."))
        if not await box.search(folder, MailQuery(message_id=mail.message_id)):
            await box.append(folder, compose(mail), ["\\Draft", "\\Seen"], context.clock.now())
    return gettext("The draft is stored in {folder}.", folder=f"“{folder}”")
