"""The pool: over restarts, changed agents, limits, time, and the hands of operators."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr

from core.agents.pending_answers import ANSWER, HOLD, WAIT
from core.agents.standard_agent import AgentStatus
from core.agents.turn_agents import PoolLimits
from core.db.database import Database
from core.journal.in_memory import MemoryJournal
from core.json_types import JsonObject
from core.people.tenant import TurnTenant
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnWork
from jobs.upkeep.schedule import expire_agents
from onevalet import AgentResult, InputField, StandardAgent, valet
from onevalet.cli.agents import change_agent, print_agents
from onevalet.settings import Settings
from tests.core.agents.harness import ANN, BOB, Talk
from tests.core.agents.mail import SENT, SendEmailAgent
from tests.core.harness import Store, opened
from tests.scripted_model import calls, text

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
ASKED = "Who should receive it?"


@pytest.fixture(autouse=True)
def nothing_sent() -> Iterator[None]:
    SENT.clear()
    yield
    SENT.clear()


@pytest.fixture
def mail(talk: Talk) -> Talk:
    talk.agents = [SendEmailAgent]
    return talk


async def ask(mail: Talk, sender: str = ANN) -> str:
    """Let an agent wait for a recipient; give the person's tenant id."""
    mail.model.add(calls(("SendEmailAgent", {"subject": "Hi"})))
    assert ASKED in (await mail.say("send a mail", sender))[0]
    return await mail.store.db.person(sender)


async def test_promise_5_what_waits_survives_a_restart_on_any_worker(mail: Talk) -> None:
    tenant = await ask(mail)
    async with opened(mail.store.url, Database(mail.store.url)) as store:
        fresh: Store = replace(store, make_id=mail.store.make_id)
        other = replace(mail, store=fresh)
        [entry] = await other.pool.list(tenant)
        assert (entry.agent_type, entry.status) == ("SendEmailAgent", AgentStatus.WAITING_FOR_INPUT)
        assert (entry.fields, entry.asked, entry.question) == ({"subject": "Hi"}, ("recipient",), ASKED)
        mail.model.add(text("Sent."))
        assert await other.say("ann@x.org") == ["Sent."]
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "Hi")]
    assert other.last.tool_results == {"call_1_0": "Sent to ann@x.org"}


async def test_an_agent_whose_fields_changed_is_dropped_with_one_sentence(mail: Talk) -> None:
    tenant = await ask(mail)

    @valet(name="SendEmailAgent")
    class Changed(SendEmailAgent):
        """Send an email."""

        cc = InputField("Who gets a copy?")

    mail.agents = [Changed]
    mail.model.add(text("What shall I do with that address?"))
    [reply] = await mail.say("ann@x.org")
    first, _, rest = reply.partition("\n\n")
    assert first == (
        "I had to set something aside that was waiting for you, because it has changed since"
        " (“Who should receive it?”)."
    )
    assert rest == "What shall I do with that address?"
    assert not SENT
    assert await mail.pool.list(tenant) == []
    assert await mail.states() == [("done", "stale"), ("done", "")]


async def test_an_agent_that_changed_while_it_was_paused_does_not_go_on(mail: Talk) -> None:
    tenant = await ask(mail)
    [entry] = await mail.pool.list(tenant)
    await mail.pool.pause(tenant, entry.agent_id)

    @valet(name="SendEmailAgent")
    class Changed(SendEmailAgent):
        """Send an email."""

        cc = InputField("Who gets a copy?", required=False)

    mail.agents = [Changed]
    await mail.pool.resume(tenant, entry.agent_id)
    mail.model.add(text("I could not go on with the mail."))
    assert await mail.work() == ["I could not go on with the mail."]
    assert "it has changed since it was begun" in mail.last.tool_results["call_1_0"]
    assert (await mail.pool.list(tenant), SENT) == ([], [])


async def test_one_of_two_that_is_done_leaves_the_pool_before_the_other(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"subject": "A"}), ("SendEmailAgent", {"subject": "B"})))
    await mail.say("two mails")
    tenant = await mail.store.db.person()
    mail.model.add(calls((ANSWER, {"task": 2, "fields": {"recipient": "bo@x.org"}})))
    assert await mail.say("bo@x.org") == ["Sent to bo@x.org"]
    assert [(entry.fields["subject"], entry.question) for entry in await mail.pool.list(tenant)] == [("A", ASKED)]


async def test_the_oldest_waiting_agent_over_the_limit_is_dropped_and_reported(mail: Talk) -> None:
    mail.limits = PoolLimits(max_waiting=2)
    await ask(mail, BOB)
    tenant = await ask(mail)
    mail.model.add(calls(("SendEmailAgent", {"subject": "Second"})))
    await mail.say("another mail?")
    mail.model.add(calls(("SendEmailAgent", {"subject": "Third"})))
    [reply] = await mail.say("and another mail?")
    assert reply.startswith(f"{ASKED}\n\nToo much is waiting for you, so I have dropped the oldest")
    assert [entry.fields["subject"] for entry in await mail.pool.list(tenant)] == ["Second", "Third"]
    assert (await mail.states())[1] == ("done", "dropped")
    assert await mail.store.one("select count(*) from pool_entries where tenant_id <> $1", tenant) == 1


async def test_many_agents_may_run_at_once_only_those_that_wait_count(mail: Talk) -> None:
    mail.limits = PoolLimits(max_waiting=1)
    many: list[tuple[str, JsonObject | str]] = [
        ("SendEmailAgent", {"recipient": f"{number}@x.org"}) for number in range(20)
    ]
    mail.model.add(calls(*many), text("All sent."))
    assert await mail.say("twenty mails") == ["All sent."]
    assert len(SENT) == 20


async def test_what_waits_too_long_ends_and_the_turn_goes_on_and_says_so(mail: Talk) -> None:
    tenant = await ask(mail)
    [entry] = await mail.pool.list(tenant)
    assert entry.expires_at == mail.clock.now() + timedelta(hours=24)
    mail.clock.move(timedelta(hours=23))
    assert await mail.pool.expire(mail.clock.now()) == 0
    mail.clock.move(timedelta(hours=2))
    assert await mail.pool.expire(mail.clock.now()) == 1
    assert await mail.pool.expire(mail.clock.now()) == 0
    mail.model.add(text("You did not answer, so I let the mail go."))
    assert await mail.work() == ["You did not answer, so I let the mail go."]
    assert "no answer came in time" in mail.last.tool_results["call_1_0"]
    assert await mail.pool.list(tenant) == []


async def test_an_answer_after_the_time_is_up_does_not_start_it(mail: Talk) -> None:
    await ask(mail)
    mail.clock.move(timedelta(hours=25))
    mail.model.add(text("An address?"), text("It took too long."))
    assert await mail.say("ann@x.org") == ["An address?", "It took too long."]
    assert not SENT


async def test_an_agent_may_set_its_own_time(mail: Talk) -> None:
    @valet(name="Quick", ttl=timedelta(minutes=5))
    class Quick(SendEmailAgent):
        """Send at once."""

    mail.agents = [Quick]
    mail.model.add(calls(("Quick", {})))
    await mail.say("quick")
    tenant = await mail.store.db.person()
    [entry] = await mail.pool.list(tenant)
    assert entry.expires_at == mail.clock.now() + timedelta(minutes=5)


async def test_a_paused_agent_takes_no_answer_and_asks_again_when_it_is_resumed(mail: Talk) -> None:
    tenant = await ask(mail)
    [entry] = await mail.pool.list(tenant)
    assert await mail.pool.pause(tenant, entry.agent_id)
    assert not await mail.pool.pause(tenant, entry.agent_id)
    mail.model.add(text("Whose address is that?"))
    assert await mail.say("ann@x.org") == ["Whose address is that?"]
    assert ANSWER not in mail.last.tools
    assert await mail.pool.resume(tenant, entry.agent_id)
    assert await mail.work() == [ASKED]
    mail.model.add(text("Sent."))
    assert await mail.say("ann@x.org") == ["Sent."]


async def test_words_pause_resume_and_drop_what_waits(mail: Talk) -> None:
    tenant = await ask(mail)
    mail.model.add(calls((HOLD, {"change": "pause"})))
    assert await mail.say("let that wait for now") == [f"Paused: “{ASKED}”. Tell me when to go on."]
    assert [entry.status for entry in await mail.pool.list(tenant)] == [AgentStatus.PAUSED]
    mail.model.add(text("Rain."))
    assert await mail.say("weather?") == ["Rain."], "nobody is reminded of what is paused"
    assert WAIT not in mail.last.context, "nothing is said to wait"
    mail.model.add(calls((ANSWER, {"words": "rain"})), text("Rain."))
    assert await mail.say("weather, again?") == ["Rain."], "there is nothing to answer"
    assert "Nothing waits for an answer" in str(mail.last.messages[-1]["content"])
    mail.model.add(calls((HOLD, {"change": "resume", "task": 1})))
    assert await mail.say("go on with the mail") == [ASKED]
    mail.model.add(calls((HOLD, {"change": "drop"})))
    mail.model.add(text("Dropped."))
    assert await mail.say("drop it") == ["Dropped."]
    assert (await mail.pool.list(tenant), SENT) == ([], [])


async def test_what_waits_already_cannot_be_resumed_and_the_model_is_told(mail: Talk) -> None:
    tenant = await ask(mail)
    mail.model.add(calls((HOLD, {"change": "resume"})), text("It waits already."))
    assert (await mail.say("go on with it"))[0] == "It waits already."
    assert "resume for what is paused" in str(mail.last.messages[-1]["content"])
    assert [entry.status for entry in await mail.pool.list(tenant)] == [AgentStatus.WAITING_FOR_INPUT]


async def test_cancelling_comes_back_to_the_model_and_nothing_runs(mail: Talk) -> None:
    tenant = await ask(mail)
    [entry] = await mail.pool.list(tenant)
    assert await mail.pool.cancel(tenant, entry.agent_id)
    assert not await mail.pool.cancel(tenant, entry.agent_id)
    mail.model.add(text("Cancelled."))
    assert await mail.work() == ["Cancelled."]
    assert mail.last.tool_results == {"call_1_0": "User cancelled this action."}
    assert not SENT


async def test_promise_11_nobody_reaches_anothers_agents(mail: Talk) -> None:
    tenant = await ask(mail)
    [entry] = await mail.pool.list(tenant)
    mail.model.add(text("Hello."))
    await mail.say("hello", BOB)
    other = await mail.store.db.person(BOB)
    assert await mail.pool.list(other) == []
    for change in (mail.pool.pause, mail.pool.resume, mail.pool.cancel):
        assert not await change(other, entry.agent_id)
    assert len(await mail.pool.list(tenant)) == 1


async def test_a_fresh_start_leaves_no_question_open(mail: Talk) -> None:
    tenant = await ask(mail)
    await mail.store.db.conversations.change({"channel": "telegram"})
    # The word NEW would be an answer on SMS; the same command elsewhere starts afresh.
    await mail.store.admin.execute(
        "insert into inbound (tenant_id, id, conversation_id, seq, text, command)"
        ' select tenant_id, \'m\', id, in_seq + 1, \'/new\', \'{"name": "new", "argument": ""}\' from conversations'
    )
    await mail.store.admin.execute("update lanes set pending = true, pending_since = clock_timestamp()")
    assert await mail.work() == ["A fresh start. What can I do for you?"]
    assert await mail.pool.list(tenant) == []
    assert (await mail.states())[0] == ("done", "new session")


async def test_while_a_turn_waits_the_lane_is_free_and_no_lease_is_held(mail: Talk) -> None:
    await ask(mail)
    assert await mail.store.db.lanes.column("owner") == [None]
    assert await mail.store.db.lanes.column("pending") == [False]
    assert await mail.states() == [("waiting", "")]


async def test_an_agent_asks_by_itself_keeps_its_state_and_gets_the_answer(mail: Talk) -> None:
    heard: list[object] = []

    @valet(name="Booker")
    class Booker(StandardAgent):
        """Book a table."""

        async def on_running(self, msg: str) -> AgentResult:
            heard.append(("running", msg))
            self.state = {"offers": ["7 pm", "9 pm"]}
            return self.make_result("WAITING_FOR_INPUT", "At 7 or at 9?")  # type: ignore[arg-type]

        async def on_waiting_for_input(self, msg: str) -> AgentResult:
            heard.append((self.state["offers"], msg))
            return self.make_result(raw_message=f"Booked: {msg}")

    mail.agents = [Booker]
    mail.model.add(calls(("Booker", {"task_instruction": "for two"})))
    assert await mail.say("a table for two") == ["At 7 or at 9?"]
    mail.model.add(calls((ANSWER, {"words": "at 9"})), text("Your table is booked."))
    assert await mail.say("the later one") == ["Your table is booked."]
    assert heard == [("running", "for two"), (["7 pm", "9 pm"], "at 9")]
    assert mail.last.tool_results["call_1_0"] == "Booked: at 9"


async def test_an_agent_inside_an_agent_asks_and_both_go_on_where_they_were(mail: Talk) -> None:
    @valet(name="Assistant")
    class Assistant(StandardAgent):
        """Work with others."""

        tools = (SendEmailAgent,)

    mail.agents = [Assistant]
    mail.model.add(calls(("Assistant", {"task_instruction": "mail"})), calls(("SendEmailAgent", {"subject": "Hi"})))
    assert await mail.say("get a mail out") == [ASKED]
    assert await mail.states() == [("waiting", "")]
    mail.model.add(text("The mail is out."), text("All done."))
    assert await mail.say("ann@x.org") == ["All done."]
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "Hi")]
    assert len(mail.model.calls) == 4
    assert mail.model.calls[2].tool_results == {"call_2_0": "Sent to ann@x.org"}
    assert mail.last.tool_results == {"call_1_0": "The mail is out."}


async def test_promise_9_a_run_that_nobody_spoke_in_answers_nothing(mail: Talk) -> None:
    tenant = await ask(mail)
    entries = tuple(await mail.pool.list(tenant))
    request = TurnRequest(
        TurnWork("triggered", MemoryJournal()),
        TurnTenant(tenant),
        Place("sms", conversation_id=entries[0].conversation_id),
        FromPerson(),
        Kept(pool=entries),
    )
    mail.model.add(text("The daily news."))
    result = await mail.orchestrator.handle_message(request)
    assert (result.reply, result.pool) == ("The daily news.", ())
    assert ANSWER not in mail.last.tools


async def test_upkeep_ends_what_has_waited_too_long(mail: Talk) -> None:
    tenant = await ask(mail)
    await expire_agents(mail.pool, mail.clock)
    assert len(await mail.pool.list(tenant)) == 1
    mail.clock.move(timedelta(hours=25))
    await expire_agents(mail.pool, mail.clock)
    assert await mail.pool.list(tenant) == []
    assert mail.store.wakeups.turns[-1] == await mail.store.db.lanes.one("id")


async def test_an_operator_lists_pauses_resumes_and_drops_an_agent(
    mail: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = await ask(mail)
    settings = Settings(_env_file=None, database_url=SecretStr(mail.store.url))

    async def listed() -> str:
        await print_agents(settings, "", as_json=False)
        return capsys.readouterr().out

    [entry] = await mail.pool.list(tenant)
    assert f"{entry.agent_id}  {tenant}  SendEmailAgent  WAITING_FOR_INPUT  until " in await listed()
    await change_agent(settings, "pause", entry.agent_id[:8], tenant)
    assert capsys.readouterr().out == f"Paused SendEmailAgent of {tenant}.\n"
    assert "  PAUSED  " in await listed()
    await change_agent(settings, "resume", entry.agent_id, tenant)
    assert capsys.readouterr().out == f"Resumed SendEmailAgent of {tenant}.\n"
    assert ASKED in (await mail.work())[0], "it asks again"
    mail.model.add(text("I left the mail."))
    capsys.readouterr()  # the log of the turn
    await change_agent(settings, "cancel", entry.agent_id, "")
    assert capsys.readouterr().out == f"Dropped SendEmailAgent of {tenant}.\n"
    assert await mail.work() == ["I left the mail."]
    assert (await listed()).endswith("No agent waits for anybody.\n")
    assert SENT == []
