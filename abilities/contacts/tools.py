"""Know the people whom the person knows, and write to them on the person's behalf."""

from abilities.contacts.address_books import add_to_address_book, change_in_address_book, take_back_card
from abilities.contacts.answers import read_answers
from abilities.contacts.changes import take_back_contacts
from abilities.contacts.files import SaveContactsAgent, read_contact_file
from abilities.contacts.keeping import add_contact, change_contact, find_contacts, forget_contact, list_contacts
from abilities.contacts.writing import MessageSomeoneAgent

__all__ = [
    "MessageSomeoneAgent",
    "SaveContactsAgent",
    "add_contact",
    "add_to_address_book",
    "change_contact",
    "change_in_address_book",
    "find_contacts",
    "forget_contact",
    "list_contacts",
    "read_answers",
    "read_contact_file",
    "take_back_card",
    "take_back_contacts",
]
