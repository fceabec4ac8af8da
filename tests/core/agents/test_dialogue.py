"""Collecting fields over turns: what is asked, what is taken, and how the turn that waited goes on."""

from collections.abc import Iterator

import pytest

from core.agents.pending_answers import ANSWER, HOLD
from core.json_types import JsonObject
from core.tools.tool import tool
from onevalet import AgentResult, AgentStatus, InputField, StandardAgent, valet
from tests.core.agents.harness import ANN, BOB, Talk
from tests.core.agents.mail import SENT, SendEmailAgent
from tests.scripted_model import calls, error, text

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_sent() -> Iterator[None]:
    SENT.clear()
    yield
    SENT.clear()


@pytest.fixture
def mail(talk: Talk) -> Talk:
    talk.agents = [SendEmailAgent]
    return talk


def recipients() -> list[str]:
    return [recipient for _, recipient, _ in SENT]


async def test_all_extracted_and_valid_runs_at_once_and_the_loop_goes_on(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"recipient": "ann@x.org", "subject": "Hi"})), text("It is sent."))
    assert await mail.say("mail ann") == ["It is sent."]
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "Hi")]
    assert list(mail.last.tool_results.values()) == ["Sent to ann@x.org"]


async def test_search_then_send_sends(mail: Talk) -> None:
    @tool(effect="read")
    async def search(name: str) -> str:
        """Search the address book."""
        return f"{name}@x.org"

    mail.tools = [search]
    mail.model.add(
        calls(("search", {"name": "ann"})), calls(("SendEmailAgent", {"recipient": "ann@x.org"})), text("Sent.")
    )
    assert await mail.say("find ann and mail her") == ["Sent."]
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "(none)")]


async def test_a_missing_field_is_asked_and_the_answer_taken_without_the_model(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"subject": "Hi"})))
    assert await mail.say("send a mail") == ["Who should receive it?"]
    assert len(mail.model.calls) == 1
    call_id = "call_1_0"
    mail.model.add(text("Done, it is out."))
    assert await mail.say(" ann@x.org ") == ["Done, it is out."]
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "Hi")]
    assert len(mail.model.calls) == 2
    assert mail.last.tool_results == {call_id: "Sent to ann@x.org"}
    assert [message["role"] for message in mail.last.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
        "tool",
    ]
    [first] = await mail.store.column("select id from turns order by started_at limit 1")
    assert await mail.states() == [("done", ""), ("done", f"answer to {first}")]
    assert await mail.store.db.pool_entries.count() == 0


async def test_history_holds_no_unanswered_call_and_later_turns_see_the_dialogue(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})))
    await mail.say("send a mail")
    mail.model.add(text("It is noon."))
    replies = await mail.say("what time is it?")
    assert replies == ["It is noon.\n\nBy the way, I still need to know: Who should receive it?"]
    assert [message["role"] for message in mail.last.messages] == ["system", "user", "assistant", "user", "user"]
    assert "Who should receive it?" in mail.last.context
    assert mail.last.tools == ["SendEmailAgent", ANSWER, HOLD]


async def test_something_else_in_between_is_answered_and_reminded_of_once(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})), text("Noon."), text("Sunny."), text("Sent."))
    await mail.say("send a mail")
    assert "still need" in (await mail.say("what time is it?"))[0]
    assert await mail.say("and the weather?") == ["Sunny."]
    assert await mail.say("ann@x.org") == ["Sent."]
    assert recipients() == ["ann@x.org"]


async def test_an_invalid_extracted_value_is_asked_for_with_its_error(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"recipient": "ann"})))
    [asked] = await mail.say("mail ann")
    assert asked == "The recipient cannot be used: that is no address. Who should receive it?"
    mail.model.add(text("Sent."))
    assert await mail.say("ann@x.org") == ["Sent."]


async def test_an_answer_within_other_words_is_extracted_by_one_model_call(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"subject": "Hi"})))
    await mail.say("send a mail")
    answer: JsonObject = {"fields": {"recipient": "bo@x.org", "subject": "Ho"}}
    mail.model.add(calls((ANSWER, answer)), text("Sent to Bo."))
    assert await mail.say("to bo@x.org, and make the subject Ho") == ["Sent to Bo."]
    assert [mail[1:] for mail in SENT] == [("bo@x.org", "Ho")]
    assert len(mail.model.calls) == 3
    assert mail.last.tool_results["call_1_0"] == "Sent to bo@x.org"


async def test_an_earlier_value_is_corrected_and_what_is_missing_asked_again(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {"subject": "Hi"})), calls((ANSWER, {"fields": {"subject": "Ho"}})))
    await mail.say("send a mail")
    assert await mail.say("no wait, the subject is Ho") == ["Who should receive it?"]
    mail.model.add(text("Sent."))
    await mail.say("ann@x.org")
    assert [mail[1:] for mail in SENT] == [("ann@x.org", "Ho")]


async def test_an_invalid_answer_goes_back_to_the_model_and_the_agent_waits(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})))
    await mail.say("send a mail")
    mail.model.add(calls((ANSWER, {"fields": {"recipient": "bo"}})), text("Bo's address, please?"))
    assert await mail.say("it goes to bo") == ["Bo's address, please?"]
    assert "that is no address" in mail.last.tool_results["call_2_0"]
    mail.model.add(text("Sent."))
    assert await mail.say("bo@x.org") == ["Sent."]


async def test_dropping_it_comes_back_to_the_model_as_the_calls_result(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})), calls((ANSWER, {"drop": True})), text("Dropped it."))
    await mail.say("send a mail")
    assert await mail.say("never mind") == ["Dropped it."]
    assert mail.last.tool_results["call_1_0"] == "User cancelled this action."
    assert not SENT
    mail.model.add(text("Hello."))
    assert await mail.say("ann@x.org") == ["Hello."]


async def test_an_answer_and_a_wish_at_once_are_both_dealt_with(mail: Talk) -> None:
    @tool(effect="read")
    async def weather() -> str:
        """Tell the weather."""
        return "Sunny"

    mail.tools = [weather]
    mail.model.add(calls(("SendEmailAgent", {})))
    await mail.say("send a mail")
    mail.model.add(
        calls((ANSWER, {"fields": {"recipient": "bo@x.org"}}), ("weather", {})), text("It is sunny."), text("Sent.")
    )
    assert await mail.say("bo@x.org please, and how is the weather?") == ["It is sunny.", "Sent."]
    assert recipients() == ["bo@x.org"]


async def test_promise_9_messages_of_other_conversations_or_people_do_not_answer(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})))
    await mail.say("send a mail", ANN)
    mail.model.add(text("Hello Bob."))
    assert await mail.say("bob@x.org", BOB) == ["Hello Bob."]
    assert ANSWER not in mail.last.tools
    assert not SENT


async def test_with_a_persona_the_question_is_said_in_its_voice(mail: Talk) -> None:
    mail.persona = "You are Koi."
    mail.model.add(calls(("SendEmailAgent", {})), text("Hey, who's it for?"), text("Out it goes."))
    assert await mail.say("send a mail") == ["Hey, who's it for?"]
    assert "Who should receive it?" in mail.last.last_user
    assert "You are Koi." in mail.last.system
    assert await mail.say("ann@x.org") == ["Out it goes."]


async def test_promise_14_with_the_model_away_the_question_is_asked_as_it_stands(mail: Talk) -> None:
    mail.persona = "You are Koi."
    mail.model.add(calls(("SendEmailAgent", {})), *[error(400) for _ in range(3)])
    assert await mail.say("send a mail") == ["Who should receive it?"]


async def test_two_waiting_agents_are_answered_apart_and_the_loop_then_continues(mail: Talk) -> None:
    two: tuple[tuple[str, JsonObject], ...] = (
        ("SendEmailAgent", {"subject": "A"}),
        ("SendEmailAgent", {"subject": "B"}),
    )
    mail.model.add(calls(*two))
    assert await mail.say("two mails") == ["Who should receive it?\nWho should receive it?"]
    mail.model.add(calls((ANSWER, {"task": 2, "fields": {"recipient": "bo@x.org"}})))
    assert await mail.say("bo@x.org") == ["Sent to bo@x.org"]
    assert [mail[1:] for mail in SENT] == [("bo@x.org", "B")]
    mail.model.add(text("Both are out."))
    assert await mail.say("ann@x.org") == ["Both are out."]
    assert mail.last.tool_results["call_1_0"] == "Sent to ann@x.org"
    assert mail.last.tool_results["call_1_1"] == "Sent to bo@x.org"
    assert recipients() == ["bo@x.org", "ann@x.org"]


async def test_new_answers_a_waiting_question_on_sms_and_starts_afresh_elsewhere(mail: Talk) -> None:
    mail.model.add(calls(("SendEmailAgent", {})))
    await mail.say("send a mail")
    mail.model.add(text("An address, please."))
    assert "An address, please." in (await mail.say("NEW", command="new"))[0]


async def test_a_new_request_in_between_keeps_what_was_collected_and_says_so(talk: Talk) -> None:
    @valet(name="PostAgent")
    class PostAgent(StandardAgent):
        """Post a parcel."""

        town = InputField("To which town?")
        what = InputField("What is in it?")

        async def on_running(self, msg: str) -> AgentResult:
            return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"{self.what} to {self.town}")

    talk.agents = [PostAgent]
    talk.model.add(calls(("PostAgent", {"what": "Books"})))
    assert await talk.say("post the books") == ["To which town?"]
    talk.model.add(text("I shall."))
    said = await talk.say("Erinnere mich morgen um 9 an den Tee")
    assert said == ["I shall.\n\nBy the way, I still need to know: To which town?"]
    talk.model.add(text("It is posted."))
    assert await talk.say("Graz") == ["It is posted."]
    assert list(talk.last.tool_results.values()) == ["Books to Graz"]
