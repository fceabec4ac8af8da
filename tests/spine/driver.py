"""The people's phones and the carrier between: signed webhooks, each delivered several times, until taken."""

import asyncio
import random
from dataclasses import dataclass

import aiohttp
from twilio.request_validator import RequestValidator

from simulator.config import Person, TwilioConfig
from tests.spine.system import PUBLIC_URL, System


@dataclass(frozen=True, slots=True)
class Text:
    """One text of one person, on its way `copies` times."""

    person: Person
    body: str
    sid: str
    copies: int


def make_people(count: int) -> tuple[Person, ...]:
    """Make people with numbers of their own."""
    return tuple(
        Person(f"p{n:03}", f"Person {n}", f"+1555020{n:04}", f"U0P{n:07}", 600_000_000 + n) for n in range(count)
    )


def make_texts(people: tuple[Person, ...], count: int, chance: random.Random) -> list[Text]:
    """Make texts in turn over the people, each to be delivered 1 to 5 times."""
    return [
        Text(
            person=people[n % len(people)],
            body=f"m{n:05}-{people[n % len(people)].key}",
            sid=f"SM{chance.getrandbits(128):032x}",
            copies=chance.randint(1, 5),
        )
        for n in range(count)
    ]


class Driver:
    """Deliver texts to several web processes at once, as a carrier that retries what was not taken."""

    def __init__(self, system: System, account: TwilioConfig, chance: random.Random) -> None:
        self._system = system
        self._account = account
        self._chance = chance
        self._validator = RequestValidator(account.auth_token)
        self.delivered = 0
        self.retried = 0
        self.taken: set[str] = set()

    async def deliver(self, texts: list[Text], *, at_once: int = 24) -> None:
        """Deliver every copy of every text, shuffled and in parallel, until each got a 2xx."""
        copies = [text for text in texts for _ in range(text.copies)]
        self._chance.shuffle(copies)
        gate = asyncio.Semaphore(at_once)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:

            async def one(text: Text) -> None:
                async with gate:
                    await self._until_taken(session, text)

            async with asyncio.TaskGroup() as group:
                for text in copies:
                    group.create_task(one(text))

    async def _until_taken(self, session: aiohttp.ClientSession, text: Text) -> None:
        form = self._form(text)
        signature = self._validator.compute_signature(f"{PUBLIC_URL}/webhooks/sms", form)
        async with asyncio.timeout(90):
            while True:
                web = self._chance.choice(self._system.webs)
                try:
                    async with session.post(
                        f"{web.url}/webhooks/sms", data=form, headers={"X-Twilio-Signature": signature}
                    ) as answer:
                        if answer.status == 200:
                            self.taken.add(text.body)
                            self.delivered += 1
                            return
                        assert answer.status == 503, f"{answer.status}: {await answer.text()}"
                except (aiohttp.ClientError, TimeoutError):
                    pass  # the carrier tries again, as for a 503
                self.retried += 1
                await asyncio.sleep(0.3)

    def _form(self, text: Text) -> dict[str, str]:
        return {
            "ToCountry": "US",
            "MessageSid": text.sid,
            "SmsMessageSid": text.sid,
            "SmsSid": text.sid,
            "SmsStatus": "received",
            "AccountSid": self._account.account_sid,
            "From": text.person.phone,
            "To": self._account.number,
            "Body": text.body,
            "NumMedia": "0",
            "NumSegments": "1",
            "ApiVersion": "2010-04-01",
        }
