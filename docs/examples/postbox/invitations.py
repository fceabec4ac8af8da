from onevalet import (
    Ability,
    EventFile,
    FileEffect,
    FileMeaning,
    InvitationAnswer,
    ItipMessage,
    ItipMethod,
    MailAddress,
    MailCalendar,
    OutgoingMail,
    SeriesScope,
    ToolExecutionContext,
    ToolFailed,
    compose,
    message_id_of,
    open_sending,
    tool,
)
from postbox.visits import open_calendars


@tool(effect="idempotent", needs_approval=True, accounts=(Ability.CALENDAR_CHANGE, Ability.MAIL_SEND))
async def accept_invitation(file: str, context: ToolExecutionContext) -> str:
    """Put an invitation into the calendar, and accept it.

    Args:
        file: The text of a calendar file.
    """
    calendars = await open_calendars(context, Ability.CALENDAR_CHANGE)
    read: EventFile = await calendars.read_file(file)
    if read.method != ItipMethod.REQUEST or len(read.events) != 1:
        raise ToolFailed("That is not an invitation.")
    meaning: FileMeaning = await calendars.meaning(read.events[0])
    if meaning.effect is FileEffect.NEW:
        target = (await calendars.named(writable=True))[0]
        if (written := await calendars.add(target, read.events[0])) is None:
            raise ToolFailed("It is in the calendar already.")
    elif meaning.effect is FileEffect.UPDATE and meaning.place is not None:
        written = await calendars.take_over(meaning.place, meaning.text)
    else:
        return "Nothing in it is new."
    account = await context.accounts.open(Ability.MAIL_SEND)
    own = account.account.address
    accepted = await calendars.answer(written.place, SeriesScope.ALL, InvitationAnswer.ACCEPTED, frozenset({own}))
    event = read.events[0].occurrence
    to = tuple(guest.address for guest in [event.organizer] if guest is not None)
    letter = ItipMessage(ItipMethod.REPLY, to, frozenset({own}))
    reply = OutgoingMail(
        sender=MailAddress("", own),
        to=to,
        cc=(),
        subject=f"Accepted: {event.title}",
        body="I will be there.",
        date=context.clock.now(),
        message_id=message_id_of(context.idempotency_key, own),
        calendar=MailCalendar(letter.method, await calendars.message(letter, accepted.place)),
    )
    async with open_sending(account, context.http) as submission:
        await submission.address(own, to)
        await submission.send(compose(reply))
    return f"{event.title} is accepted."
