from onevalet import (
    Ability,
    FolderUse,
    MailAddress,
    Mailbox,
    MailRef,
    OutgoingMail,
    SmtpFailed,
    SmtpFailure,
    ToolExecutionContext,
    ToolFailed,
    answered,
    as_mailed,
    compose,
    forward_subject,
    is_address,
    message_id_of,
    open_mailbox,
    open_sending,
    read_message,
    reply_subject,
    thread_of,
    tool,
)

READ, SEND = Ability.MAIL_READ, Ability.MAIL_SEND


@tool(effect="once", needs_approval=True, accounts=(READ, SEND))
async def answer_mail(mail: str, text: str, context: ToolExecutionContext, pass_on_to: str = "") -> str:
    """Answer a mail, or pass it on.

    Args:
        mail: The mail's id, as find_invoices has it.
        text: What the answer says.
        pass_on_to: The address of somebody who gets it instead of its sender.
    """
    if pass_on_to and not is_address(pass_on_to):
        raise ToolFailed(f"{pass_on_to} is not an address.")
    ref = MailRef.parse(mail)
    opened = await context.accounts.open(f"{ref.service}:{SEND}", ref.account)
    own = opened.account.address
    async with open_mailbox(opened, context.http) as box:
        message = await read_message((await box.fetch(ref.folder, [ref.uid]))[0].data)
        to, copies = ([as_mailed(pass_on_to)], []) if pass_on_to else answered(message, own)
        in_reply_to, references = thread_of(message)
        sent = OutgoingMail(
            sender=MailAddress("", own),
            to=to,
            cc=copies,
            subject=forward_subject(message.subject) if pass_on_to else reply_subject(message.subject),
            body=f"{text}\n\n{message.text}" if pass_on_to else text,
            date=context.clock.now(),
            message_id=message_id_of(context.idempotency_key, own),
            in_reply_to=in_reply_to,
            references=references,
        )
        try:
            async with open_sending(opened, context.http) as submission:
                await submission.address(as_mailed(own), [*to, *copies])
                await submission.send(compose(sent))
        except SmtpFailed as error:
            if error.failure is SmtpFailure.LOST:
                raise ToolFailed("Nobody knows whether it was sent.", note="Do not send it again.") from error
            raise ToolFailed(f"Nothing was sent: {error}", refused=error.refused) from error
        await _file(box, compose(sent), context)
    return f"Sent to {', '.join(to)}."


async def _file(box: Mailbox, raw: bytes, context: ToolExecutionContext) -> None:
    """Store a copy where mail programs show what was sent."""
    if folder := await box.folder_for(FolderUse.SENT):
        await box.append(folder, raw, ["\\Seen"], context.clock.now())
