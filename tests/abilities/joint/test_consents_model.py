"""Two people's consent, whatever they do in whatever order, against a model of it in Python: both or none, and once."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from abilities.halts.halts import Halts
from core.approvals.exact_replies import Verb
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.people.tenant_tables import tenant_tables
from tests.abilities.household.test_reminders_model import dying
from tests.abilities.joint.test_changes import link, with_links
from tests.abilities.joint.together import ASKED, Together, open_together
from tests.core.builders import FakeModel, says, wants

ADA, GRACE = "ada", "grace"


class Asking(FakeModel):
    """A model that asks both when it is told to, and says no more than a word otherwise."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Ask both, unless there is a result."""
        last = request.messages[-1]
        asks = last.role is Role.USER and "send it if Grace agrees" in last.text
        return wants(("ask_both", ASKED)) if asks else says("Well.")


@dataclass(slots=True)
class Model:
    """One consent at a time. `said`: what each has decided; None while nothing is asked."""

    said: dict[str, Verb] | None = None
    sent: int = 0
    halted: bool = False
    together: bool = True
    linked: bool = False
    there: bool = True
    """Whether Grace is a person of her own."""

    def ask(self) -> None:
        if self.together and self.there:
            self.said = {}

    def decide(self, person: str, verb: Verb) -> bool:
        """Note a decision; return False if there is nothing to decide."""
        if self.said is None or person in self.said:
            return False
        self.said[person] = verb
        self.settle()
        return True

    def settle(self) -> None:
        if self.halted or self.said is None:
            return
        if Verb.CANCEL in self.said.values():
            self.said = None
        elif Verb.EDIT in self.said.values():
            self.said = {}
        elif len(self.said) == 2:
            self.said, self.sent = None, self.sent + 1

    def end(self) -> None:
        self.said = None


@dataclass(slots=True)
class Both:
    """The system beside its model."""

    home: Together
    model: Model = field(default_factory=Model)

    async def do(self, deed: tuple[str, ...], point: int | None) -> None:
        """Do something in both; `point`: the statement of the settling at which a worker dies."""
        match deed:
            case ("ask",) if self.model.said is not None or self.model.halted:
                return
            case ("ask",):
                self.model.ask()
                await self.home.ask("send it if Grace agrees, too")
            case ("yes" | "no" | "edit" as word, person):
                await self._decide(person, {"yes": Verb.APPROVE, "no": Verb.CANCEL, "edit": Verb.EDIT}[word], point)
            case ("halt",):
                self.model.halted = True
                await Halts(self.home.delivery.store.database).begin()
            case ("lift",):
                self.model.halted = False
                self.model.settle()
                await Halts(self.home.delivery.store.database).lift()
            case _ if self.model.halted:
                return
            case ("expire",):
                self.model.end()
                self.home.clock.move(timedelta(minutes=45))
            case ("leave",):
                await self._leave()
            case _:
                await self._change(deed[0])
        await self.home.work()

    async def _decide(self, person: str, verb: Verb, point: int | None) -> None:
        if verb is Verb.EDIT and self.model.halted:
            return
        home, store = self.home, self.home.delivery.store
        pending = [one for one in await home.approvals_of(person) if one["state"] == "pending"]
        expected = self.model.decide(person, verb)
        assert len(pending) == int(expected)
        if not pending:
            return
        said = await store.one("select id from inbound order by received_at desc, seq desc limit 1")
        changes = {"subject": f"Room {len(await home.approvals_of(person))}"} if verb is Verb.EDIT else None
        assert await home.approvals.decide(
            home.tenants[person],
            pending[0]["id"],
            verb,
            how="words" if changes else "console",
            channel="sms" if changes else "console",
            now=home.clock.now(),
            said_in=str(said),
            **({"changes": changes} if changes else {}),  # type: ignore[arg-type]
        )
        if point is not None:
            with dying(store.database, point):
                await home.settling.once()
            await store.expire()
            await store.end_pauses()

    async def _leave(self) -> None:
        """Let Grace leave, or come back."""
        if not self.model.there:
            return
        if self.model.together:
            self.model.end()
            await self.home.ask("household leave", GRACE)
        else:
            await self.home.joins(GRACE)
        self.model.together = not self.model.together

    async def _change(self, deed: str) -> None:
        """Change who Grace is: of two linked places, of one again, the same as Ada, or nobody."""
        home, model = self.home, self.model
        if not model.there:
            return
        if deed == "link" and not model.linked:
            model.linked = True
            await link(home, "lena", GRACE)
        elif deed == "unlink" and model.linked:
            model.linked = False
            model.end()
            await home.ask("UNLINK", "lena")
        elif deed == "merge":
            model.there = False
            model.end()
            await link(home, ADA, GRACE) if len(home.sent) % 2 else await link(home, GRACE, ADA)
        elif deed == "delete":
            model.there = False
            model.end()
            store, grace = home.delivery.store, home.tenants[GRACE]
            await store.database.rows("select ask_deletion($1,'person',$2,$2)", grace, home.clock.now())
            await store.database.rows("select delete_tenant($1,$2)", grace, [*reversed(tenant_tables())])

    async def assert_same(self, done: list[object]) -> None:
        """Compare what was sent, what is open, and who is still to decide."""
        home, model, store = self.home, self.model, self.home.delivery.store
        assert len(home.sent) == model.sent, done
        if model.halted:
            return
        open_ones = await store.one("select count(*) from joint_consents where state <> 'ended'")
        assert open_ones == (model.said is not None), done
        waiting = {} if model.said is None else {ADA, GRACE} - model.said.keys()
        pending = {one for one in (ADA, GRACE) if "pending" in await home.states_of(one)}
        assert pending == set(waiting), done


WORDS = ("yes", "yes", "yes", "no", "edit")
CHANGES = ("halt", "lift", "lift", "expire", "leave", "link", "unlink", "merge", "delete")


def walk(chance: random.Random, length: int) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """Yield deeds, each with the statement at which a worker dies, if one does."""
    for _ in range(length):
        deed = chance.choice(
            [("ask",), *[(chance.choice(WORDS), chance.choice((ADA, GRACE)))] * 3, (chance.choice(CHANGES),)]
        )
        yield deed, chance.choice([None, chance.randrange(24)])


@pytest.mark.parametrize("seed", range(8))
async def test_promise_9_two_consents_are_as_in_the_model(database_url: str, seed: int) -> None:
    async with open_together("sms", database_url) as home:
        with_links(home)
        home.model = Asking([])
        both, done = Both(home), list[object]()
        # One that runs, and one that waits for Grace, then whatever comes.
        begun = (("ask",), ("edit", GRACE), ("yes", GRACE), ("yes", ADA), ("ask",), ("yes", ADA))
        for deed, point in (*((one, None) for one in begun), *walk(random.Random(seed), 16)):
            done.append((deed, point))
            await both.do(deed, point)
            await both.assert_same(done)
