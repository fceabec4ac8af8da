"""The people's phones and the carrier between: signed webhooks, each delivered several times, until taken."""

import asyncio
import random
import time
from dataclasses import dataclass
from math import inf

import aiohttp
from twilio.request_validator import RequestValidator

from tests.spine.simulated import SimulatedPeople
from tests.spine.system import PUBLIC_URL, System
from tests.spine.texts import Text
from workbench.simulator.config import TwilioConfig


@dataclass(frozen=True, slots=True)
class Answer:
    """What a delivery of a text was answered: a status, 0 for none; `began` and `took` in seconds."""

    text: Text
    status: int
    began: float
    took: float


class Driver:
    """Deliver texts to several web processes at once, as a carrier that retries what was not taken."""

    def __init__(self, system: System, account: TwilioConfig, chance: random.Random, *, pause: float = 0.3) -> None:
        """`pause`: seconds until what was not taken is delivered again."""
        self._system = system
        self._account = account
        self._chance = chance
        self._pause = pause
        self._validator = RequestValidator(account.auth_token)
        self.delivered = 0
        self.retried = 0
        self.taken: set[str] = set()
        self.answers: list[Answer] = []

    async def deliver(self, texts: list[Text], *, at_once: int = 24, rate: float = inf) -> None:
        """Deliver every copy of every text, shuffled and in parallel, until each was taken.

        `rate`: texts a second at most, where they do not come all at once.
        """
        simulated = SimulatedPeople(self._system, self._chance, self.taken)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._deliver_sms([text for text in texts if text.channel == "sms"], at_once, rate))
            group.create_task(simulated.deliver([text for text in texts if text.channel != "sms"]))
        self.delivered += simulated.delivered
        self.retried += simulated.retried

    async def _deliver_sms(self, texts: list[Text], at_once: int, rate: float) -> None:
        copies = [text for text in texts for _ in range(text.copies)]
        self._chance.shuffle(copies)
        gate = asyncio.Semaphore(at_once)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:

            async def one(text: Text) -> None:
                async with gate:
                    await self._until_taken(session, text)

            began = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for number, text in enumerate(copies):
                    if rate < inf:
                        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
                    group.create_task(one(text))

    async def _until_taken(self, session: aiohttp.ClientSession, text: Text) -> None:
        form = self._form(text)
        signature = self._validator.compute_signature(f"{PUBLIC_URL}/webhooks/sms", form)
        async with asyncio.timeout(90):
            while True:
                web = self._chance.choice(self._system.webs)
                began, status = time.monotonic(), 0
                try:
                    async with session.post(
                        f"{web.url}/webhooks/sms", data=form, headers={"X-Twilio-Signature": signature}
                    ) as answer:
                        status = answer.status
                        if answer.status == 200:
                            self.taken.add(text.body)
                            self.delivered += 1
                            return
                        assert answer.status == 503, f"{answer.status}: {await answer.text()}"
                except (aiohttp.ClientError, TimeoutError):
                    pass  # the carrier tries again, as for a 503
                finally:
                    self.answers.append(Answer(text, status, began, time.monotonic() - began))
                self.retried += 1
                await asyncio.sleep(self._pause)

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
