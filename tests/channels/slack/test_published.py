"""Every call that we make, held against Slack's published description and the SDK's own signatures.

The description is of 2021. NEWER lists what it lacks; that is checked against the SDK alone.
"""

import inspect
import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.manifest import SCOPES
from channels.slack.media import SlackMedia
from core.messaging.channels import Target
from core.messaging.messages import Action, Address, Form, FormField, Media, OutboundKind, OutboundMessage
from notify.slack.send import SlackNotification
from tests.channels.slack.team import ADA_DM, Team, running_team
from tests.eventually import eventually
from workbench.simulator.config import SlackConfig

NEWER_METHODS = {"assistant.threads.setStatus"}
NEWER_ARGUMENTS = {"metadata", "include_all_metadata"}
CALLED = {
    "assistant.threads.setStatus",
    "auth.test",
    "bots.info",
    "chat.postEphemeral",
    "chat.postMessage",
    "conversations.history",
    "conversations.list",
    "conversations.open",
    "conversations.replies",
    "files.info",
    "reactions.add",
    "reactions.remove",
    "views.open",
    "views.publish",
}


@pytest.fixture
async def calls() -> AsyncIterator[dict[str, set[str]]]:
    """The names of the arguments of every method that we call, made with the scopes of the manifest alone."""
    async with running_team() as team:
        await team.act("set", scopes=[*SCOPES])
        await _make_every_call(team)
        methods: dict[str, set[str]] = {}
        for entry in team.simulator.wire.journal.calls(provider="slack"):
            asked: Any = entry.request
            method = entry.endpoint.removeprefix("slack.")
            if entry.direction == "out" and method in CALLED:
                answer: Any = entry.answer
                assert answer["body"]["ok"], (method, answer)
                query = asked["url"].partition("?")[2]
                named = {pair.partition("=")[0] for pair in query.split("&") if pair}
                methods.setdefault(method, set()).update(
                    named, asked["body"] if isinstance(asked["body"], dict) else ()
                )
        yield methods


async def _make_every_call(team: Team) -> None:
    sender = SlackNotification(bot_token=SlackConfig().bot_token, api_url=team.simulator.slack_url)
    root = (await team.act("say", text="hello"))["ts"]
    await team.act("open_home")
    await eventually(lambda: team.person()["home"] is not None)
    await team.act("command", "grace", text="/valet help")
    begun = datetime.now(UTC) - timedelta(hours=1)
    for thread in ("", root):
        target = Target(Address("slack", team.channel.account, ADA_DM, thread), f"part_{thread}")
        await sender.show_working(target.address)
        sender.mark(target.address, root)
        sender.unmark(target.address, root)
        (part,) = sender.render(OutboundMessage("out_1", OutboundKind.CARD, "Send it?", (Action("Send", "tok"),)))
        assert await sender.send(part, target) == await sender.find(part, target, begun)
        team.sink.said, team.sink.form = "Soon.", Form("tok", "Edit", "Send it?", (FormField("to", "To", "Bob"),))
        await team.act("press", ts=team.person()["bubbles"][-1]["ts"], action_id="choice_0")
    await eventually(lambda: sum(bubble["ephemeral"] for bubble in team.person()["bubbles"]) == 2)
    await team.channel.catch_up(begun)
    await team.act("say", files=[{"name": "notes.txt", "content": "words", "connect": True}])
    await eventually(lambda: bool(_files_of(team)))
    media = SlackMedia(bot_token=SlackConfig().bot_token, api_url=team.simulator.slack_url)
    assert (await media.fetch(_files_of(team)[0], 1000)).body == b"words"
    await media.close()
    await sender.close()


def _files_of(team: Team) -> list[Media]:
    return [file for inbound in team.sink.accepted for file in getattr(inbound, "media", ())]


async def test_the_list_of_methods_is_whole_and_the_manifests_scopes_are_enough(calls: dict[str, set[str]]) -> None:
    assert set(calls) == CALLED


async def test_every_argument_is_the_sdks(calls: dict[str, set[str]]) -> None:
    for method, arguments in calls.items():
        known = inspect.signature(getattr(AsyncWebClient, method.replace(".", "_"))).parameters
        assert arguments <= set(known), method


@pytest.mark.whole("it needs the providers' descriptions")
async def test_every_call_is_as_slack_publishes_it(calls: dict[str, set[str]]) -> None:
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' descriptions are elsewhere")
    paths = json.loads((Path(folder) / "slack-web.openapi2.json").read_text())["paths"]
    for method, arguments in calls.items():
        if method in NEWER_METHODS:
            assert f"/{method}" not in paths
            continue
        ((verb, operation),) = paths[f"/{method}"].items()
        described = {parameter["name"] for parameter in operation["parameters"]}
        needed = {parameter["name"] for parameter in operation["parameters"] if parameter.get("required")} - {"token"}
        assert arguments - described <= NEWER_ARGUMENTS, (method, verb)
        assert needed <= arguments, method
