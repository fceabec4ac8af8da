import hashlib

from onevalet import Ability, AddressBooks, ToolExecutionContext, tool

CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:{name}\r\nTEL:{number}\r\nEND:VCARD\r\n"


@tool(effect="idempotent", accounts=(Ability.CONTACTS_CHANGE,))
async def note_number(name: str, number: str, context: ToolExecutionContext) -> str:
    """Put somebody's number into the person's address book."""
    books = AddressBooks(context.http, await context.accounts.open(Ability.CONTACTS_CHANGE))
    book = next(book for book in (await books.look_up()).collections if book.writable)
    uid = hashlib.sha256(context.idempotency_key.encode()).hexdigest()[:40]
    await books.create(book.url, uid, CARD.format(uid=uid, name=name, number=number))
    return f"{book.name} has {len(await books.etags(book))} cards."
