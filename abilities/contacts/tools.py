"""Know the people whom the person knows."""

from abilities.contacts.address_books import add_to_address_book, change_in_address_book, take_back_card
from abilities.contacts.changes import take_back_contacts
from abilities.contacts.files import SaveContactsAgent, read_contact_file
from abilities.contacts.keeping import add_contact, change_contact, find_contacts, forget_contact, list_contacts

__all__ = [
    "SaveContactsAgent",
    "add_contact",
    "add_to_address_book",
    "change_contact",
    "change_in_address_book",
    "find_contacts",
    "forget_contact",
    "list_contacts",
    "read_contact_file",
    "take_back_card",
    "take_back_contacts",
]
