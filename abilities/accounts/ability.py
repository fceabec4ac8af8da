"""People's accounts elsewhere: connected by a link, kept open, chosen among, and ended."""

from abilities.accounts.chat_words import WORDS
from onevalet.ability import Ability

ABILITY = Ability(name="accounts", tools=("abilities.accounts.tools",), words=WORDS)
