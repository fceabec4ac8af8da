"""Chat words about the programs to which people give access: MCP, MCP token NAME, MCP revoke 1."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from core.clock import Clock, zone_or_utc
from core.language.catalogue import gettext
from core.language.times import day_in_words
from core.messaging.visible_text import literal, plain_words
from core.people.tenant import TurnTenant
from core.turns.words.asked import ConsoleLinks
from operations.programs.tokens import MAX_NAME, ClientToken, ClientTokens

_MAKE = re.compile(r"token (.+)", re.IGNORECASE)
_REVOKE = re.compile(r"revoke #?([0-9]{1,9})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClientCommands:
    """Answer the command. A token itself is shown in the console, never in a chat, which would keep it."""

    tokens: ClientTokens
    console: ConsoleLinks
    clock: Clock

    async def answer(self, argument: str, person: TurnTenant, *, slash: bool = False) -> str | None:
        """Return the reply; None if the words are for the assistant. `slash`: they can only be a command."""
        now, words = self.clock.now(), argument.strip()
        if words.lower() in ("", "token", "tokens"):
            return await self._listed(person, now)
        if found := _MAKE.fullmatch(words):
            return await self._link(person, found[1], now)
        if found := _REVOKE.fullmatch(words):
            name = await self.tokens.revoke(person.id, int(found[1]), now)
            if name is None:
                return gettext("You have no token with this number.")
            return gettext("Revoked: {program} can no longer ask me anything.", program=literal(plain_words(name)))
        return await self._listed(person, now) if slash else None

    async def _listed(self, person: TurnTenant, now: datetime) -> str:
        tokens = await self.tokens.list(person.id, now)
        how = gettext("To let a program ask me, write for example: {example}", example="MCP token laptop")
        if not tokens:
            return "\n".join([gettext("No program can ask me anything."), how])
        end = gettext("To end one, write for example: {example}", example=f"MCP revoke {tokens[0].number}")
        lines = [_line(token, person.timezone) for token in tokens]
        return "\n".join([gettext("These programs can ask me:"), *lines, end, how])

    async def _link(self, person: TurnTenant, name: str, now: datetime) -> str:
        if not self.console.public_url:
            return gettext("Tokens are made in the console, which is not set up here.")
        link = await self.console.link(person.id, now)
        if link is None:
            return gettext("You have had too many links today. Ask me again tomorrow.")
        query = urlencode({"to": "programs", "name": plain_words(name)[:MAX_NAME]})
        minutes = int(self.console.valid.total_seconds() // 60)
        return gettext(
            "Open this within {number} minutes, in one browser, and create the token there. Anybody who has it can ask "
            "me whatever you can, and read the answers; before I change anything, I ask you. {link}",
            number=minutes,
            link=f"{link}?{query}",
        )


def _line(token: ClientToken, timezone: str) -> str:
    zone = zone_or_utc(timezone)

    def day(at: datetime) -> str:
        return day_in_words(at.astimezone(zone).date())

    name = literal(plain_words(token.name))
    used = gettext("last used {day}", day=day(token.last_used_at)) if token.last_used_at else gettext("never used")
    until = (
        gettext("valid until {day}", day=day(token.expires_at)) if token.expires_at else gettext("valid until revoked")
    )
    return f"{token.number}. {name}: {used}, {until}"
