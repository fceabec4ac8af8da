"""What the demo model understands besides English: a table for each language."""

from onevalet.demo.phrases.chinese import CHINESE
from onevalet.demo.phrases.french import FRENCH
from onevalet.demo.phrases.german import GERMAN
from onevalet.demo.phrases.portuguese import PORTUGUESE
from onevalet.demo.phrases.spanish import SPANISH
from onevalet.demo.phrases.table import Phrases

__all__ = ["TABLES", "Phrases"]

TABLES = (SPANISH, GERMAN, FRENCH, PORTUGUESE, CHINESE)
