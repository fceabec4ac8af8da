"""The demo model's sentences in other languages than English: a table for each."""

from workbench.demo.phrases.chinese import CHINESE
from workbench.demo.phrases.french import FRENCH
from workbench.demo.phrases.german import GERMAN
from workbench.demo.phrases.portuguese import PORTUGUESE
from workbench.demo.phrases.spanish import SPANISH
from workbench.demo.phrases.table import Phrases

__all__ = ["TABLES", "Phrases"]

TABLES = (SPANISH, GERMAN, FRENCH, PORTUGUESE, CHINESE)
