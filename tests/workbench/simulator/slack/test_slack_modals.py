"""Modals: triggers, rules, submissions and every response_action."""

import json
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.workbench.simulator.slack.conftest import ADA_DM, Team, buttons, modal, section
from workbench.simulator.base import BadAction


async def _trigger(client: AsyncWebClient, team: Team) -> str:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("edit")])
    await team.act("press", ts=posted["ts"], action_id="edit")
    return str(_last(team)["trigger_id"])


def _last(team: Team) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(team.gateway.heard[-1].form["payload"])
    return payload


async def _opened(client: AsyncWebClient, team: Team, **changes: Any) -> dict[str, Any]:
    opened = await client.views_open(trigger_id=await _trigger(client, team), view=modal(**changes))
    view: dict[str, Any] = opened["view"]
    return view


def _answer(team: Team, body: dict[str, Any]) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(body)

    team.gateway.respond = answer


async def test_a_modal_is_opened_filled_in_and_closed_by_an_empty_answer(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team, private_metadata="card 7K")
    (shown,) = team.person()["modals"]
    assert (shown["id"], shown["root_view_id"]) == (view["id"], view["id"])
    result = await team.act("submit", view_id=view["id"], values={"when": "3pm"})
    assert result == {"ok": True, "outcome": "closed"}
    payload = _last(team)
    assert (payload["type"], payload["view"]["private_metadata"]) == ("view_submission", "card 7K")
    assert payload["view"]["hash"] == view["hash"]
    assert payload["view"]["state"]["values"] == {"time": {"when": {"type": "plain_text_input", "value": "3pm"}}}
    assert team.person()["modals"] == []


async def test_initial_values_count_as_entered_and_needed_fields_are_needed(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team)
    with pytest.raises(BadAction, match="required"):
        await team.act("submit", view_id=view["id"], values={"when": ""})
    with pytest.raises(BadAction, match="no field"):
        await team.act("submit", view_id=view["id"], values={"where": "here"})
    await team.act("submit", view_id=view["id"])
    assert _last(team)["view"]["state"]["values"]["time"]["when"]["value"] == "2pm"


async def test_errors_are_shown_beneath_their_fields_and_the_modal_stays(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team)
    _answer(team, {"response_action": "errors", "errors": {"time": "Not a time"}})
    await team.act("submit", view_id=view["id"], values={"when": "soon"})
    assert team.person()["modals"][0]["errors"] == {"time": "Not a time"}
    _answer(team, {"response_action": "errors", "errors": {"nowhere": "x"}})
    refused = await team.act("submit", view_id=view["id"])
    assert (refused["ok"], refused["error"]) == (False, "invalid_response_errors")
    assert [delivery["kind"] for delivery in team.person()["failed"]] == ["view_submission"]


async def test_an_answer_may_update_push_and_clear(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team)
    asked = modal(blocks=[section("Sure?")], title={"type": "plain_text", "text": "Sure?"})
    _answer(team, {"response_action": "update", "view": asked})
    assert (await team.act("submit", view_id=view["id"]))["outcome"] == "updated"
    assert team.person()["modals"][0]["title"]["text"] == "Sure?"
    _answer(team, {"response_action": "push", "view": asked})
    assert (await team.act("submit", view_id=view["id"]))["outcome"] == "pushed"
    top = team.person()["modals"][1]
    assert (top["previous_view_id"], top["root_view_id"]) == (view["id"], view["id"])
    _answer(team, {"response_action": "push", "view": modal(title={"type": "plain_text", "text": "x" * 25})})
    assert (await team.act("submit", view_id=top["id"]))["error"] == "invalid_arguments"
    _answer(team, {"response_action": "clear"})
    assert (await team.act("submit", view_id=top["id"]))["outcome"] == "cleared"
    assert team.person()["modals"] == []


async def test_a_failed_submission_leaves_the_modal_open(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team)

    async def fail(_: web.Request) -> web.StreamResponse:
        return web.Response(status=500)

    team.gateway.respond = fail
    assert await team.act("submit", view_id=view["id"]) == {"ok": False, "error": "http_error_500"}
    assert len(team.person()["modals"]) == 1


async def test_closing_is_told_only_where_asked_for(client: AsyncWebClient, team: Team) -> None:
    quiet = await _opened(client, team)
    before = len(team.gateway.heard)
    await team.act("close", view_id=quiet["id"])
    assert len(team.gateway.heard) == before
    loud = await _opened(client, team, notify_on_close=True)
    await team.act("close", view_id=loud["id"])
    assert (_last(team)["type"], _last(team)["view"]["id"]) == ("view_closed", loud["id"])
    with pytest.raises(BadAction):
        await team.act("submit", view_id=loud["id"])


async def test_a_trigger_works_once_and_for_three_seconds(client: AsyncWebClient, team: Team) -> None:
    trigger = await _trigger(client, team)
    await client.views_open(trigger_id=trigger, view=modal())
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await client.views_open(trigger_id=trigger, view=modal())
    late = await _trigger(client, team)
    team.clock.offset += 3.1
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await client.views_open(trigger_id=late, view=modal())


async def test_a_view_is_updated_by_id_under_its_hash(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team, external_id="card-7K")
    fresh = await client.views_update(view_id=view["id"], hash=view["hash"], view=modal(external_id="card-7K"))
    assert fresh["view"]["hash"] != view["hash"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_update(view_id=view["id"], hash=view["hash"], view=modal())
    await client.views_update(external_id="card-7K", view=modal())


async def test_three_views_fit_on_a_stack(client: AsyncWebClient, team: Team) -> None:
    view = await _opened(client, team, blocks=[buttons("more")])
    for _ in range(2):
        await team.act("press", view_id=view["id"], action_id="more")
        await client.views_push(trigger_id=_last(team)["trigger_id"], view=modal(blocks=[buttons("more")]))
    await team.act("press", view_id=view["id"], action_id="more")
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await client.views_push(trigger_id=_last(team)["trigger_id"], view=modal())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": {"type": "plain_text", "text": "x" * 25}}, "less than 25 characters"),
        ({"title": {"type": "mrkdwn", "text": "x"}}, "valid enum value"),
        ({"private_metadata": "x" * 3_001}, "less than 3001 characters"),
        ({"callback_id": "x" * 256}, "less than 256 characters"),
        ({"blocks": [section()] * 101}, "no more than 100 items"),
        ({"blocks": [{"type": "markdown", "text": "x"}]}, "unsupported type: markdown"),
        ({"submit": {"type": "plain_text", "text": "x" * 25}}, "less than 25 characters"),
        ({"color": "red"}, "invalid additional property: color"),
        ({"clear_on_close": "yes"}, "must be a boolean"),
        ({"type": "popup"}, "valid enum value"),
    ],
)
async def test_a_wrong_modal_is_refused_and_its_trigger_is_still_good(
    client: AsyncWebClient, team: Team, changes: dict[str, Any], problem: str
) -> None:
    trigger = await _trigger(client, team)
    with pytest.raises(SlackApiError) as refused:
        await client.views_open(trigger_id=trigger, view=modal(**changes))
    assert refused.value.response["error"] == "invalid_arguments"
    assert problem in refused.value.response["response_metadata"]["messages"][0]
    await client.views_open(trigger_id=trigger, view=modal())


async def test_a_modal_needs_submit_for_inputs_and_fits_250_kb(client: AsyncWebClient, team: Team) -> None:
    trigger = await _trigger(client, team)
    bare = modal()
    del bare["submit"]
    with pytest.raises(SlackApiError) as refused:
        await client.views_open(trigger_id=trigger, view=bare)
    assert "missing required field: submit" in refused.value.response["errors"][0]
    with pytest.raises(SlackApiError, match="view_too_large"):
        await client.views_open(trigger_id=trigger, view=modal(blocks=[section("x" * 3_000)] * 90))
