"""Write to other people on the person's behalf, and read their answers."""

from abilities.outreach.reading_answers import read_answers
from abilities.outreach.writing import MessageSomeoneAgent

__all__ = ["MessageSomeoneAgent", "read_answers"]
