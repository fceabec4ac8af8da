"""The mail server of `dev`: the email agent hands in what it sends, and it stands in the journal."""

from core.json_types import JsonObject
from tests.abilities.mail.test_email import agent
from workbench.simulator.app import Simulator


async def test_mail_is_taken_and_stands_in_state_and_journal(simulator: Simulator) -> None:
    account: JsonObject = {
        "host": "127.0.0.1",
        "port": simulator.mail.port,
        "tls": "none",
        "from": "Ada <ada@example.com>",
    }
    await agent(account, cc=["bo@example.com"]).on_running("")
    [call] = simulator.wire.journal.calls(provider="mail")
    kept = call.request
    assert isinstance(kept, dict)
    assert (call.endpoint, call.status, simulator.mail.state()) == ("mail.send", 250, [kept])
    assert str(kept.pop("id")).endswith("@example.com>")
    assert kept == {
        "from": "ada@example.com",
        "to": ["sam@example.com", "bo@example.com"],
        "subject": "Lunch?",
        "text": "At noon,\n.\nor later: ¿qué tal?\n",
    }
