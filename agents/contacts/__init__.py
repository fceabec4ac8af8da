"""Know the people whom the person knows, and write to them on the person's behalf."""

from agents.contacts.answers import read_answers
from agents.contacts.files import SaveContactsAgent, read_contact_file
from agents.contacts.keeping import add_contact, change_contact, find_contacts, forget_contact, list_contacts
from agents.contacts.writing import MessageSomeoneAgent

__all__ = [
    "MessageSomeoneAgent",
    "SaveContactsAgent",
    "add_contact",
    "change_contact",
    "find_contacts",
    "forget_contact",
    "list_contacts",
    "read_answers",
    "read_contact_file",
]
